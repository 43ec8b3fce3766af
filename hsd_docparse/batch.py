"""Converts a folder: a tree of documents becomes the same tree of outputs.

What is to be done, and what has been done, is in the `State` beside the outputs. `run` looks at
the folder and keeps a `Pool` of workers busy until everything is done; `work` is what one of them
does. When a run or a worker is killed, at any moment, the next one goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from glob import escape
from pathlib import Path
from threading import Event
from typing import Any, Protocol

from hsd_docparse.convert import Settings
from hsd_docparse.errors import StateError, sentence
from hsd_docparse.export import Outputs, exporting, output_paths
from hsd_docparse.render import FORMATS
from hsd_docparse.report import write_report
from hsd_docparse.state import Claim, Lock, Outcome, PageOutcome, Signature, State
from hsd_docparse.tree import REPORT, Found, Look, Tree

LOOK_EVERY = 2.0
"""Seconds from one look at a watched folder to the next."""
_TICK = 0.2
"""Seconds from one look at the workers to the next."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """A folder to convert to ``out``. With ``force``, files that no job wrote are overwritten."""

    folder: Path
    out: Path
    settings: Settings
    outputs: Outputs
    force: bool = False
    debug: bool = False

    def described(self) -> dict[str, Any]:
        """All options that can change an output. The password is none: it decides whether a file
        can be read, and what failed is tried again by the next run."""
        options = asdict(replace(self.settings, password=None))
        del options["password"]
        outputs = replace(self.outputs, formats=sorted(self.outputs.formats))
        return options | asdict(outputs)

    @property
    def digest(self) -> str:
        """The same for jobs whose outputs are the same."""
        return hashlib.sha256(json.dumps(self.described()).encode()).hexdigest()

    @property
    def suffixes(self) -> list[str]:
        figures = [".figures"] if self.outputs.figures else []
        return [FORMATS[name].suffix for name in self.outputs.formats] + figures

    def files(self, name: str) -> list[Path]:
        """The files that the document of that output name becomes."""
        return list(output_paths(self.out / name, self.outputs.formats).values())


class Pool(Protocol):
    """Workers that convert what waits."""

    def step(self, state: State) -> None:
        """Called several times a second: see to it that those who ended are replaced."""
        ...

    def stop(self) -> None:
        """End all workers; what they have not finished is left to the next run."""
        ...


def run(job: Job, pool: Pool, show: Callable[[State, Look], None], *, watch: bool = False) -> None:
    """Convert the folder with the workers of ``pool``, and write the report. ``show`` is called
    several times a second. With ``watch`` it goes on until a `KeyboardInterrupt`, and takes a file
    once it has not changed for `LOOK_EVERY` seconds. Raises `StateError` where ``out`` cannot be
    used."""
    tree = Tree(job.folder, job.out, job.suffixes)
    with State(job.out) as state:
        state.begin(job.folder, force=job.force)
        _check_report(job, state)
        state.again(_without_outputs(job, state), "its output is gone")
        look, looked = tree.look(), time.monotonic()
        _plan(job, state, look, {} if watch else look.found)
        try:
            while True:
                pool.step(state)
                show(state, look)
                if not watch and state.is_settled(job.digest):
                    break
                time.sleep(_TICK)
                if watch and time.monotonic() >= looked + LOOK_EVERY:
                    before, look, looked = look, tree.look(), time.monotonic()
                    _plan(job, state, look, before.found)
        finally:
            pool.stop()
            state.release_dead(blame=False)
            show(state, look)
            write_report(job.out / REPORT, state, job.described(), job.files, look)


def _check_report(job: Job, state: State) -> None:
    if (job.out / REPORT).exists() and not state.owns(REPORT) and not job.force:
        raise StateError(
            f"{job.out / REPORT} exists and is not the report of such a job; name another folder "
            "with -o, or add --force."
        )
    state.own("", [REPORT])


def _without_outputs(job: Job, state: State) -> list[str]:
    return [
        row["path"]
        for row in state.documents()
        if row["state"] == "done" and not all(file.exists() for file in job.files(row["name"]))
    ]


def _plan(job: Job, state: State, look: Look, before: Mapping[str, Found]) -> None:
    """Have converted what is new or has changed, and has not gone on changing since ``before``."""
    known = {row["path"]: row for row in state.documents()}
    if not look.unreadable:  # a share that is away for a moment comes back
        state.forget(known.keys() - look.found.keys())
    planned = []
    for path, found in look.found.items():
        row = known.get(path)
        signature = found.signature
        if path not in before or before[path].signature != signature:
            if row is None:
                continue
            signature = Signature(row["size"], row["mtime"])
        elif row and row["state"] == "done" and signature != (row["size"], row["mtime"]):
            with suppress(OSError):  # the conversion will say so
                state.touched(path, content_digest(job.folder / path), signature)
        planned.append((path, found.name, signature))
    state.plan(planned, job.digest)


def take(job: Job, state: State, worker: str, *, fresh: bool = False) -> Claim | None:
    """Claim a document whose outputs may be written; those that would overwrite somebody else's
    files fail. None when nothing waits, or with ``fresh`` nothing but what ended a process."""
    while claim := state.claim(worker, job.digest, fresh=fresh):
        there = _there(job, claim.name)
        foreign = [path for file, paths in there.items() if not state.owns(file) for path in paths]
        if not foreign or job.force:
            state.own(claim.path, there)
            return claim
        error = f"{foreign[0]} exists and was not written by this job; --force overwrites it."
        state.finish(claim, Outcome(claim.signature, None, 0, 0.0, error))
    return None


def _there(job: Job, name: str) -> dict[str, list[Path]]:
    """What is written of a document, by the path below OUT: what is there of it already."""
    base = job.out / name
    there = {path: [path] for path in job.files(name)}
    if job.outputs.figures:
        folder = base.with_name(f"{base.name}.figures")
        there[folder] = [folder]
    if job.outputs.layouts:
        pictures = base.parent.glob(f"{escape(base.name)}.page-*.layout.png")
        there[base.with_name(f"{base.name}.page-N.layout.png")] = list(pictures)
    return {
        file.relative_to(job.out).as_posix(): [path for path in paths if path.exists()]
        for file, paths in there.items()
    }


def convert(job: Job, claim: Claim, on_page: Callable[[PageOutcome], None]) -> Outcome:
    """Convert a document; ``on_page`` gets each page once it is written. What goes wrong is in the
    outcome, but for a `KeyboardInterrupt`."""
    path, base = job.folder / claim.path, job.out / claim.name
    began = time.perf_counter()
    signature = digest = error = None
    pages = 0
    try:
        status = path.stat()
        signature = Signature(status.st_size, status.st_mtime_ns)
        digest = content_digest(path)
        base.parent.mkdir(parents=True, exist_ok=True)
        with exporting(path, base, job.settings, job.outputs) as (_, reads):
            for page, _ in reads:
                pages += 1
                on_page(PageOutcome(page.number, page.error, len(page.warnings)))
    except Exception as problem:  # one document must not cost the others
        error = sentence(path, problem)
        logger.debug("%s failed\n%s", path, traceback.format_exc())
    return Outcome(signature, digest, pages, time.perf_counter() - began, error)


def work(job: Job, stopped: Event, *, idle: float = 0.2) -> None:
    """Convert what waits until ``stopped`` is set; a document that is not finished by then is
    given back. ``idle``: seconds between two looks for something to do."""

    def on_page(page: PageOutcome) -> None:
        state.add_page(claim, page)
        if stopped.is_set():
            raise KeyboardInterrupt

    lock = Lock(job.out)
    try:
        with State(job.out) as state:
            while not stopped.is_set():
                found = take(job, state, lock.token)
                if found is None:
                    stopped.wait(idle)
                    continue
                claim = found
                try:
                    outcome = convert(job, claim, on_page)
                except KeyboardInterrupt:
                    state.release(claim)
                    return
                state.finish(claim, outcome)
    finally:
        lock.release()


def content_digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
