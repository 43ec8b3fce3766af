"""The whole pipeline on pages made here: a PDF with a text layer, and its picture."""

from __future__ import annotations

import re
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from hsd_docparse.document import Page
from hsd_docparse.draft import draft_page, draw_layout, to_layout
from hsd_docparse.sources import DamagedPage, open_source

LEFT = "The quick brown fox jumps over the lazy dog near the river bank. " * 8
RIGHT = "Several weary travellers crossed the old bridge before sunset. " * 8
TABLE = [["Fruit", "Price", "Stock"], ["Apple", "1.20", "37"], ["Cherry", "4.75", "8"]]


def made_pdf(path: Path) -> Path:
    """A heading, two columns of text and a ruled table."""
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    page.insert_text((60, 90), "1 Introduction", fontsize=16, fontname="hebo")
    page.insert_textbox((60, 110, 285, 330), LEFT, fontsize=10)
    page.insert_textbox((310, 110, 535, 330), RIGHT, fontsize=10)
    for i in range(4):
        page.draw_line((60, 400 + 24 * i), (420, 400 + 24 * i))
        page.draw_line((60 + 120 * i, 400), (60 + 120 * i, 472))
    for r, row in enumerate(TABLE):
        for c, text in enumerate(row):
            page.insert_text((68 + 120 * c, 416 + 24 * r), text, fontsize=10)
    page.insert_text((295, 815), "7", fontsize=9)
    document.save(path)
    return path


def draft(path: Path) -> Page:
    with open_source(path) as source:
        page = next(iter(source.pages()))
        assert not isinstance(page, DamagedPage)
        return draft_page(page)


def words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text).split()


def font_for_formulas(page: pymupdf.Page) -> str:
    """The name, on ``page``, of an italic font that calls itself one of TeX's."""
    document = page.parent
    xref = page.insert_font(fontname="M", fontbuffer=pymupdf.Font("tiit").buffer)
    (inner,) = re.findall(r"(\d+) 0 R", document.xref_get_key(xref, "DescendantFonts")[1])
    for number in (xref, int(inner)):
        document.xref_set_key(number, "BaseFont", "/CMMI10")
    return "M"


@pytest.fixture(scope="module")
def pdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_pdf(tmp_path_factory.mktemp("draft") / "made.pdf")


@pytest.fixture(scope="module")
def picture(pdf: Path) -> Path:
    path = pdf.with_suffix(".png")
    with pymupdf.open(pdf) as document:
        document[0].get_pixmap(dpi=150).save(path)
    return path


@pytest.fixture(scope="module")
def from_text(pdf: Path) -> Page:
    return draft(pdf)


@pytest.fixture(scope="module")
def from_picture(picture: Path) -> Page:
    return draft(picture)


@pytest.mark.parametrize("made", ["from_text", "from_picture"])
def test_columns_are_read_one_after_the_other(made: str, request: pytest.FixtureRequest) -> None:
    page = request.getfixturevalue(made)
    text = " ".join(r.text for r in page.regions if r.kind == "text")
    assert words(text) == words(LEFT + RIGHT)


@pytest.mark.parametrize("made", ["from_text", "from_picture"])
def test_the_table_has_its_cells(made: str, request: pytest.FixtureRequest) -> None:
    (table,) = [r for r in request.getfixturevalue(made).regions if r.kind == "table"]
    rows = "".join("<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>" for row in TABLE)
    assert table.text == f"<table>{rows}</table>"


@pytest.mark.parametrize("made", ["from_text", "from_picture"])
def test_heading_and_page_number(made: str, request: pytest.FixtureRequest) -> None:
    regions = request.getfixturevalue(made).regions
    (heading,) = [r for r in regions if r.kind == "heading"]
    assert (heading.text, heading.level) == ("1 Introduction", 2)
    assert [r.text for r in regions if r.kind == "page_number"] == ["7"]
    assert regions[-1].kind == "page_number"


def test_ocr_gives_one_probability_a_character_and_boxes_in_page_units(
    from_picture: Page, from_text: Page
) -> None:
    lines = [line for region in from_picture.regions for line in region.lines]
    assert {line.source for line in lines} == {"ocr"}
    assert all(len(line.probabilities) == len(line.text) for line in lines)
    heading = next(r for r in from_picture.regions if r.kind == "heading")
    same = next(r for r in from_text.regions if r.kind == "heading").box.scaled(150 / 72)
    assert heading.box.overlap(same) > 0.8 * same.area
    assert 0.8 < heading.confidence <= 1


