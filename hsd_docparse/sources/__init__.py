"""A file becomes pages, opened one at a time and released.

``open_source(path)`` picks the reader by content. Every reader yields `SourcePage`
objects lazily; a page holds nothing once the loop has moved on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hsd_docparse.document import Line

if TYPE_CHECKING:
    from PIL import Image


class SourcePage(Protocol):
    """One page as its file gives it. Boxes are in page units (see `hsd_docparse.document`)."""

    number: int
    """1-based."""
    width: float
    height: float

    def render(self, dpi: float) -> Image.Image:
        """RGB picture of the page at ``dpi`` (72 units an inch for PDFs; images are already
        pixels, and are scaled down only to respect the pixel cap). The factor actually used
        is ``image.width / page.width``. Raises `PageError`."""
        ...

    def text_layer(self) -> TextLayer | None:
        """The text that the file itself carries, or None (images, scans). Raises `PageError`."""
        ...


@dataclass
class TextLayer:
    """Lines of a born-digital page in the order of the file, and a verdict on them."""

    lines: list[Line]
    problem: str | None = None
    """Why the text cannot be trusted (mojibake, invisible, misplaced), or None when sane."""


class SourceDocument(Protocol):
    """An open file. Iterating opens pages one by one; a page that cannot even be opened is
    yielded as a `DamagedPage`, so that nothing is lost silently."""

    page_count: int
    metadata: dict[str, str]

    def pages(self) -> Iterator[SourcePage | DamagedPage]: ...

    def __enter__(self) -> SourceDocument: ...

    def __exit__(self, *exc: object) -> None: ...


@dataclass
class DamagedPage:
    """Stands for a page that the reader could not open; ``error`` is one sentence."""

    number: int
    error: str
