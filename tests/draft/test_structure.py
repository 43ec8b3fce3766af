from __future__ import annotations

import re

import pytest

from hsd_docparse.confidence import of_lines
from hsd_docparse.document import Box, Line
from hsd_docparse.draft.layout import Block
from hsd_docparse.draft.structure import build_regions
from hsd_docparse.draft.tables import Cell


def line(text: str, y0: float, x0: float = 50, x1: float = 350, size: float = 10) -> Line:
    return Line(text, Box(x0, y0, x1, y0 + size), size=size)


def block(kind: str, *lines: Line) -> Block:
    box = lines[0].box
    for other in lines:
        box = box.union(other.box)
    return Block(kind, box, [line.box for line in lines])  # type: ignore[arg-type]


BODY = [line(f"some words of running text {i}", 200 + 12 * i) for i in range(5)]


@pytest.mark.parametrize(
    ("text", "size", "kind", "level"),
    [
        ("Overview", 12, "heading", 2),
        ("Overview", 10, "heading", 3),
        ("2.1 Method", 10, "heading", 3),
        ("4 Results", 12, "heading", 2),
        ("A paper on things", 18, "title", 1),
    ],
)
def test_levels_of_headings(text: str, size: float, kind: str, level: int) -> None:
    heading = line(text, 100, size=size)
    regions = build_regions(
        [heading, *BODY], [block("heading", heading), block("text", *BODY)], 400, 600
    )
    found = next(region for region in regions if region.text == text)
    assert (found.kind, found.level) == (kind, level)


def test_every_line_is_in_exactly_one_region() -> None:
    loose = line("nobody's line", 450)
    lines = [*BODY, loose]
    regions = build_regions(lines, [block("text", *BODY)], 400, 600)
    held = [line for region in regions for line in region.lines]
    assert sorted(map(id, held)) == sorted(map(id, lines))


def test_a_number_at_the_foot_is_a_page_number_and_one_in_the_text_is_not() -> None:
    foot, inner = line("- 12 -", 585, 190, 210), line("12", 300, 190, 210)
    kinds = {r.text: r.kind for r in build_regions([foot, inner, *BODY], [], 400, 600)}
    assert kinds["- 12 -"] == "page_number"
    assert kinds["12"] == "text"


def test_what_stands_far_from_the_margins_is_no_header() -> None:
    header = line("Some text", 300)
    (region,) = build_regions([header], [block("header", header)], 400, 600)
    assert region.kind == "text"


def test_a_formula_takes_the_number_on_its_row() -> None:
    formula, number = line("E = mc2 + hν", 300, 100, 200), line("(3.1)", 301, 330, 350)
    (region,) = build_regions([formula, number], [block("formula", formula)], 400, 600)
    assert region.kind == "formula"
    assert region.text == r"E = mc2 + hν \tag{3.1}"


def test_list_items_are_regions_of_their_own() -> None:
    items = [line("• first", 100), line("• second", 112)]
    regions = build_regions(items, [block("list_item", *items)], 400, 600)
    assert [(r.kind, r.text) for r in regions] == [
        ("list_item", "• first"),
        ("list_item", "• second"),
    ]


def test_code_keeps_its_lines_and_indents() -> None:
    rows = [("def f():", 50, 98), ("return 1", 74, 122)]
    lines = [
        Line(text, Box(x0, 100 + 12 * i, x1, 110 + 12 * i), size=10, mono=True)
        for i, (text, x0, x1) in enumerate(rows)
    ]
    (region,) = build_regions(lines, [block("text", *lines)], 400, 600)
    assert (region.kind, region.text) == ("code", "def f():\n    return 1")


def test_a_block_inside_another_of_its_kind_adds_nothing() -> None:
    outer, inner = block("text", *BODY), block("text", *BODY[1:3])
    assert len(build_regions(BODY, [inner, outer], 400, 600)) == 1


def test_regions_say_how_sure_their_words_are() -> None:
    read = Line("ab", Box(50, 300, 90, 310), [0.5, 1.0], "ocr", 10)
    (region,) = build_regions([read], [], 400, 600)
    assert region.confidence == of_lines([read]) < 1


def test_a_stamp_that_runs_up_the_margin_is_a_header() -> None:
    stamp = Line("Downloaded yesterday", Box(4, 100, 14, 300), size=10)
    kinds = {region.text: region.kind for region in build_regions([stamp, *BODY], [], 400, 600)}
    assert kinds[stamp.text] == "header"


def test_a_page_of_one_line_at_its_top_holds_that_line() -> None:
    only, number = line("Intentionally left blank", 10), line("7", 585, 190, 200)
    kinds = {
        r.text: r.kind for r in build_regions([only, number], [block("header", only)], 400, 600)
    }
    assert kinds == {"Intentionally left blank": "text", "7": "page_number"}


def test_check_boxes_stand_in_the_cells_of_a_table() -> None:
    rows = [["Bees", "☑"], ["Water", "☐"], ["Shed", "☐"]]
    lines, cells = [], []
    for r, row in enumerate(rows):
        for c, text in enumerate(row):
            lines.append(line(text, 100 + 20 * r, 50 + 100 * c, 80 + 100 * c))
            box = Box(50 + 100 * c, 98 + 20 * r, 140 + 100 * c, 114 + 20 * r)
            cells.append(Cell(r, c, box, text=text if c == 0 else "3"))
    (region,) = build_regions(lines, [Block("table", Box(50, 98, 240, 154), [], cells)], 400, 600)
    assert [text for row in rows for text in row] == re.findall("<td>(.*?)</td>", region.text)


def test_small_print_below_the_text_that_begins_with_a_mark_is_a_footnote() -> None:
    body = [line(f"Running text of row {n}", 100 + 14 * n) for n in range(6)]
    note = line("1Measured in spring.", 700, size=8)
    small = line("Measured in spring.", 700, size=8)
    above = line("2 Later", 60, size=8)
    for other, kind in [(note, "footnote"), (small, "text"), (above, "text")]:
        blocks = [block("text", *body), block("text", other)]
        regions = build_regions([*body, other], blocks, 400, 800)
        assert [region.kind for region in regions] == ["text", kind]


def test_a_label_makes_a_caption_and_a_mention_does_not() -> None:
    label = line("Table 6: Reading comprehension", 100)
    mention = line("Table 6 shows what was read", 200)
    blocks = [block("text", label), block("text", mention)]
    regions = build_regions([label, mention], blocks, 400, 800)
    assert [region.kind for region in regions] == ["caption", "text"]