def test_a_text_layer_that_nobody_sees_is_not_trusted(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=400, height=200)
    page.insert_text((40, 100), "Visible words", fontsize=24)
    pixmap = page.get_pixmap(dpi=150)
    scan = document.new_page(width=400, height=200)
    scan.insert_image(scan.rect, pixmap=pixmap)
    for i in range(8):
        scan.insert_text((40, 20 + 20 * i), "hidden garbage text layer", render_mode=3)
    document.delete_page(0)
    document.save(tmp_path / "scan.pdf")
    drafted = draft(tmp_path / "scan.pdf")
    assert [region.text for region in drafted.regions] == ["Visible words"]
    assert len(drafted.warnings) == 1
    assert drafted.warnings[0].startswith("Text layer ignored: ")


def test_a_blank_page_has_no_regions(tmp_path: Path) -> None:
    Image.new("RGB", (400, 300), "white").save(tmp_path / "blank.png")
    assert draft(tmp_path / "blank.png").regions == []


def test_the_rotated_page_reads_like_the_upright_one(tmp_path: Path, from_text: Page) -> None:
    document = pymupdf.open(made_pdf(tmp_path / "upright.pdf"))
    turned = pymupdf.open()
    turned.new_page(width=842, height=595).show_pdf_page(
        pymupdf.Rect(0, 0, 842, 595), document, 0, rotate=90
    )
    turned[0].set_rotation(90)
    turned.save(tmp_path / "turned.pdf")
    page = draft(tmp_path / "turned.pdf")
    assert (page.width, page.height) == (595, 842)
    assert [r.text for r in page.regions] == [r.text for r in from_text.regions]


ITEMS = [
    (0, "1. Open the box"),
    (1, "a) Cut the tape"),
    (1, "b) Lift the lid"),
    (2, "i. on the left"),
    (2, "ii. on the right"),
    (0, "2. Take out the machine"),
]


@pytest.mark.parametrize("suffix", [".pdf", ".png"])
def test_items_of_a_list_are_nested(tmp_path: Path, suffix: str) -> None:
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    page.insert_textbox((60, 60, 535, 200), LEFT, fontsize=10)
    for i, (depth, text) in enumerate(ITEMS):
        page.insert_text((60 + 18 * depth, 240 + 16 * i), text, fontsize=11)
    path = tmp_path / f"list{suffix}"
    document.save(path) if suffix == ".pdf" else page.get_pixmap(dpi=150).save(path)
    items = [region for region in draft(path).regions if region.kind == "list_item"]
    assert [(item.level - 1, item.text) for item in items] == ITEMS


def test_layout_for_layoutparser_and_its_overlay(from_text: Page, pdf: Path) -> None:
    layout = to_layout(from_text)
    assert [block.text for block in layout] == [r.text for r in from_text.regions]
    assert [block.type for block in layout] == [r.kind for r in from_text.regions]
    blank = Image.new("RGB", (595, 842), "white")
    drawn = draw_layout(blank, from_text)
    table = next(r for r in from_text.regions if r.kind == "table")
    assert drawn.size == blank.size
    edge = drawn.convert("RGB").getpixel((int(table.box.x1), int(table.box.center[1])))
    assert edge == (0xD3, 0x2F, 0x2F)


def test_formulas_within_lines_become_latex_and_lines_stay_as_shown(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    font = font_for_formulas(page)
    page.insert_text((60, 100), "It costs $5 and $6 to sort", fontsize=10, fontname="tiro")
    page.insert_text((174, 100), "x", fontsize=10, fontname=font)
    page.insert_text((179, 102), "i", fontsize=7, fontname=font)
    page.insert_text(
        (185, 100), "of all the many records that there are.", fontname="tiro", fontsize=10
    )
    document.save(tmp_path / "formula.pdf")
    (region,) = draft(tmp_path / "formula.pdf").regions
    assert (
        region.text == "It costs $5 and $6 to sort $x_{i}$ of all the many records that there are."
    )
    assert " ".join(line.text for line in region.lines) == region.text.replace("$x_{i}$", "xi")
