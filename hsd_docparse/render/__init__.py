"""A `Document` becomes Markdown, HTML, JSON or plain text, whole or a page at a time."""

from __future__ import annotations

from io import StringIO

from hsd_docparse.document import Document
from hsd_docparse.render.format import Format, PageWriter
from hsd_docparse.render.html import HTML
from hsd_docparse.render.json import JSON
from hsd_docparse.render.markdown import MARKDOWN
from hsd_docparse.render.text import TEXT

__all__ = ["FORMATS", "Format", "PageWriter", "render"]

FORMATS: dict[str, Format] = {"md": MARKDOWN, "html": HTML, "json": JSON, "txt": TEXT}


def render(document: Document, format: str = "md") -> str:
    """The whole of ``document`` in one of `FORMATS`. Raises `KeyError` for any other."""
    stream = StringIO()
    writer = PageWriter(FORMATS[format], stream, document)
    for page in document.pages:
        writer.write(page)
    writer.finish()
    return stream.getvalue()
