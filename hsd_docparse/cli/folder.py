"""``docparse FOLDER``: converts folders, and shows how far it is."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from hsd_docparse.batch import Job, Pool, run
from hsd_docparse.cli.tally import CONVERTED, FILE_FAILED, PAGE_FAILED, Tally, remarks, worst
from hsd_docparse.errors import DocparseError, sentence
from hsd_docparse.export import output_names
from hsd_docparse.processes import Processes
from hsd_docparse.state import FILE, Counts, Event, State
from hsd_docparse.tree import Look


@dataclass(frozen=True)
class Crew:
    """Who converts folders: ``workers`` processes, or as many actors of the Ray cluster at the
    address ``ray``; with ``watch`` they go on until they are stopped."""

    workers: int = 1
    ray: str | None = None
    watch: bool = False


@dataclass
class Seen:
    """The last that was heard of a job."""

    counts: Counts | None = None
    look: Look | None = None


def job_folders(paths: list[Path], output: Path) -> list[tuple[Path, Path]]:
    """Where each folder among ``paths`` goes: one alone to ``output`` itself, others below it
    under their names."""
    folders = [path for path in paths if path.is_dir()]
    if len(paths) == 1:
        return [(folder, output) for folder in folders]
    names = output_names([Path(folder.resolve().name) for folder in folders])
    return [(folder, output / name) for folder, name in zip(folders, names, strict=True)]


def run_folders(jobs: list[Job], crew: Crew, console: Console) -> int:
    """Convert folders one after the other; returns the exit code, over all runs so far."""
    # A service is stopped by this signal: as by Ctrl-C, nothing is lost.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    code = CONVERTED
    for job in jobs:
        try:
            code = worst(code, _run_folder(job, crew, console))
        except (DocparseError, OSError) as error:
            code = FILE_FAILED
            console.print(sentence(job.out, error))
        except sqlite3.Error as error:
            code = FILE_FAILED
            console.print(f"{job.out / FILE} cannot be written: {error}.")
    return code


def _run_folder(job: Job, crew: Crew, console: Console) -> int:
    job.out.mkdir(parents=True, exist_ok=True)
    seen = Seen()
    try:
        with _pool(job, crew) as pool, _display(job, console, seen) as show:
            run(job, pool, show, watch=crew.watch)
    except KeyboardInterrupt:
        if not crew.watch:
            raise
    finally:
        if seen.look and seen.counts:
            for line in seen.look.unreadable:
                console.print(line)
            console.print(summary(job, seen.counts, seen.look))
    if crew.watch or not (seen.look and seen.counts):
        return CONVERTED
    if seen.counts.failed or seen.look.unreadable:
        return FILE_FAILED
    return PAGE_FAILED if seen.counts.failed_pages else CONVERTED


@contextmanager
def _pool(job: Job, crew: Crew) -> Iterator[Pool]:
    if crew.ray:
        from hsd_docparse.cluster import ray_actors

        with ray_actors(job, crew.workers, crew.ray) as actors:
            yield actors
    else:
        yield Processes(job, crew.workers)


@contextmanager
def _display(job: Job, console: Console, seen: Seen) -> Iterator[Callable[[State, Look], None]]:
    """Prints what fails, and moves a bar on where somebody looks."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files, {task.fields[pages]} pages, {task.fields[failed]} failed"),
        TimeRemainingColumn(),
    )
    unseen = not console.is_terminal
    heard: int | None = None  # id of the last event
    with Progress(*columns, console=console, transient=True, disable=unseen) as bar:
        task = bar.add_task(escape(str(job.folder)), total=None, start=False, pages=0, failed=0)

        def show(state: State, look: Look) -> None:
            nonlocal heard
            counts = state.counts()
            if heard is None:
                heard = state.opened
                bar.reset(task, total=counts.documents, completed=counts.done + counts.failed)
            for event in state.events(heard):
                heard = event.id
                for line in _remarks(job, state, event):
                    console.print(line)
            bar.update(
                task,
                total=counts.documents,
                completed=counts.done + counts.failed,
                pages=counts.pages,
                failed=counts.failed,
            )
            seen.counts, seen.look = counts, look

        yield show


def _remarks(job: Job, state: State, event: Event) -> Iterator[str]:
    """What a user should know at once."""
    path = job.folder / event.path
    if event.state == "failed":
        yield event.note if str(path) in event.note else f"{path}: {event.note}"
    elif event.state == "done":
        tally = Tally()
        for number, error in state.failed_pages(event.path):
            tally.errors.setdefault(error, []).append(number)
        yield from remarks(path, tally)


def summary(job: Job, counts: Counts, look: Look) -> Table:
    """What became of a folder, over all runs so far."""
    table = Table("", "files", "pages", title=f"{job.folder} → {job.out}", title_justify="left")
    table.columns[1].justify = table.columns[2].justify = "right"
    table.add_row("converted", str(counts.done), str(counts.pages - counts.failed_pages))
    table.add_row("failed", str(counts.failed), str(counts.failed_pages))
    if left := counts.waiting + counts.running:
        table.add_row("left", str(left), "")
    table.add_row("no document", str(look.skipped), "")
    return table
