from __future__ import annotations

import pytest

from hsd_docparse.document import Box, Line
from hsd_docparse.render.pdf.placing import Word, place_words


def line(text: str, y: float = 0, x: float = 0, width: float = 100) -> Line:
    return Line(text, Box(x, y, x + width, y + 10), source="ocr")


def place(texts: list[str], lines: list[Line], *, ordered: bool = True) -> list[Word]:
    return place_words(texts, lines, ordered=ordered)


def test_the_words_of_a_line_fill_it() -> None:
    words = place(["one three"], [line("one three")])
    assert [word.text for word in words] == ["one", "three"]
    one, three = (word.box for word in words)
    assert one.x0 == 0
    assert three.x1 == pytest.approx(100)
    assert three.x0 == pytest.approx(one.x1 + words[0].gap)
    assert one.width < three.width


def test_a_corrected_word_stands_where_the_wrong_one_was() -> None:
    read = [line("the c1ub hou5e"), line("is clased", 20)]
    words = place(["the club house is closed"], read)
    assert [(word.text, word.line) for word in words] == [
        ("the", 0), ("club", 0), ("house", 0), ("is", 1), ("closed", 1)
    ]  # fmt: skip


def test_a_word_that_was_hyphenated_stands_whole_in_one_line() -> None:
    words = place(["a committee met"], [line("a commit-"), line("tee met", 20)])
    assert [(word.text, word.line) for word in words] == [("a", 0), ("committee", 0), ("met", 1)]
    assert words[2].box.x0 > 35  # behind the syllable that belongs to the word above


def test_scripts_without_spaces_are_cut_where_the_line_ends() -> None:
    words = place(["港口委员会开会"], [line("港口委员"), line("会开会", 20)])
    assert [(word.text, word.line, word.gap > 0) for word in words] == [
        ("港口委员", 0, False),
        ("会开会", 1, True),
    ]


def test_cells_find_their_lines_in_any_order() -> None:
    lines = [line("North", 0), line("12", 0, 200), line("pier", 12), line("7", 24, 200)]
    words = place(["North pier", "12", "", "7"], lines, ordered=False)
    where = {word.text: (word.span, word.box.x0, word.box.y0) for word in words}
    assert where == {"North": (0, 0, 0), "pier": (0, 0, 12), "12": (1, 200, 0), "7": (3, 200, 24)}


def test_right_to_left_lines_begin_at_the_right() -> None:
    first, second = place(["שלום עולם"], [line("שלום עולם")])
    assert (first.text, second.text) == ("שלום", "עולם")
    assert first.box.x1 == pytest.approx(100)
    assert second.box.x0 == pytest.approx(0)
    assert first.right_to_left


def test_tall_lines_run_down() -> None:
    column = Line("港口委员", Box(0, 0, 10, 80), source="ocr")
    (word,) = place(["港口委员"], [column])
    assert word.vertical
    assert (word.box.y0, word.box.y1) == (0, 80)


def test_short_numbers_in_high_boxes_do_not_run_down() -> None:
    (word,) = place(["12"], [Line("12", Box(0, 0, 7, 13), source="ocr")])
    assert not word.vertical
    assert (word.box.x0, word.box.x1) == (0, 7)


def test_words_that_nobody_read_stay_with_what_precedes_them() -> None:
    words = place(["one more two"], [line("one"), line("two", 20)])
    assert [word.text for word in words] == ["one", "more", "two"]
    assert place(["words"], []) == []
