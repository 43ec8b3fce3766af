from __future__ import annotations

from hsd_docparse.document import Box
from hsd_docparse.draft.reading_order import reading_order

TITLE = Box(10, 0, 190, 20)
LEFT = [Box(10, 30, 95, 60), Box(10, 65, 95, 100)]
RIGHT = [Box(105, 30, 190, 70), Box(105, 75, 190, 100)]


def test_columns_are_read_down_below_a_title_that_spans_them() -> None:
    boxes = [RIGHT[1], LEFT[0], TITLE, RIGHT[0], LEFT[1]]
    assert reading_order(boxes, 10) == [2, 1, 4, 3, 0]


def test_a_figure_across_the_page_ends_the_columns_above_it() -> None:
    figure = Box(10, 110, 190, 150)
    below = [Box(10, 160, 95, 190), Box(105, 160, 190, 190)]
    boxes = [*LEFT, *RIGHT, figure, *below]
    assert reading_order(boxes, 10) == list(range(7))


def test_a_gap_at_one_height_in_both_columns_does_not_cut_them() -> None:
    boxes = [Box(0, 0, 90, 40), Box(100, 0, 190, 40), Box(0, 50, 90, 90), Box(100, 50, 190, 90)]
    assert reading_order(boxes, 10) == [0, 2, 1, 3]


def test_columns_whose_boxes_touch_are_still_columns() -> None:
    boxes = [Box(0, 0, 101, 40), Box(100, 0, 190, 20), Box(0, 45, 101, 90), Box(100, 25, 190, 90)]
    assert reading_order(boxes, 10) == [0, 2, 1, 3]


def test_boxes_that_no_straight_cut_divides() -> None:
    pinwheel = [Box(0, 0, 60, 30), Box(70, 0, 100, 70), Box(0, 40, 30, 100), Box(40, 80, 100, 100)]
    pinwheel.append(Box(35, 25, 75, 85))
    assert reading_order(pinwheel, 1)[0] == 0
    assert sorted(reading_order(pinwheel, 1)) == [0, 1, 2, 3, 4]


def test_nothing_to_order() -> None:
    assert reading_order([], 0.0) == []


def test_a_title_is_not_torn_into_the_columns_below_it() -> None:
    """A short heading tops the left column and just meets the title's edge; what stands beside
    it tops the right column. Three columns can be seen down to there, and only two further on."""
    boxes = [
        Box(92, 70, 503, 108),  # title
        Box(217, 121, 378, 133),  # authors
        Box(51, 182, 94, 194),  # heading of the left column
        Box(51, 199, 288, 311),
        Box(308, 181, 544, 203),
        Box(308, 215, 544, 311),
    ]
    assert reading_order(boxes, 10) == [0, 1, 2, 3, 4, 5]


def test_a_centred_subtitle_is_no_column_beside_a_short_heading() -> None:
    subtitle, heading, right = Box(60, 0, 140, 10), Box(0, 30, 55, 40), Box(110, 30, 200, 40)
    boxes = [subtitle, heading, Box(0, 50, 95, 90), right, Box(110, 50, 200, 90)]
    assert reading_order(boxes, 10) == [0, 1, 2, 3, 4]


def test_authors_side_by_side_are_no_columns_with_the_headings_below_them() -> None:
    """The gap between the authors is none of the gutter's; left of it, a short heading ends where
    the first author begins."""
    boxes = [
        Box(141, 70, 469, 84),  # title
        Box(104, 112, 340, 125),  # two authors
        Box(430, 112, 513, 125),  # a third
        Box(54, 230, 89, 239),  # heading of the left column
        Box(54, 249, 293, 298),
        Box(54, 299, 293, 378),
        Box(317, 230, 481, 239),  # heading of the right one
        Box(317, 249, 556, 318),
        Box(317, 348, 556, 427),
    ]
    assert reading_order(boxes, 10) == list(range(9))


def test_number_and_words_of_a_heading_are_no_columns() -> None:
    """A masthead, a summary across the page, and a heading whose number
    stands apart, lower than the text beside it."""
    boxes = [
        Box(494, 84, 547, 98),  # number of the issue
        Box(62, 110, 183, 168),  # imprint
        Box(412, 121, 529, 147),  # name of the series
        Box(62, 194, 469, 268),  # title
        Box(77, 322, 534, 388),  # summary
        Box(73, 430, 81, 444),  # number of the heading
        Box(99, 430, 145, 444),  # its words
        Box(65, 477, 295, 527),
        Box(65, 534, 295, 641),
        Box(318, 422, 444, 434),  # end of a sentence
        Box(318, 441, 547, 529),
        Box(318, 536, 547, 642),
    ]
    assert reading_order(boxes, 11.5) == list(range(12))


def test_a_sender_at_the_right_comes_before_what_stands_side_by_side_below() -> None:
    boxes = [
        Box(368, 55, 539, 111),  # sender
        Box(57, 148, 133, 170),  # title
        Box(57, 195, 171, 261),  # receiver
        Box(364, 196, 539, 260),  # numbers and dates
        Box(61, 295, 535, 583),  # table
    ]
    assert reading_order(boxes, 10) == [0, 1, 2, 3, 4]
