"""A file becomes a `Document`: its source opens pages, the draft reads them, a target verifies."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from hsd_docparse.document import Document, Page
from hsd_docparse.errors import DocparseError, TargetError
from hsd_docparse.sources import DamagedPage, SourcePage, TextLayer, open_source
from hsd_docparse.sources.page_ranges import select_pages

if TYPE_CHECKING:
    from PIL import Image

    from hsd_docparse.targets import DocumentTarget

Mode = Literal["draft", "lossless"]
"""``draft``: the layout pipeline alone. ``lossless``: token for token what the target's own
greedy decoding gives."""

DPI = 150.0

logger = logging.getLogger(__name__)


class PageRead(NamedTuple):
    """A page as read, and as its file gives it (None where the file could not open it)."""

    page: Page
    source: SourcePage | None


@dataclass
class Conversion:
    """A file being converted. ``document`` has everything but its pages; ``reads`` has those,
    one at a time, and can be consumed once. ``selected`` is how many there will be."""

    document: Document
    selected: int
    reads: Iterator[PageRead]


@contextmanager
def open_conversion(
    path: str | Path,
    *,
    target: str | DocumentTarget = "mini",
    mode: Mode = "lossless",
    pages: str | Sequence[int] | None = None,
    password: str | None = None,
    dpi: float = DPI,
) -> Iterator[Conversion]:
    """Open ``path`` for conversion page by page; see `parse` for the arguments and errors."""
    with open_source(path, password=password, pages=pages) as source:
        verifier = _verifier(target, mode)
        document = Document(
            source=str(path),
            page_count=source.page_count,
            mode=mode if verifier else "draft",
            target=verifier.name if verifier else "none",
            metadata=source.metadata,
        )
        read = _drafted if verifier is None else _verifying(verifier)
        reads = (_guarded(read, page, dpi) for page in source.pages())
        yield Conversion(document, len(select_pages(pages, source.page_count)), reads)


def iter_pages(
    path: str | Path,
    *,
    target: str | DocumentTarget = "mini",
    mode: Mode = "lossless",
    pages: str | Sequence[int] | None = None,
    password: str | None = None,
    dpi: float = DPI,
) -> Iterator[Page]:
    """The pages of `parse`, each as soon as it is read; memory does not grow with their number."""
    with open_conversion(
        path, target=target, mode=mode, pages=pages, password=password, dpi=dpi
    ) as conversion:
        for page, _ in conversion.reads:
            yield page


def parse(
    path: str | Path,
    *,
    target: str | DocumentTarget = "mini",
    mode: Mode = "lossless",
    pages: str | Sequence[int] | None = None,
    password: str | None = None,
    dpi: float = DPI,
) -> Document:
    """Read a PDF, an image or an office document.

    ``target`` verifies what the layout pipeline drafted: ``"mini"``, a Hugging Face hub id, a
    folder with a model, or an open target; ``"none"`` leaves the draft as it is, and so does
    ``mode="draft"``. A target opened by name is kept for the next call. ``pages`` selects
    pages (``"1-3,7"``, or their numbers); ``dpi`` is the resolution at which pages are looked at.

    A page that cannot be read has its ``error`` set and costs no other page. Raises
    `InputError` or `PasswordError` when the file cannot be opened, `TargetError` when the
    target cannot.
    """
    with open_conversion(
        path, target=target, mode=mode, pages=pages, password=password, dpi=dpi
    ) as conversion:
        document = conversion.document
        document.pages = [read.page for read in conversion.reads]
        return document


class _RenderedOnce:
    """A `SourcePage` that keeps its last picture: drafting, verifying and cutting figures all
    ask for the same one."""

    def __init__(self, page: SourcePage) -> None:
        self._page = page
        self._picture: tuple[float, Image.Image] | None = None
        self.number = page.number
        self.width = page.width
        self.height = page.height
        self.warnings = page.warnings

    @property
    def native_dpi(self) -> float | None:
        return self._page.native_dpi

    def render(self, dpi: float) -> Image.Image:
        if self._picture is None or self._picture[0] != dpi:
            self._picture = dpi, self._page.render(dpi)
        return self._picture[1]

    def text_layer(self) -> TextLayer | None:
        return self._page.text_layer()


def _guarded(
    read: Callable[[SourcePage, float], Page], source: SourcePage | DamagedPage, dpi: float
) -> PageRead:
    """What ``read`` makes of a page; whatever a broken page sets off costs no other page."""
    if isinstance(source, DamagedPage):
        return PageRead(Page(source.number, 0, 0, error=source.error), None)
    picture = _RenderedOnce(source)
    try:
        page = read(picture, dpi)
    except Exception as error:
        known = isinstance(error, DocparseError)
        cause = f"unexpected {type(error).__name__} ({error}); --debug shows where it arose."
        message = str(error) if known else cause
        page = Page(source.number, source.width, source.height, error=message)
        logger.debug("page %d failed", page.number, exc_info=True)
    page.warnings += [warning for warning in source.warnings if warning not in page.warnings]
    return PageRead(page, picture)


def _drafted(page: SourcePage, dpi: float) -> Page:
    from hsd_docparse.draft import draft_page

    return draft_page(page, dpi=dpi)


def _verifying(target: DocumentTarget) -> Callable[[SourcePage, float], Page]:
    """Reads pages with ``target``, and learns from page to page which stages pay."""
    from hsd_docparse.hsd import StageChoice, verify_page

    choice = StageChoice()
    return lambda page, dpi: verify_page(
        target, page.render(dpi), _drafted(page, dpi), choice=choice
    )


def _verifier(target: str | DocumentTarget, mode: Mode) -> DocumentTarget | None:
    if mode == "draft" or target == "none":
        return None
    return _opened(target) if isinstance(target, str) else target


@lru_cache(maxsize=1)
def _opened(name: str) -> DocumentTarget:
    from hsd_docparse.targets import open_target

    try:
        return open_target(name)
    except DocparseError:
        raise
    except Exception as error:
        raise TargetError(f"The target {name!r} could not be opened: {error}.") from error
