from __future__ import annotations

from hsd_docparse.document import Box, Line, Region
from hsd_docparse.draft.lists import complete_lists


def levels(*items: tuple[str, float], kind: str = "list_item", column: int = 99) -> list[int]:
    """Levels of items that begin at the given places, below each other; from item ``column`` on
    they stand in the next column."""
    regions = []
    for at, (text, x0) in enumerate(items):
        y0 = 12.0 * (at if at < column else at - column)
        line = Line(text, Box(x0, y0, x0 + 80, y0 + 10), size=10)
        regions.append(Region(kind, line.box, text, lines=[line]))  # type: ignore[arg-type]
    complete_lists(regions)
    return [region.level for region in regions]


def test_items_are_nested_as_they_are_indented() -> None:
    items = [("• a", 50), ("– b", 68), ("• c", 86), ("– d", 68), ("• e", 50), ("• f", 86)]
    assert levels(*items) == [1, 2, 3, 2, 1, 2]


def test_numbers_that_end_at_one_place_are_of_one_level() -> None:
    assert levels(("9. nine", 55), ("10. ten", 50), ("11. eleven", 50)) == [1, 1, 1]


def test_a_list_goes_on_in_the_next_column() -> None:
    items = [("1. a", 50), ("• b", 68), ("• c", 318), ("2. d", 300)]
    assert levels(*items, column=2) == [1, 2, 2, 1]


def test_right_to_left_items_are_indented_from_the_right() -> None:
    lines = [
        Line("• שלום", Box(x1 - width, y, x1, y + 10), size=10)
        for y, (x1, width) in enumerate([(300, 200), (280, 60), (300, 60)])
    ]
    regions = [Region("list_item", line.box, line.text, lines=[line]) for line in lines]
    complete_lists(regions)
    assert [region.level for region in regions] == [1, 2, 1]


def test_only_list_items_have_such_levels() -> None:
    assert levels(("1. Heading", 50), kind="heading") == [0]


def test_a_paragraph_with_a_marker_right_below_an_item_is_one() -> None:
    kinds = ["text", "list_item", "text", "text"]
    texts = ["i. one", "ii. two", "iii. three", "No more."]
    regions = [
        Region(kind, line.box, text, lines=[line])  # type: ignore[arg-type]
        for at, (kind, text) in enumerate(zip(kinds, texts, strict=True))
        for line in [Line(text, Box(50, 12 * at, 130, 12 * at + 10), size=10)]
    ]
    complete_lists(regions)
    assert [region.kind for region in regions] == ["list_item"] * 3 + ["text"]


def test_numbers_of_sections_nest_without_an_indent() -> None:
    assert levels(("1 a", 50), ("1.1 b", 50), ("1.1.1 c", 50), ("2 d", 50)) == [1, 2, 3, 1]
