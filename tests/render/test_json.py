from __future__ import annotations

import json
from pathlib import Path

import pydantic
import pytest
from made_pages import document, page, region

from hsd_docparse.document import Box, Document, Line, Page, Region, Speculation
from hsd_docparse.render import render
from hsd_docparse.render.json import read, schema

PUBLISHED = Path(__file__).parents[2] / "docs" / "json-schema.json"
REGENERATE = (
    "python -c 'import json; from hsd_docparse.render.json import schema; "
    "print(json.dumps(schema(), indent=2))' > docs/json-schema.json"
)


def full_document() -> Document:
    line = Line("Ünï \u2028", Box(1, 2, 3, 4), [0.5, 0.25], "ocr")
    text = Region("text", Box(1.5, 2, 3, 4), "Ünï", 0, [line], 0.875, "corrected")
    speculation = Speculation("mini", "lossless", True, 10, 8, 9, 1, 2, {"page": 0.5}, ["note"])
    pages = [Page(1, 612, 792, [text], ["odd"], None, speculation), Page(2, 0, 0, error="why")]
    return Document("a.pdf", 2, pages, "lossless", "mini", {"title": 'A "B"'})


def test_json_reads_back_to_the_same_document() -> None:
    assert read(render(full_document(), "json")) == full_document()


def test_a_document_without_pages_is_valid() -> None:
    assert read(render(document(), "json")) == document()


def test_every_block_says_where_it_is_and_where_it_comes_from() -> None:
    data = json.loads(render(full_document(), "json"))
    assert data["page_count"] == 2
    block = data["pages"][0]["regions"][0]
    assert block["kind"] == "text"
    assert block["box"] == [1.5, 2, 3, 4]
    assert block["confidence"] == 0.875
    assert block["provenance"] == "corrected"


def test_numbers_are_short_and_a_page_is_a_line() -> None:
    exact = page(region("text"))
    exact.regions[0].confidence = 1 / 3
    lines = render(document(exact, page(number=2)), "json").splitlines()
    assert len(lines) == 4
    assert json.loads(lines[1].rstrip(","))["regions"][0]["confidence"] == 0.333


def test_reading_refuses_an_unknown_kind() -> None:
    with pytest.raises(pydantic.ValidationError):
        read(render(document(page(region("text"))), "json").replace('"text"', '"poem"', 1))


def test_the_published_schema_is_current() -> None:
    assert json.loads(PUBLISHED.read_text()) == schema(), f"Run: {REGENERATE}"
