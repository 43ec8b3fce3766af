"""What a format is: three functions, so that a document can be written a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TextIO

from hsd_docparse.document import Document, Page

FigureLinks = Mapping[int, str]
"""Where the pictures of a page's figures are: index of the region -> relative URL."""


@dataclass(frozen=True)
class Format:
    """A text format: ``head``, the pages with ``separator`` between them, ``tail``.

    ``head`` gets the document without looking at its pages, which may not exist yet.
    """

    suffix: str
    head: Callable[[Document], str]
    page: Callable[[Page, FigureLinks], str]
    separator: str
    tail: str


class PageWriter:
    """Writes a document to ``stream`` page by page and keeps none of them."""

    def __init__(self, form: Format, stream: TextIO, document: Document) -> None:
        self._format = form
        self._stream = stream
        self._separator = ""
        stream.write(form.head(document))

    def write(self, page: Page, figures: FigureLinks | None = None) -> None:
        self._stream.write(self._separator + self._format.page(page, figures or {}))
        self._separator = self._format.separator

    def finish(self) -> None:
        self._stream.write(self._format.tail)
