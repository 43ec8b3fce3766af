from __future__ import annotations

from hsd_docparse.document import Box, Line
from hsd_docparse.draft.paragraphs import (
    group_loose,
    split_columns,
    split_items,
    split_paragraphs,
)


def line(text: str, x0: float, y0: float, x1: float) -> Line:
    return Line(text, Box(x0, y0, x1, y0 + 10), size=10)


def texts(groups: list[list[Line]]) -> list[str]:
    return [" ".join(line.text for line in group) for group in groups]


def test_an_indented_line_begins_a_paragraph() -> None:
    lines = [line("a", 0, 0, 200), line("b", 0, 12, 150), line("c", 15, 24, 200)]
    lines.append(line("d", 0, 36, 200))
    assert texts(split_paragraphs(lines)) == ["a b", "c d"]


def test_a_wide_gap_begins_a_paragraph() -> None:
    lines = [line("a", 0, 0, 200), line("b", 0, 12, 200), line("c", 0, 24, 200)]
    lines.append(line("d", 0, 50, 200))
    assert texts(split_paragraphs(lines)) == ["a b c", "d"]


def test_items_begin_at_their_markers() -> None:
    lines = [line("1. one", 0, 0, 80), line("goes on", 10, 12, 80), line("2) two", 0, 24, 80)]
    assert texts(split_items(lines)) == ["1. one goes on", "2) two"]


def test_two_columns_of_prose_are_cut_at_their_gutter() -> None:
    left = [line(f"l{i}", 0, 12 * i, 101) for i in range(4)]
    right = [line(f"r{i}", 99, 12 * i, 200) for i in range(4)]
    rows = [piece for pair in zip(left, right, strict=True) for piece in pair]
    assert texts(split_columns(rows)) == ["l0 l1 l2 l3", "r0 r1 r2 r3"]


def test_labels_and_values_are_not_columns_of_prose() -> None:
    rows = [line(text, x, 12 * i, x + 40) for i in range(4) for text, x in (("k", 0), ("v", 150))]
    assert len(split_columns(rows)) == 1


def test_loose_lines_join_what_stands_right_above() -> None:
    lines = [line("a", 0, 0, 90), line("x", 150, 0, 240), line("b", 0, 13, 90)]
    lines.append(line("far", 0, 60, 90))
    assert texts(group_loose(lines)) == ["a b", "x", "far"]
