"""A `Document` becomes Markdown, HTML, JSON, plain text, chunks for retrieval or a searchable
PDF, whole or a page at a time."""

from __future__ import annotations

from io import StringIO

from hsd_docparse.document import Document
from hsd_docparse.render.chunks import CHUNKS
from hsd_docparse.render.format import Format, Writer
from hsd_docparse.render.html import HTML
from hsd_docparse.render.json import JSON
from hsd_docparse.render.markdown import MARKDOWN
from hsd_docparse.render.pdf import PDF
from hsd_docparse.render.text import TEXT

__all__ = ["FORMATS", "Format", "Writer", "render"]

FORMATS: dict[str, Format] = {
    "md": MARKDOWN,
    "html": HTML,
    "json": JSON,
    "txt": TEXT,
    "pdf": PDF,
    "chunks": CHUNKS,
}


def render(document: Document, format: str = "md") -> str:
    """The whole of ``document`` in one of `FORMATS`. Raises `KeyError` for any other, `ValueError`
    for one that is no text."""
    form = FORMATS[format]
    if form.binary:
        raise ValueError(f"{format} is no text; hsd_docparse.export writes it to a file.")
    stream = StringIO()
    writer = form.writer(stream, document)
    for page in document.pages:
        writer.write(page, {})
    writer.finish()
    return stream.getvalue()
