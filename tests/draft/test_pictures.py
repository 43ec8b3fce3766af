"""Pages with a text layer into which pictures were pasted."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from hsd_docparse.document import Page
from hsd_docparse.draft import draft_page, ocr
from hsd_docparse.render.html import HTML
from hsd_docparse.render.markdown import MARKDOWN
from hsd_docparse.render.text import TEXT
from hsd_docparse.sources import DamagedPage, open_source

PROSE = "The quick brown fox jumps over the lazy dog near the river bank. " * 6
TABLE = [["Fruit", "Price", "Stock"], ["Apple", "1.20", "37"], ["Cherry", "4.75", "8"]]
PLACE = pymupdf.Rect(60, 200, 420, 300)


def table() -> pymupdf.Pixmap:
    page = pymupdf.open().new_page(width=360, height=100)
    for i in range(4):
        page.draw_line((2, 2 + 32 * i), (358, 2 + 32 * i))
        page.draw_line((2 + 356 / 3 * i, 2), (2 + 356 / 3 * i, 98))
    for r, row in enumerate(TABLE):
        for c, text in enumerate(row):
            page.insert_text((12 + 119 * c, 22 + 32 * r), text, fontsize=11)
    return page.get_pixmap(dpi=150)


def chart() -> pymupdf.Pixmap:
    page = pymupdf.open().new_page(width=360, height=100)
    for i, height in enumerate([30, 60, 45, 75, 20]):
        page.draw_rect((40 + 60 * i, 85 - height, 80 + 60 * i, 85), fill=(0.2, 0.4, 0.8))
    page.insert_text((120, 10), "Rainfall", fontsize=9)
    page.insert_text((45, 96), "May", fontsize=9)
    return page.get_pixmap(dpi=150)


def draft_with(folder: Path, picture: pymupdf.Pixmap | None, place: pymupdf.Rect = PLACE) -> Page:
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    page.insert_textbox((60, 60, 535, 180), PROSE, fontsize=10)
    if picture is not None:
        page.insert_image(place, pixmap=picture)
    page.insert_textbox((60, 330, 535, 450), PROSE, fontsize=10)
    document.save(folder / "page.pdf")
    with open_source(folder / "page.pdf") as source:
        read = next(iter(source.pages()))
        assert not isinstance(read, DamagedPage)
        return draft_page(read)


def test_a_scanned_table_is_a_table(tmp_path: Path) -> None:
    regions = draft_with(tmp_path, table()).regions
    assert [region.kind for region in regions] == ["text", "table", "text"]
    rows = "".join("<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>" for row in TABLE)
    assert regions[1].text == f"<table>{rows}</table>"
    assert {line.source for line in regions[1].lines} == {"ocr"}
    assert {line.source for line in regions[0].lines} == {"text_layer"}


def test_words_of_a_chart_are_the_text_of_its_figure(tmp_path: Path) -> None:
    regions = draft_with(tmp_path, chart()).regions
    assert [region.kind for region in regions] == ["text", "figure", "text"]
    assert "Rainfall" in regions[1].text


def test_words_of_a_chart_are_no_running_text(tmp_path: Path) -> None:
    page = draft_with(tmp_path, chart())
    for form in (MARKDOWN, HTML, TEXT):
        assert "Rainfall" not in form.page(page, {})
    place = next(at for at, region in enumerate(page.regions) if region.kind == "figure")
    for form in (MARKDOWN, HTML):
        assert "Rainfall" in form.page(page, {place: "chart.png"})


def test_a_drawing_full_of_words_is_a_figure(tmp_path: Path) -> None:
    page = pymupdf.open().new_page(width=360, height=100)
    for i in range(6):
        for j in range(5):
            box = pymupdf.Rect(60 * i, 20 * j, 60 * i + 56, 20 * j + 17)
            page.draw_rect(box, fill=(0.9 - 0.1 * i, 0.4 + 0.1 * j, 0.5))
            page.insert_text((box.x0 + 6, box.y0 + 12), f"step {i}{j}", fontsize=9)
    kinds = [region.kind for region in draft_with(tmp_path, page.get_pixmap(dpi=150)).regions]
    assert kinds == ["text", "figure", "text"]


def test_words_of_a_poster_are_its_text(tmp_path: Path) -> None:
    banner = pymupdf.open().new_page(width=300, height=100)
    banner.draw_rect(banner.rect, fill=(0.2, 0.3, 0.4))
    banner.insert_text((30, 60), "THE HARBOUR", fontsize=36, color=(1, 1, 1))
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    page.insert_image((100, 100, 400, 200), pixmap=banner.get_pixmap(dpi=150))
    page.insert_text((100, 600), "A talk about boats", fontsize=30)
    document.save(tmp_path / "poster.pdf")
    with open_source(tmp_path / "poster.pdf") as source:
        read = next(iter(source.pages()))
        assert not isinstance(read, DamagedPage)
        text = MARKDOWN.page(draft_page(read), {})
    assert "THE HARBOUR" in text
    assert "A talk about boats" in text


@pytest.mark.parametrize(
    ("picture", "place"), [(None, PLACE), (table(), pymupdf.Rect(60, 200, 150, 225))]
)
def test_ocr_looks_at_no_page_without_a_large_picture(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    picture: pymupdf.Pixmap | None,
    place: pymupdf.Rect,
) -> None:
    monkeypatch.setattr(ocr, "shared_detector", pytest.fail)
    assert {r.kind for r in draft_with(tmp_path, picture, place).regions} <= {"text", "figure"}


def test_text_over_a_picture_is_not_read_twice(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    background = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 595, 842))
    background.clear_with(235)
    page.insert_image(page.rect, pixmap=background)
    page.insert_textbox((60, 60, 535, 400), PROSE * 3, fontsize=12)
    document.save(tmp_path / "slide.pdf")
    with open_source(tmp_path / "slide.pdf") as source:
        read = next(iter(source.pages()))
        assert not isinstance(read, DamagedPage)
        text = " ".join(region.text for region in draft_page(read).regions)
    assert text.split() == (PROSE * 3).split()
