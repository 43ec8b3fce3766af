"""What a format is: something that opens writers, which write a document a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TextIO

from hsd_docparse.document import Document, Page

FigureLinks = Mapping[int, str]
"""Where the pictures of a page's figures are: index of the region -> relative URL, or data URL."""


class Writer(Protocol):
    """Writes one document, page by page."""

    def write(self, page: Page, figures: FigureLinks) -> None: ...

    def finish(self) -> None:
        """After the last page. A writer that is dropped before leaves half a result."""
        ...


class Format(Protocol):
    """``binary``: its writers want a stream of bytes that can seek, and the file that the document
    was read from, and no stream of text. ``embeds``: they want links that hold the pictures."""

    @property
    def suffix(self) -> str: ...

    @property
    def binary(self) -> bool: ...

    @property
    def embeds(self) -> bool: ...

    def writer(self, stream: Any, document: Document, *, password: str | None = None) -> Writer:
        """A writer to ``stream``, which stays open. The pages of ``document`` may not exist yet;
        ``password`` opens its file."""
        ...


@dataclass(frozen=True)
class PagedText:
    """A text format: ``head``, the pages with ``separator`` between them, ``tail``.

    ``head`` gets the document without looking at its pages. With ``joined``, what goes on over the
    end of a page is written whole where it begins.
    """

    binary: ClassVar[bool] = False

    suffix: str
    head: Callable[[Document], str]
    page: Callable[[Page, FigureLinks], str]
    separator: str
    tail: str
    joined: bool = True
    embeds: bool = False

    def writer(self, stream: TextIO, document: Document, *, password: str | None = None) -> Writer:
        from hsd_docparse.render.joining import JoiningWriter

        writer = PageWriter(self, stream, document)
        return JoiningWriter(writer) if self.joined else writer


class PageWriter:
    """Writes a document to ``stream`` page by page and keeps none of them."""

    def __init__(self, form: PagedText, stream: TextIO, document: Document) -> None:
        self._format = form
        self._stream = stream
        self._separator = ""
        stream.write(form.head(document))

    def write(self, page: Page, figures: FigureLinks) -> None:
        self._stream.write(self._separator + self._format.page(page, figures))
        self._separator = self._format.separator

    def finish(self) -> None:
        self._stream.write(self._format.tail)
