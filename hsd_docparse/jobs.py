"""Conversions in the background, for the page in the browser and the HTTP service.

Uploads are converted in turn by a few threads. Each has a folder of its own below one temporary
folder; nothing is read or written elsewhere, and the folder goes when the job does.
"""

from __future__ import annotations

import logging
import re
import secrets
import shutil
import time
import zipfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Condition, Event, Lock, Thread
from typing import TYPE_CHECKING, BinaryIO, Literal

from hsd_docparse.convert import PageRead, Settings
from hsd_docparse.document import Document, Page
from hsd_docparse.errors import DocparseError
from hsd_docparse.export import Outputs, exporting, output_names, output_path
from hsd_docparse.wording import counted

if TYPE_CHECKING:
    from PIL import Image

State = Literal["waiting", "running", "done", "failed", "cancelled"]
ENDED: frozenset[State] = frozenset({"done", "failed", "cancelled"})

_UNSAFE = re.compile(r"[^\w .()+,=@-]+")
_BLOCK = 1 << 20

logger = logging.getLogger(__name__)


class RefusedError(DocparseError):
    """A job that was not taken; ``str(error)`` says which limit it broke."""


class TooLargeError(RefusedError):
    """An upload of more bytes than `Limits.bytes`."""


class TooManyError(RefusedError):
    """More jobs wait than `Limits.waiting`."""


class FullError(RefusedError):
    """What is kept takes more bytes than `Limits.disk`."""


@dataclass(frozen=True)
class Limits:
    """What is taken from strangers: ``bytes`` of an upload, ``pages`` of a document, jobs
    ``waiting`` at a time, ``threads`` that convert; ``kept`` is for how many seconds what has
    ended stays, ``disk`` how many bytes uploads and results may take together until nothing more
    is taken or written: the last that was begun may exceed it."""

    bytes: int = 200 << 20
    pages: int = 1000
    waiting: int = 100
    threads: int = 1
    kept: float = 3600.0
    disk: int = 10 << 30


class Job:
    """One document on its way. ``total`` is how many pages there will be, None until it is open;
    ``error`` is one sentence. Read ``pages`` as they come, the outputs once it is ``done``."""

    def __init__(self, name: str, folder: Path, settings: Settings, outputs: Outputs) -> None:
        self.id = folder.name
        self.name = name
        self.folder = folder
        self.settings = settings
        self.outputs = outputs
        self.state: State = "waiting"
        self.document: Document | None = None
        self.pages: list[Page] = []
        self.total: int | None = None
        self.error: str | None = None
        self.began: float | None = None
        self.ended: float | None = None
        self.size = 0
        """Bytes of its folder when they were last counted."""
        self.busy = Lock()
        """Held while its folder is written to."""
        self._changed = Condition()
        self._changes = 0

    @property
    def input(self) -> Path:
        return self.folder / "input" / self.name

    @property
    def base(self) -> Path:
        return self.folder / "output" / self.input.stem

    @property
    def seconds(self) -> float:
        """Time since it was begun, or that it took."""
        if self.began is None:
            return 0.0
        return (self.ended or time.monotonic()) - self.began

    @property
    def seconds_left(self) -> float | None:
        """At the mean pace of its pages so far; None until a page is read."""
        if self.state != "running" or not self.pages or self.total is None:
            return None
        return self.seconds / len(self.pages) * (self.total - len(self.pages))

    def output(self, format: str) -> Path:
        """The file that holds the result. Raises `KeyError` where ``format`` was not asked for."""
        if format not in self.outputs.formats:
            raise KeyError(format)
        return output_path(self.base, format)

    def picture(self, number: int) -> Path | None:
        """A JPEG of page ``number``, on which its boxes are; None where it could not be drawn."""
        path = self.folder / "pages" / f"{number}.jpg"
        return path if path.exists() else None

    def measure(self) -> None:
        """Count the bytes of its folder."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        self.size = sum(path.stat().st_size for path in files)

    def wait(self, seen: int, timeout: float) -> int:
        """Wait until there is news since ``seen``, a value returned before (0 at first), at most
        ``timeout`` seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._changes != seen, timeout)
            return self._changes

    def cancel(self) -> None:
        """Stop after the page that is being read; nothing is written."""
        self._become("cancelled")

    def _become(self, state: State, error: str | None = None) -> bool:
        """Whether ``state`` was taken on; a job that has ended stays as it is."""
        with self._changed:
            if self.state in ENDED:
                return False
            self.state, self.error = state, error
            if state == "running":
                self.began = time.monotonic()
            if state in ENDED:
                self.ended = time.monotonic()
            self._changes += 1
            self._changed.notify_all()
            return True

    def _add(self, page: Page, picture: Image.Image | None) -> None:
        if picture is not None:
            path = self.folder / "pages" / f"{page.number}.jpg"
            path.parent.mkdir(exist_ok=True)
            picture.convert("RGB").save(path, quality=80)
        with self._changed:
            self.pages.append(page)
            self._changes += 1
            self._changed.notify_all()


