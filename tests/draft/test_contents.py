from __future__ import annotations

import pytest

from hsd_docparse.document import Box, Line
from hsd_docparse.draft.contents import entries_of
from hsd_docparse.draft.layout import Block
from hsd_docparse.draft.structure import build_regions


def row(at: int, *pieces: tuple[str, float, float]) -> list[Line]:
    return [Line(text, Box(x0, 14 * at, x1, 14 * at + 11), size=10) for text, x0, x1 in pieces]


def contents(dots: str, pages: tuple[str, ...] = ("iv", "1", "9", "12")) -> list[Line]:
    titles = ["Preface", "1 Methods", "1.1 Counting", "2 Results"]
    rows = enumerate(zip(titles, pages, strict=True))
    return [
        line
        for at, (title, page) in rows
        for line in row(at, (title + dots, 50, 300), (page, 330, 340))
    ]


@pytest.mark.parametrize("dots", [" ........................", " .", ". . . . . . . "])
def test_leaders_become_three_dots(dots: str) -> None:
    texts = [entry.text for entry in entries_of(contents(dots))]
    assert texts == [
        "Preface ... iv",
        "1 Methods ... 1",
        "1.1 Counting ... 9",
        "2 Results ... 12",
    ]


def test_an_entry_whose_dots_were_not_seen_is_like_the_others() -> None:
    lines = [
        line
        for at in range(4)
        for line in row(at, ("One" + " .." * (at > 0), 50, 300), (f"{at + 1}", 330, 340))
    ]
    assert [entry.text for entry in entries_of(lines)] == [f"One ... {i + 1}" for i in range(4)]


def test_a_number_on_the_line_of_its_title_is_led_to_by_dots() -> None:
    lines = [line for at in range(3) for line in row(at, (f"Part {at} ........ {at + 7}", 50, 340))]
    assert [entry.text for entry in entries_of(lines)] == [
        f"Part {i} ... {i + 7}" for i in range(3)
    ]


def test_a_long_title_goes_on_in_the_next_row() -> None:
    lines = [
        *row(0, ("One .....", 50, 300), ("1", 330, 340)),
        *row(1, ("A title that is too long for", 50, 300)),
        *row(2, ("one row .....", 60, 300), ("3", 330, 340)),
        *row(3, ("Three .....", 50, 300), ("5", 330, 340)),
    ]
    texts = [entry.text for entry in entries_of(lines)]
    assert texts == ["One ... 1", "A title that is too long for one row ... 3", "Three ... 5"]


def test_numbers_that_fall_are_those_of_a_table() -> None:
    assert entries_of(contents(" .....", ("40", "12", "31", "7"))) == []


def test_prices_are_no_pages() -> None:
    assert entries_of(contents(" .....", ("1.20", "2.50", "3.00", "3.10"))) == []


def test_prose_is_no_table_of_contents() -> None:
    lines = [line for at in range(5) for line in row(at, ("words that end in 19", 50, 340))]
    assert entries_of(lines) == []


@pytest.mark.parametrize(
    ("kind", "dots", "found"),
    [("table", " .....", "list_item"), ("text", "", "list_item"), ("table", "", "text")],
)
def test_entries_are_items_of_a_list(kind: str, dots: str, found: str) -> None:
    lines = contents(dots)
    box = Box(50, 0, 340, 53)
    blocks = [Block(kind, box, [box])]  # type: ignore[arg-type]
    regions = build_regions(lines, blocks, 400, 600)
    assert {region.kind for region in regions} == {found}
