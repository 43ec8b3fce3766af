"""Regions of our own making, and two PDFs that break a paragraph and a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf
import pytest

from hsd_docparse import parse
from hsd_docparse.continuation import Continuations
from hsd_docparse.document import Box, Document, Kind, Line, Page, Region

LEFT, RIGHT = 50.0, 350.0


def paragraph(
    *texts: str,
    top: float = 100,
    left: float = LEFT,
    last: float = RIGHT,
    first: float = 0,
    size: float = 10,
    kind: Kind = "text",
) -> Region:
    """Lines of a column, of which the last ends at ``last`` and the first is indented."""
    lines = []
    for row, text in enumerate(texts):
        end = last if row + 1 == len(texts) else left + RIGHT - LEFT
        start = left + first * (row == 0)
        lines.append(Line(text, Box(start, top + 12 * row, end, top + 12 * row + 10), size=size))
    box = Box(left, top, left + RIGHT - LEFT, top + 12 * len(texts))
    return Region(kind, box, " ".join(texts), lines=lines)


def marked(*pages: list[Region], numbers: tuple[int, ...] = (1, 2, 3)) -> list[list[bool]]:
    continuations = Continuations()
    for number, regions in zip(numbers, pages, strict=False):
        continuations.mark(Page(number, 800, 600, regions))
    return [[region.continues for region in regions] for regions in pages]


WHOLE = ("The dredger needs more room than", "the basin offers, and so the quay was made longer.")
CUT = ("The dredger needs more room than", "the basin offers, and so the old quay", "was made a")
REST = ("little longer in spring, which", "took a month.")


def goes_on(cut: Region, rest: Region, numbers: tuple[int, ...] = (1, 2)) -> bool:
    return marked([paragraph(*WHOLE), cut], [rest], numbers=numbers)[1][0]


def test_a_sentence_that_a_page_cuts_goes_on() -> None:
    assert goes_on(paragraph(*CUT, top=500), paragraph(*REST, last=120))


def test_a_formula_at_the_cut_goes_on_as_the_page_shows_it() -> None:
    rest = paragraph("n steps longer in spring, which", "took a month.", last=120)
    rest.text = rest.text.replace("n steps", "$n$ steps")
    assert goes_on(paragraph(*CUT, top=500), rest)


def test_what_stands_at_the_ends_of_pages_is_passed() -> None:
    around: list[Region] = [
        paragraph("1 See the note.", top=560, kind="footnote"),
        paragraph("7", top=580, kind="page_number"),
        paragraph("Harbours", top=10, kind="header"),
        Region("figure", Box(50, 50, 350, 200)),
        paragraph("Figure 1. The quay", top=210, kind="caption"),
    ]
    first, second = [paragraph(*CUT, top=500), *around[:2]], [*around[2:], paragraph(*REST)]
    assert marked(first, second) == [[False] * 3, [False] * 3 + [True]]


@pytest.mark.parametrize(
    ("cut", "rest"),
    [
        ({}, {"last": 120, "texts": ("Little boats came.",)}),
        ({"last": 120}, {}),
        ({"texts": (*CUT[:2], "was made longer.")}, {}),
        ({"texts": (*CUT[:2], "was made longer (as planned).")}, {}),
        ({"texts": (*CUT[:2], "is made of these:")}, {}),
        ({"size": 8.0}, {}),
        ({}, {"first": 20}),
        ({}, {"kind": "heading"}),
        ({}, {"texts": ("a) little boats", "and large ones.")}),
    ],
    ids=["capital", "short", "full stop", "bracket", "colon", "size", "indent", "kind", "marker"],
)
def test_what_may_be_another_paragraph_does_not(cut: dict[str, Any], rest: dict[str, Any]) -> None:
    cut_texts, rest_texts = cut.pop("texts", CUT), rest.pop("texts", REST)
    assert not goes_on(paragraph(*cut_texts, top=500, **cut), paragraph(*rest_texts, **rest))


def test_justified_prose_goes_on_with_a_capital_too() -> None:
    cut = paragraph(*CUT[:2], "was rebuilt by the firm of", top=500)
    assert goes_on(cut, paragraph("Lindqvist and Marrow, who took", "a month.", last=120))


def test_a_heading_or_a_page_between_parts_them() -> None:
    cut, rest = paragraph(*CUT, top=500), paragraph(*REST, top=130)
    heading = paragraph("2 Method", kind="heading")
    assert marked([paragraph(*WHOLE), cut], [heading, rest])[1] == [False, False]
    assert not goes_on(cut, paragraph(*REST), numbers=(1, 3))


def test_a_paragraph_goes_on_in_the_next_column_and_not_below() -> None:
    cut = paragraph(*CUT, top=500)
    column, below = paragraph(*REST, left=420), paragraph(*REST, top=545)
    assert marked([paragraph(*WHOLE), cut, column]) == [[False, False, True]]
    assert marked([paragraph(*WHOLE), cut, below]) == [[False, False, False]]
    picture = Region("figure", Box(420, 10, 720, 90))
    again = paragraph(*REST, left=420)
    assert marked([paragraph(*WHOLE), cut, picture, again])[0][-1] is False


def test_text_without_spaces_goes_on_where_its_lines_are_full() -> None:
    lines = (
        "长江三角洲的港口在过去十年中迅速扩展并且",
        "成为世界上最繁忙的港口之一因此需要更多的",
        "泊位和",
    )
    rest = ("更深的航道以便大型船舶能够在任何潮位下安", "全进出。")
    assert goes_on(paragraph(*lines, top=500), paragraph(*rest, last=80))
    assert not goes_on(paragraph(*lines, top=500, last=300), paragraph(*rest, last=80))
    assert not goes_on(paragraph(*lines[:2], "泊位。", top=500), paragraph(*rest, last=80))


def table(*rows: tuple[str, ...], top: float, places: tuple[float, ...] = (50, 150, 250)) -> Region:
    lines, html = [], ""
    for row, cells in enumerate(rows):
        y = top + 15 * row
        lines += [
            Line(cell, Box(x, y, x + 6 * len(cell), y + 10), size=10)
            for x, cell in zip(places, cells, strict=True)
        ]
        html += "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    box = Box(50, top, 350, top + 15 * len(rows))
    return Region("table", box, f"<table>{html}</table>", lines=lines)


HEADER = ("Harbour", "Ships", "Tons")
UPPER = table(HEADER, ("Hull", "12", "400"), ("Goole", "7", "90"), top=450)
LOWER = (("Grimsby", "31", "1200"), ("Boston", "4", "35"))


def table_goes_on(*regions: Region, page: int = 2) -> bool:
    return marked([UPPER], list(regions), numbers=(1, page))[1][-1]


def test_a_table_of_the_same_columns_goes_on_with_and_without_its_header() -> None:
    assert table_goes_on(table(HEADER, *LOWER, top=40))
    assert table_goes_on(table(*LOWER, top=40))
    shifted = table(*LOWER, top=40, places=(80, 180, 280))
    assert table_goes_on(paragraph("Harbours", top=10, kind="header"), shifted)


def test_another_table_does_not() -> None:
    assert not table_goes_on(table(("Hull", "12"), ("Goole", "7"), top=40, places=(50, 150)))
    assert not table_goes_on(table(*LOWER, top=40, places=(50, 190, 250)))
    assert not table_goes_on(table(*LOWER, top=300))
    assert not table_goes_on(table(*LOWER, top=40), page=3)
    caption = paragraph("Table 2. Ships", top=20, kind="caption")
    assert not table_goes_on(caption, table(*LOWER, top=40))


def test_a_caption_may_say_that_the_table_goes_on() -> None:
    caption = paragraph("Table 1 (continued)", top=20, kind="caption")
    assert table_goes_on(caption, table(*LOWER, top=40))


PROSE = "The quick brown fox jumps over the lazy dog near the river bank and then it runs on "


def broken_pdf(path: Path) -> Path:
    """A paragraph that is cut inside a word between two columns, and one between two pages, above
    a ruled table that is cut too."""
    document = pymupdf.open()
    for number in range(2):
        page = document.new_page(width=595, height=842)
        page.insert_text((60, 40), "Annals of Foxes", fontsize=8)
        page.insert_text((295, 815), str(number + 1), fontsize=9)
        top = 560 if number == 0 else 80
        for i in range(6):
            page.draw_line((60, top + 24 * i), (420, top + 24 * i))
        for i in range(4):
            page.draw_line((60 + 120 * i, top), (60 + 120 * i, top + 120))
        rows = [["Fruit", "Price", "Stock"]]
        rows += [[f"Kind {number}{n}", f"{n}.20", f"{n}7"] for n in range(4)]
        for r, row in enumerate(rows):
            for c, text in enumerate(row):
                page.insert_text((68 + 120 * c, top + 16 + 24 * r), text, fontsize=10)
    document.save(path)
    return path


def test_a_table_of_a_pdf_is_one_in_the_document_and_two_on_its_pages(tmp_path: Path) -> None:
    document = parse(broken_pdf(tmp_path / "a.pdf"), mode="draft", deadline=None)
    tables = [r for page in document.pages for r in page.regions if r.kind == "table"]
    assert [region.continues for region in tables] == [False, True]
    assert all("Fruit" in region.text for region in tables)
    markdown = document.to_markdown()
    assert markdown.count("<table>") == markdown.count("Fruit") == 1
    assert markdown.count("<tr>") == 9
    assert "Fruit" in document.pages[1].to_markdown()


def flowing_pdf(path: Path) -> Path:
    """A text in two columns on two pages, with a running header and a footnote."""
    words = (PROSE * 80).split()
    document = pymupdf.open()
    for number in range(2):
        page = document.new_page(width=595, height=842)
        page.insert_text((60, 40), "Annals of Foxes", fontsize=8)
        page.insert_text((295, 815), str(number + 1), fontsize=9)
        for left in (60, 310):
            for row in range(40 if number == 0 else 12):
                line = ""
                while words and pymupdf.get_text_length(line + words[0], fontsize=10) < 225:
                    line += words.pop(0) + " "
                page.insert_text((left, 90 + 14 * row), line, fontsize=10)
        if number == 0:
            page.insert_text((60, 760), "1 Foxes are quick as a rule.", fontsize=7)
    document.save(path)
    return path


def test_a_paragraph_of_a_pdf_is_one_over_columns_and_pages(tmp_path: Path) -> None:
    document: Document = parse(flowing_pdf(tmp_path / "a.pdf"), mode="draft", deadline=None)
    running = [r for page in document.pages for r in page.regions if r.kind == "text"]
    assert [region.continues for region in running] == [False, True, True, True]
    blocks = document.to_markdown().split("\n\n")
    (whole,) = [block for block in blocks if block.startswith("The quick")]
    assert len(whole.split()) == sum(len(region.text.split()) for region in running)
    assert "1 Foxes are quick as a rule." in blocks
