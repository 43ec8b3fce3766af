from __future__ import annotations

import pymupdf
import pytest

from hsd_docparse.sources.text_layer import read_text_layer


def form(value: str) -> pymupdf.Page:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((60, 380), "Colours", fontsize=11)
    widget = pymupdf.Widget()
    widget.field_name = "colours"
    widget.field_type = pymupdf.PDF_WIDGET_TYPE_LISTBOX
    widget.rect = pymupdf.Rect(60, 400, 200, 470)
    widget.choice_values = ["red", "green", "white"]
    widget.field_value = "red"
    page.add_widget(widget)
    (xref,) = (widget.xref for widget in page.widgets())
    document.xref_set_key(xref, "Opt", "[(red)[(g)(Deep green)](white)]")
    document.xref_set_key(xref, "V", value)
    return document.reload_page(page)


@pytest.mark.parametrize(
    ("value", "shown"),
    [("[(g)(white)]", ["Deep green, white"]), ("(red)", ["red"]), ("[]", [])],
)
def test_a_list_box_shows_what_is_chosen(value: str, shown: list[str]) -> None:
    lines = read_text_layer(form(value)).lines
    assert [line.text for line in lines] == ["Colours", *shown]
    assert all(line.size > 0 for line in lines)
