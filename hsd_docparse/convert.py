"""A file becomes a `Document`: its source opens pages, the draft reads them, a target verifies."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from hsd_docparse.document import Document, Page
from hsd_docparse.errors import DocparseError, TargetError
from hsd_docparse.worker import Answer, Drafted, Job, Opened, read

if TYPE_CHECKING:
    from PIL import Image

    from hsd_docparse.sharing import SharedTarget
    from hsd_docparse.targets import DocumentTarget

Mode = Literal["draft", "lossless", "near", "ensemble"]
"""``draft``: the layout pipeline alone. ``lossless``: token for token what the target's own
greedy decoding gives. ``near``: the draft's token where the target thinks nearly as much of it as
of its own, never in tables and formulas. ``ensemble``: at each place what target and draft
together think best."""

DPI = 150.0
DEADLINE = 120.0
"""Seconds; a page that takes longer is given up."""

logger = logging.getLogger(__name__)


class PageRead(NamedTuple):
    """A page as read, and the picture that its boxes are on: None where nobody asked for it, or
    the page cannot be drawn."""

    page: Page
    picture: Image.Image | None


@dataclass
class Conversion:
    """A file being converted. ``document`` has everything but its pages; ``reads`` has those,
    one at a time, and can be consumed once. ``selected`` is how many there will be; ``password``
    opened the file."""

    document: Document
    selected: int
    reads: Iterator[PageRead]
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Settings:
    """How files are read; `parse` says what each means. Pickles where ``target`` is a name."""

    target: str | DocumentTarget | SharedTarget = "mini"
    mode: Mode = "lossless"
    pages: str | Sequence[int] | None = None
    password: str | None = None
    dpi: float = DPI
    deadline: float | None = DEADLINE

    @property
    def verifies(self) -> bool:
        """Whether a target reads the pages; else the draft is the result."""
        return self.mode != "draft" and self.target != "none"


@contextmanager
def open_conversion(
    path: str | Path, settings: Settings, *, pictures: bool = False
) -> Iterator[Conversion]:
    """Open ``path`` for conversion page by page; see `parse` for the errors. With ``pictures``
    every page comes with the picture that its boxes are on."""
    wanted = pictures or settings.verifies
    job = Job(Path(path), os.getcwd(), settings.password, settings.pages, settings.dpi, wanted)
    drafts = _drafts(job, settings.deadline)
    with closing(drafts):
        opened = next(drafts)
        assert isinstance(opened, Opened)
        target = _shared(settings.target) if settings.verifies else None
        document = Document(
            source=str(path),
            page_count=opened.page_count,
            mode=settings.mode if target else "draft",
            target=target.name if target else "none",
            metadata=opened.metadata,
        )
        verify = partial(target.verify, mode=settings.mode) if target else None
        reads = _read(drafts, verify)
        yield Conversion(document, len(opened.selected), reads, settings.password)


def iter_pages(
    path: str | Path,
    *,
    target: str | DocumentTarget | SharedTarget = "mini",
    mode: Mode = "lossless",
    pages: str | Sequence[int] | None = None,
    password: str | None = None,
    dpi: float = DPI,
    deadline: float | None = DEADLINE,
) -> Iterator[Page]:
    """The pages of `parse`, each as soon as it is read; memory does not grow with their number."""
    settings = Settings(target, mode, pages, password, dpi, deadline)
    with open_conversion(path, settings) as conversion:
        for page, _ in conversion.reads:
            yield page


def parse(
    path: str | Path,
    *,
    target: str | DocumentTarget | SharedTarget = "mini",
    mode: Mode = "lossless",
    pages: str | Sequence[int] | None = None,
    password: str | None = None,
    dpi: float = DPI,
    deadline: float | None = DEADLINE,
    on_page: Callable[[Page, int], object] | None = None,
) -> Document:
    """Read a PDF or an image.

    ``target`` verifies what the layout pipeline drafted: ``"mini"``, a Hugging Face hub id, a
    folder with a model, or an open target; ``"none"`` leaves the draft as it is, and so does
    ``mode="draft"``. A target opened by name is kept for the next call; calls in several threads
    share it, or a `SharedTarget`, and their pages are verified in batches. ``pages`` selects
    pages (``"1-3,7"``, or their numbers); ``dpi`` is the resolution at which pages are looked at.
    ``deadline`` is how many seconds the drafting of a page may take, in a process of its own; None
    drafts in this process, where a file that crashes its reader crashes the caller. ``on_page`` is
    called with each page as it is read, and how many are still to come.

    A page that cannot be read has its ``error`` set and costs no other page. Raises
    `InputError` or `PasswordError` when the file cannot be opened, `TargetError` when the
    target cannot.
    """
    settings = Settings(target, mode, pages, password, dpi, deadline)
    with open_conversion(path, settings) as conversion:
        document = conversion.document
        for page, _ in conversion.reads:
            document.pages.append(page)
            if on_page:
                on_page(page, conversion.selected - len(document.pages))
        return document


def _drafts(job: Job, deadline: float | None) -> Generator[Answer]:
    if deadline is None:
        return read(job)
    from hsd_docparse.isolation import read_isolated

    return read_isolated(job, deadline)


def _read(
    drafts: Generator[Answer], verify: Callable[[Image.Image, Page], Page] | None
) -> Iterator[PageRead]:
    from hsd_docparse.continuation import Continuations

    continuations = Continuations()
    for answer in drafts:
        assert isinstance(answer, Drafted)
        page, picture = answer.page, answer.picture
        if answer.trace:
            logger.debug("page %d failed\n%s", page.number, answer.trace)
        if verify is not None and picture is not None and page.error is None:
            page = verify(picture, page)
        continuations.mark(page)
        yield PageRead(page, picture)


def _shared(target: str | DocumentTarget | SharedTarget) -> SharedTarget:
    if isinstance(target, str):
        return kept_target(target)
    from hsd_docparse.sharing import SharedTarget

    return target if isinstance(target, SharedTarget) else SharedTarget(target)


@lru_cache(maxsize=1)
def kept_target(name: str) -> SharedTarget:
    """The target that `parse` uses under this name. Raises `TargetError`."""
    from hsd_docparse.sharing import SharedTarget
    from hsd_docparse.targets import open_target

    try:
        return SharedTarget(open_target(name))
    except DocparseError:
        raise
    except Exception as error:
        raise TargetError(f"The target {name!r} could not be opened: {error}.") from error
