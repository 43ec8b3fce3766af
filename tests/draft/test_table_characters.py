"""Characters for the search for tables."""

from __future__ import annotations

import pymupdf
from pymupdf import table

from hsd_docparse.draft.table_characters import make_chars


def test_every_character_has_its_place_from_the_top_and_from_the_bottom() -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=200, height=100)
        page.insert_text((20, 40), "b a", fontsize=10)
        table._CHARS_VAR.set([])
        make_chars(page)
        found = list(table.CHARS)
    assert "".join(each["text"] for each in found) == "b a"
    assert found[0]["x0"] == 20
    assert found[0]["matrix"] == (1, 0, 0, 1, 20, 60)
    assert found[0]["top"] < 40 < found[0]["bottom"]
    for each in found:
        assert (each["y0"], each["y1"]) == (100 - each["bottom"], 100 - each["top"])
        assert each["size"] == 10
