from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf
import pytest

from hsd_docparse.sources import DamagedPage, open_source

CHECK, RADIO = pymupdf.PDF_WIDGET_TYPE_CHECKBOX, pymupdf.PDF_WIDGET_TYPE_RADIOBUTTON


def add(page: pymupdf.Page, kind: int, name: str, x0: float, y0: float, value: Any) -> None:
    widget = pymupdf.Widget()
    widget.field_type, widget.field_name = kind, name
    widget.rect = pymupdf.Rect(x0, y0, x0 + 12, y0 + 12)
    widget.field_value = value
    page.add_widget(widget)
    if value is False:
        # PyMuPDF would tick a radio button with a state named False.
        page.parent.xref_set_key(widget.xref, "AS", "/Off")


@pytest.fixture
def page() -> pymupdf.Page:
    return pymupdf.open().new_page(width=400, height=300)


def texts(page: pymupdf.Page, folder: Path) -> list[str]:
    page.parent.save(folder / "form.pdf")
    with open_source(folder / "form.pdf") as source:
        read = next(iter(source.pages()))
        assert not isinstance(read, DamagedPage)
        layer = read.text_layer()
        assert layer is not None
        assert layer.problem is None
        return [line.text for line in layer.lines]


@pytest.mark.parametrize("kind", [CHECK, RADIO])
def test_a_box_stands_before_the_label_to_its_right(
    page: pymupdf.Page, tmp_path: Path, kind: int
) -> None:
    for i, ticked in enumerate([True, False]):
        add(page, kind, f"box{i}", 40, 40 + 20 * i, ticked)
        page.insert_text((60, 50 + 20 * i), f"choice {i}", fontsize=11)
    assert texts(page, tmp_path) == ["☑ choice 0", "☐ choice 1"]


def test_a_box_stands_behind_the_label_to_its_left_where_that_is_nearer(
    page: pymupdf.Page, tmp_path: Path
) -> None:
    for x, text in [(40, "Yes"), (90, "No")]:
        page.insert_text((x, 50), text, fontsize=11)
        add(page, CHECK, text, x + 22, 40, text == "Yes")
    assert texts(page, tmp_path) == ["Yes ☑", "No ☐"]


def test_a_box_without_a_label_is_a_line(page: pymupdf.Page, tmp_path: Path) -> None:
    page.insert_text((40, 50), "far away", fontsize=11)
    add(page, CHECK, "box", 300, 40, True)
    assert texts(page, tmp_path) == ["far away", "☑"]


def test_values_of_fields_are_lines(page: pymupdf.Page, tmp_path: Path) -> None:
    for y, kind in [(40, pymupdf.PDF_WIDGET_TYPE_TEXT), (80, pymupdf.PDF_WIDGET_TYPE_COMBOBOX)]:
        widget = pymupdf.Widget()
        widget.field_type, widget.field_name = kind, f"field{y}"
        widget.rect = pymupdf.Rect(100, y, 300, y + 18)
        widget.field_value = f"value {y}"
        if kind == pymupdf.PDF_WIDGET_TYPE_COMBOBOX:
            widget.choice_values = ["value 80", "another"]
        page.add_widget(widget)
    page.add_freetext_annot((100, 120, 300, 140), "typed onto the page", fontsize=11)
    assert sorted(texts(page, tmp_path)) == ["typed onto the page", "value 40", "value 80"]