class Jobs:
    """All jobs of a server. Use it as a context manager: its end cancels and removes them."""

    def __init__(self, limits: Limits | None = None, *, pictures: bool = False) -> None:
        """``pictures``: whether to keep a picture of every page, and the regions on it: memory
        of the size of the document, for as long as the job is kept."""
        self.limits = limits or Limits()
        self._pictures = pictures
        self._folder = TemporaryDirectory(prefix="docparse-", ignore_cleanup_errors=True)
        self._threads = ThreadPoolExecutor(self.limits.threads, "docparse-job")
        self._jobs: dict[str, Job] = {}
        self._coming = 0
        self._lock = Lock()
        self._closed = Event()
        Thread(target=self._sweep, daemon=True).start()

    @property
    def folder(self) -> Path:
        return Path(self._folder.name)

    def submit(self, name: str, upload: BinaryIO, settings: Settings, outputs: Outputs) -> Job:
        """Take a document called ``name``, which need not be a safe one. Raises `RefusedError`."""
        with self.place():
            job = Job(safe_name(name), self.folder / secrets.token_hex(16), settings, outputs)
            job.input.parent.mkdir(parents=True)
            try:
                _copy(upload, job.input, self.limits.bytes, job.name)
                job.measure()
            except BaseException:
                shutil.rmtree(job.folder, ignore_errors=True)
                raise
            with self._lock:
                self._jobs[job.id] = job
        self._threads.submit(self._convert, job)
        return job

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place in the queue for a document that is coming in. Raises `RefusedError`."""
        self.require_room()
        with self._lock:
            waiting = sum(job.state == "waiting" for job in self._jobs.values()) + self._coming
            if waiting >= self.limits.waiting:
                raise TooManyError(
                    f"The queue is full with {counted(waiting, 'document')}; try again later."
                )
            self._coming += 1
        try:
            yield
        finally:
            with self._lock:
                self._coming -= 1

    def require_room(self) -> None:
        """Raises `FullError`."""
        with self._lock:
            used = sum(job.size for job in self._jobs.values())
        if used > self.limits.disk:
            raise FullError("There is no more room for results; remove some, or try again later.")

    def job(self, id: str) -> Job:
        """Raises `KeyError` where there is none, or it was removed."""
        with self._lock:
            return self._jobs[id]

    def remove(self, id: str) -> None:
        """Cancel the job and delete its files. Raises `KeyError`."""
        with self._lock:
            job = self._jobs.pop(id)
        job.cancel()
        if not job.busy.locked():  # else who writes there does it
            shutil.rmtree(job.folder, ignore_errors=True)

    @contextmanager
    def writing(self, job: Job) -> Iterator[None]:
        """Hold the folder of ``job`` to write to it; one that was removed meanwhile goes after."""
        try:
            with job.busy:
                try:
                    yield
                finally:
                    job.measure()
        finally:
            with self._lock:
                kept = job.id in self._jobs
            if not kept:
                shutil.rmtree(job.folder, ignore_errors=True)

    def __enter__(self) -> Jobs:
        return self

    def __exit__(self, *exc: object) -> None:
        self._closed.set()
        with self._lock:
            jobs = list(self._jobs.values())
        for job in jobs:
            job.cancel()
        self._threads.shutdown(cancel_futures=True)
        self._folder.cleanup()

    def _convert(self, job: Job) -> None:
        with self.writing(job):
            if job._become("running"):
                self._read(job)
            shutil.rmtree(job.input.parent, ignore_errors=True)

    def _read(self, job: Job) -> None:
        """Never raises: what goes wrong is the job's error."""
        try:
            job.base.parent.mkdir()
            with exporting(
                job.input, job.base, job.settings, job.outputs, pictures=self._pictures
            ) as (conversion, reads):
                if conversion.selected > self.limits.pages:
                    raise RefusedError(
                        f"{job.name} has {conversion.selected} pages and at most "
                        f"{self.limits.pages} are taken; choose some of them."
                    )
                # Nothing is written yet: what is read carries no path of this machine.
                conversion.document.source = job.name
                conversion.reads = (_named(read, job) for read in conversion.reads)
                job.document, job.total = conversion.document, conversion.selected
                for page, picture in reads:
                    if job.state == "cancelled":
                        raise _Cancelled
                    if self._pictures:
                        job._add(page, picture)
                    else:
                        job._add(replace(page, regions=[]), None)
                    job.measure()
                    self.require_room()
            job._become("done")
        except _Cancelled:
            pass
        except DocparseError as error:
            job._become("failed", _without_path(str(error), job))
        except Exception as error:
            logger.exception("job %s failed", job.id)
            kind = type(error).__name__
            job._become("failed", f"{job.name} could not be converted: unexpected {kind}.")

    def _sweep(self) -> None:
        """Remove the jobs that ended too long ago, again and again."""
        while not self._closed.wait(min(self.limits.kept / 10, 60)):
            oldest = time.monotonic() - self.limits.kept
            with self._lock:
                old = [job.id for job in self._jobs.values() if job.ended and job.ended < oldest]
            for id in old:
                with suppress(KeyError):  # removed by its owner meanwhile
                    self.remove(id)


