"""Drafts the pages of a file; with `main`, in a process of its own.

`main` reads jobs from standard input and writes what `read` yields for each to standard output,
all of them pickled. A page is begun when a byte asks for it, so that
nobody drafts further ahead than there is use for. `hsd_docparse.isolation` is the other end.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import sys
import traceback
import warnings
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from hsd_docparse.document import Page
from hsd_docparse.errors import DocparseError, InputError

if TYPE_CHECKING:
    from PIL import Image

    from hsd_docparse.sources import DamagedPage, SourcePage, TextLayer

MEMORY = 4 << 30
"""Bytes that a worker process may hold; what needs more fails, and costs its page."""
_STALE = 680 << 20
"""Bytes held after a page from which a process makes room for a fresh one."""
NEXT = b"n"
"""Asks a worker for its next page."""


@dataclass(frozen=True)
class Job:
    """A file to draft; ``folder`` is where a relative path begins. ``pages``: as `open_source`
    takes them; ``pictures``: whether to send the picture of each page too, drawn at ``dpi``."""

    path: Path
    folder: str
    password: str | None
    pages: str | Sequence[int] | None
    dpi: float
    pictures: bool


@dataclass(frozen=True)
class Opened:
    """The first answer. ``selected`` are the numbers of the pages that will follow."""

    page_count: int
    selected: Sequence[int]
    metadata: dict[str, str]


@dataclass(frozen=True)
class Drafted:
    """A page, or its ``error``, and the picture that its boxes are on, where it was asked for and
    can be drawn. ``trace`` is the traceback of an error."""

    page: Page
    picture: Image.Image | None = None
    trace: str = ""


@dataclass(frozen=True)
class Ended:
    """The last answer; with ``error`` the file could not be opened. ``stale``: the process has
    grown, and ends; pages may be missing."""

    error: DocparseError | None = None
    stale: bool = False


Answer = Opened | Drafted


def read(job: Job) -> Generator[Answer]:
    """Opens the file of ``job`` and drafts its pages. Raises `InputError` or `PasswordError`."""
    from hsd_docparse.sources import open_source

    with open_source(job.path, password=job.password, pages=job.pages) as source:
        yield Opened(source.page_count, source.selected, source.metadata)
        for page in source.pages():
            yield _drafted(page, job)


def _drafted(source: SourcePage | DamagedPage, job: Job) -> Drafted:
    """The draft of a page; whatever a broken page sets off costs no other page."""
    from hsd_docparse.draft import draft_page, upright_picture
    from hsd_docparse.sources import DamagedPage

    if isinstance(source, DamagedPage):
        return Drafted(Page(source.number, 0, 0, error=source.error))
    once = _RenderedOnce(source)
    picture, trace = None, ""
    try:
        page = draft_page(once, dpi=job.dpi)
    except Exception as error:
        known = isinstance(error, DocparseError)
        cause = f"unexpected {type(error).__name__} ({error}); --debug shows where it arose."
        trace = traceback.format_exc()
        page = Page(
            source.number, source.width, source.height, error=str(error) if known else cause
        )
    if job.pictures and page.error is None:
        try:
            picture = upright_picture(once, page, dpi=job.dpi)
        except Exception as error:
            trace = traceback.format_exc()
            page.warnings.append(f"The page cannot be shown, only its text: {error}")
    page.warnings += [warning for warning in source.warnings if warning not in page.warnings]
    return Drafted(page, picture, trace)


class _RenderedOnce:
    """A `SourcePage` that keeps its last picture: drafting and showing ask for the same one."""

    def __init__(self, page: SourcePage) -> None:
        self._page = page
        self._picture: tuple[float, Image.Image] | None = None
        self.number = page.number
        self.width = page.width
        self.height = page.height
        self.turn = page.turn
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


def main() -> None:
    # Whoever stops the command stops the process that asks; this one ends with its input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing else may write there
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    _limit_memory()
    requests = sys.stdin.buffer
    while True:
        try:
            job: Job = pickle.load(requests)
        except EOFError:
            return
        end = _serve(job, requests, answers)
        _send(answers, end)
        if end.stale:
            return


def _serve(job: Job, requests: BinaryIO, answers: BinaryIO) -> Ended:
    try:
        os.chdir(job.folder)
        for answer in read(job):
            _send(answers, answer)
            if isinstance(answer, Drafted) and _held() > _STALE:
                return Ended(stale=True)
            if requests.read(1) != NEXT:
                break
    except DocparseError as error:
        return Ended(error)
    except Exception as error:
        kind = type(error).__name__
        message = f"{job.path} could not be converted: unexpected {kind} ({error})."
        return Ended(InputError(message))
    return Ended()


def _send(answers: BinaryIO, answer: Answer | Ended) -> None:
    pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
    answers.flush()


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def _held() -> int:
    """Bytes of memory that this process holds, 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
