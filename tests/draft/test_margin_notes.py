from __future__ import annotations

from hsd_docparse.document import Box, Line
from hsd_docparse.draft.layout import Block
from hsd_docparse.draft.margin_notes import margin_notes
from hsd_docparse.draft.structure import build_regions


def line(text: str, x0: float, x1: float, y0: float, size: float = 10) -> Line:
    return Line(text, Box(x0, y0, x1, y0 + 1.2 * size), size=size)


PROSE = [line(f"words of prose that fill line {i}", 100, 300, 100 + 12 * i) for i in range(8)]
OUTER = [line("A. D.", 310, 330, 112, 7), line("1570.", 310, 332, 121, 7)]
INNER = [line("On the", 60, 92, 112, 7), line("islands", 60, 90, 121, 7)]


def test_small_lines_beside_a_column_of_prose_are_notes() -> None:
    assert margin_notes([*PROSE, *OUTER, *INNER]) == [OUTER, INNER]


def test_a_note_in_the_block_of_a_paragraph_leaves_it_whole() -> None:
    lines = [*PROSE[:2], OUTER[0], PROSE[2], OUTER[1], *PROSE[3:]]
    block = Block("text", Box(100, 100, 332, 200), [Box(100, 100, 332, 200)])
    regions = build_regions(lines, [block], 400, 600)
    assert [(region.kind, region.text) for region in regions] == [
        ("footnote", "A. D. 1570."),
        ("text", " ".join(line.text for line in PROSE)),
    ]


def test_labels_as_large_as_the_text_are_no_notes() -> None:
    labels = [line("Islands", 60, 92, 112), line("Friars", 60, 90, 160)]
    assert margin_notes([*PROSE, *labels]) == []


def test_prices_and_line_numbers_are_no_notes() -> None:
    prices = [line("12.50", 310, 330, 112, 8), line("5", 90, 94, 160, 8)]
    assert margin_notes([*PROSE, *prices]) == []


def test_a_second_column_is_no_note() -> None:
    column = [line("small prose of the next column", 310, 460, 100 + 12 * i, 8) for i in range(8)]
    assert margin_notes([*PROSE, *column]) == []


def test_page_numbers_after_leaders_are_no_notes() -> None:
    contents = [line(f"Chapter {i} ........................", 100, 300, 12 * i) for i in range(9)]
    numbers = [line("p. iv", 310, 320, 12 * i, 8) for i in range(3)]
    assert margin_notes([*contents, *numbers]) == []