class _Cancelled(Exception):  # noqa: N818
    """Ends a conversion that nobody wants any more; nothing of it is kept."""


def _named(read: PageRead, job: Job) -> PageRead:
    page = read.page
    page.error = page.error and _without_path(page.error, job)
    page.warnings = [_without_path(warning, job) for warning in page.warnings]
    return read


def _without_path(message: str, job: Job) -> str:
    return message.replace(str(job.input), job.name)


def safe_name(name: str) -> str:
    """The last part of ``name``, of letters, digits and plain punctuation: short enough for
    every file system, never hidden, never empty."""
    last = re.split(r"[/\\]", name)[-1]
    stem, dot, suffix = _UNSAFE.sub("_", last).strip(" ._-").rpartition(".")
    if not dot:
        stem, suffix = suffix, ""
    return f"{_cut(stem[:60], 180).rstrip(' .') or 'document'}{dot}{_cut(suffix, 9)}"


def _cut(text: str, size: int) -> str:
    """The beginning of ``text``, of at most ``size`` bytes in UTF-8."""
    return text.encode()[:size].decode(errors="ignore")


def archive(jobs: Iterable[Job], path: Path) -> None:
    """A zip file at ``path``: a folder for each of ``jobs`` that is done, with all its outputs."""
    done = [job for job in jobs if job.state == "done"]
    names = output_names([Path(job.name) for job in done])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for job, name in zip(done, names, strict=True):
            folder = job.base.parent
            for file in sorted(folder.rglob("*")):
                zipped.write(file, Path(name) / file.relative_to(folder))


def _copy(upload: BinaryIO, path: Path, limit: int, name: str) -> None:
    """Raises `TooLargeError` once more than ``limit`` bytes came."""
    copied = 0
    with path.open("wb") as file:
        while block := upload.read(_BLOCK):
            copied += len(block)
            if copied > limit:
                most = f"{limit >> 20} MB" if limit >> 20 else counted(limit, "byte")
                raise TooLargeError(f"{name} is larger than {most}, the most that is taken.")
            file.write(block)
