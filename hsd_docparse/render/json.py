"""JSON: the whole `Document`, a page a line, in a published schema."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from hsd_docparse.document import Document, Page
from hsd_docparse.render.format import FigureLinks, PagedText

if TYPE_CHECKING:
    from pydantic import TypeAdapter

DECIMALS = 3
"""Enough for a probability and for a thousandth of a point; full floats triple the file."""


@cache
def _adapter() -> TypeAdapter[Document]:
    from pydantic import TypeAdapter

    return TypeAdapter(Document)


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) that every JSON output follows."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_adapter().json_schema(mode="serialization"),
    }


def read(text: str | bytes) -> Document:
    """The document that JSON output describes. Raises `pydantic.ValidationError`."""
    return _adapter().validate_json(text)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return value


def to_dict(value: Document | Page) -> dict[str, Any]:
    """``value`` as JSON has it."""
    rounded: dict[str, Any] = _rounded(asdict(value))
    return rounded


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _page(page: Page, figures: FigureLinks) -> str:
    return _dump(to_dict(page))


def _head(document: Document) -> str:
    fields = to_dict(replace(document, pages=[]))
    del fields["pages"]
    return _dump(fields)[:-1] + ', "pages": [\n'


JSON = PagedText(".json", _head, _page, separator=",\n", tail="\n]}\n", joined=False)
