"""Folders are converted completely, once, and over whatever happens on the way."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_parts import fakes

from benchmarks import kills
from hsd_docparse import batch
from hsd_docparse.batch import Job, run, take
from hsd_docparse.convert import Settings
from hsd_docparse.errors import StateError
from hsd_docparse.export import Outputs
from hsd_docparse.processes import Processes
from hsd_docparse.state import LOCKS, MOST_ATTEMPTS, Lock, State
from hsd_docparse.tree import Look

__all__ = ["fakes"]

WORKERS = ("--workers", "2")


class Inline:
    """A pool that converts at once, in this thread."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.converted: list[str] = []

    def step(self, state: State) -> None:
        lock = Lock(self.job.out)
        while claim := take(self.job, state, lock.token):
            outcome = batch.convert(self.job, claim, lambda page: state.add_page(claim, page))
            state.finish(claim, outcome)
            self.converted.append(claim.path)
        lock.release()

    def stop(self) -> None: ...


@pytest.fixture
def job(tmp_path: Path, fakes: None, monkeypatch: pytest.MonkeyPatch) -> Job:
    """Of documents that begin with a page that says ``%PDF-``."""
    monkeypatch.setattr(batch, "_TICK", 0.01)
    monkeypatch.setattr(batch, "LOOK_EVERY", 0.05)
    folder, out = tmp_path / "in", tmp_path / "out"
    (folder / "sub").mkdir(parents=True)
    out.mkdir()
    for path, words in {"a.pdf": "one two", "b.pdf": "bug", "sub/c.pdf": "three"}.items():
        (folder / path).write_text(f"%PDF- {words}")
    return Job(folder, out, Settings(mode="draft"), Outputs(["md"]))


def converted(job: Job, **options: bool) -> list[str]:
    pool = Inline(job)
    run(job, pool, lambda state, look: None, **options)
    return pool.converted


def report(job: Job) -> dict[str, dict[str, object]]:
    data = json.loads((job.out / "report.json").read_text("utf-8"))
    return {document["path"]: document for document in data["documents"]}


def test_a_tree_becomes_the_same_tree(job: Job) -> None:
    (job.folder / "empty.pdf").touch()
    assert converted(job) == ["a.pdf", "b.pdf", "sub/c.pdf"]
    assert list(kills.outputs(job.out)) == ["a.md", "b.md", "sub/c.md"]
    assert "three" in (job.out / "sub/c.md").read_text()
    data = json.loads((job.out / "report.json").read_text("utf-8"))
    assert data["totals"]["skipped"] == 1
    assert (data["totals"]["pages"], data["totals"]["failed_pages"]) == (7, 1)
    assert report(job)["b.pdf"]["failed_pages"] == [
        {
            "page": 2,
            "error": "unexpected ZeroDivisionError (by nothing); --debug shows where it arose.",
        }
    ]


def test_only_what_changed_is_converted_again(job: Job) -> None:
    converted(job)
    assert converted(job) == []
    os.utime(job.folder / "a.pdf", (1, 1))
    assert converted(job) == []
    (job.folder / "a.pdf").write_text("%PDF- four")
    (job.folder / "new.pdf").write_text("%PDF- five")
    (job.out / "sub/c.md").unlink()
    assert converted(job) == ["a.pdf", "new.pdf", "sub/c.pdf"]
    assert "four" in (job.out / "a.md").read_text()


def test_other_settings_convert_again_but_not_a_password(job: Job) -> None:
    converted(job)
    settings = Settings(mode="draft", password="key")
    assert converted(Job(job.folder, job.out, settings, job.outputs)) == []
    assert "key" not in (job.out / "report.json").read_text("utf-8")
    html = Job(job.folder, job.out, job.settings, Outputs(["html"]))
    assert converted(html) == ["a.pdf", "b.pdf", "sub/c.pdf"]


def test_files_that_are_gone_leave_the_report_and_keep_their_outputs(job: Job) -> None:
    converted(job)
    (job.folder / "a.pdf").unlink()
    assert converted(job) == []
    assert list(report(job)) == ["b.pdf", "sub/c.pdf"]
    assert (job.out / "a.md").exists()


def test_a_folder_that_is_away_for_a_while_is_not_converted_again(job: Job) -> None:
    converted(job)
    job.folder.rename(job.folder.with_name("away"))
    assert converted(job) == []
    job.folder.with_name("away").rename(job.folder)
    assert converted(job) == []
    assert list(report(job)) == ["a.pdf", "b.pdf", "sub/c.pdf"]


def test_a_report_that_cannot_be_written_leaves_nothing(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hsd_docparse.report.os.replace", replace)
    with pytest.raises(OSError, match="No space"):
        converted(job)
    assert not list(job.out.glob("*report*"))


def test_a_new_file_that_takes_a_name_moves_the_other_one(job: Job) -> None:
    converted(job)
    (job.folder / "a.jpg").write_text("%PDF- new")
    assert sorted(converted(job)) == ["a.jpg", "a.pdf"]
    assert "new" in (job.out / "a.md").read_text()
    assert "one" in (job.out / "a.pdf.md").read_text()


@pytest.mark.parametrize("figures", [False, True])
def test_only_force_overwrites_what_others_wrote(job: Job, figures: bool) -> None:
    foreign = job.out / ("a.figures/mine.png" if figures else "a.md")
    foreign.parent.mkdir(exist_ok=True)
    foreign.write_text("mine")
    job = Job(job.folder, job.out, job.settings, Outputs(["md"], figures=figures))
    assert converted(job) == ["b.pdf", "sub/c.pdf"]
    assert foreign.read_text() == "mine"
    assert "--force overwrites it" in str(report(job)["a.pdf"]["error"])
    forced = Job(job.folder, job.out, job.settings, job.outputs, force=True)
    assert converted(forced) == ["a.pdf"]
    assert "one" in (job.out / "a.md").read_text()


def test_a_report_that_others_wrote_is_kept(job: Job) -> None:
    (job.out / "report.json").write_text("mine")
    with pytest.raises(StateError, match="--force"):
        converted(job)
    assert (job.out / "report.json").read_text() == "mine"


def test_pictures_of_layouts_are_known_as_the_jobs_own(job: Job) -> None:
    job = Job(job.folder, job.out, job.settings, Outputs(["md"], layouts=True))
    converted(job)
    (job.folder / "a.pdf").write_text("%PDF- four")
    assert converted(job) == ["a.pdf"]
    assert report(job)["a.pdf"]["state"] == "done"


def test_a_broken_document_costs_no_other(job: Job) -> None:
    (job.folder / "a.pdf").write_text("%PDF-1")
    settings = Settings(mode="draft", pages="2")
    converted(Job(job.folder, job.out, settings, job.outputs))
    states = {path: document["state"] for path, document in report(job).items()}
    assert states == {"a.pdf": "failed", "b.pdf": "done", "sub/c.pdf": "done"}
    assert "There is no page 2" in str(report(job)["a.pdf"]["error"])


def watched(job: Job, scenes: list[Callable[[], None]]) -> None:
    """Watch the folder; each of ``scenes`` follows once the one before has been converted."""
    upcoming = iter(scenes)
    quiet = time.monotonic()
    last = 0

    def show(state: State, look: Look) -> None:
        nonlocal quiet, last
        if len(state.events()) > last or not state.is_settled(job.digest):
            quiet, last = time.monotonic(), len(state.events())
        elif time.monotonic() > quiet + 4 * batch.LOOK_EVERY:
            quiet = time.monotonic()
            scene = next(upcoming, None)
            if scene is None:
                raise KeyboardInterrupt
            scene()

    with pytest.raises(KeyboardInterrupt):
        run(job, Inline(job), show, watch=True)


def test_watching_takes_what_is_new_or_changed(job: Job) -> None:
    new, old = job.folder / "sub/new.pdf", job.folder / "a.pdf"
    watched(
        job,
        [lambda: void(new.write_text("%PDF- new")), lambda: void(old.write_text("%PDF- changed"))],
    )
    assert "new" in (job.out / "sub/new.md").read_text()
    assert "changed" in (job.out / "a.md").read_text()
    assert report(job)["sub/new.pdf"]["state"] == "done"


def void(_: object) -> None: ...


def test_watching_leaves_a_file_alone_that_is_being_written(job: Job) -> None:
    growing = job.folder / "growing.pdf"
    seen: list[str] = []

    def show(state: State, look: Look) -> None:
        with growing.open("a") as file:
            file.write("%PDF- ")
        seen.extend(event.path for event in state.events(state.opened))
        if len(look.found) == 4 and look_changed(look):
            raise KeyboardInterrupt

    looks: list[int] = []

    def look_changed(look: Look) -> bool:
        looks.append(look.found["growing.pdf"].signature.size)
        return len(set(looks)) > 4

    with pytest.raises(KeyboardInterrupt):
        run(job, Inline(job), show, watch=True)
    assert "a.pdf" in seen
    assert "growing.pdf" not in seen


# From here on with real processes and real documents.


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("folder") / "in"
    kills.make_documents(folder, 30)
    return folder


@pytest.fixture(scope="module")
def undisturbed(folder: Path) -> dict[str, bytes]:
    out = folder.parent / "undisturbed"
    assert kills.start(folder, out, *WORKERS).wait() == 1
    return kills.outputs(out)


def is_complete(out: Path) -> bool:
    """Whether everything is converted, but for the three that cannot be, and once."""
    with State(out) as state:
        counts = state.counts()
    assert set(kills.finished(out).values()) == {1}
    return (counts.done, counts.failed, counts.documents) == (27, 3, 30)


@pytest.fixture
def process(folder: Path, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = kills.start(folder, tmp_path / "out", *WORKERS)
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_a_job_that_is_killed_goes_on_where_it_stopped(
    folder: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    rng = random.Random(1)
    moments = [
        kills.Kill(3, 0.2, "group"),
        kills.Kill(9, 0.1, "command"),
        kills.Kill(18, 0.3, "group"),
    ]
    hits = kills.killed(folder, tmp_path / "out", moments, rng, *WORKERS)
    assert hits == {"group": 2, "command": 1}
    assert is_complete(tmp_path / "out")
    assert kills.outputs(tmp_path / "out") == undisturbed


def test_two_jobs_at_once_share_the_documents(
    folder: Path, undisturbed: dict[str, bytes], tmp_path: Path, process: subprocess.Popen[bytes]
) -> None:
    other = kills.start(folder, tmp_path / "out")
    assert (process.wait(), other.wait()) == (1, 1)
    assert is_complete(tmp_path / "out")
    assert kills.outputs(tmp_path / "out") == undisturbed


def test_workers_and_readers_that_are_killed_cost_nothing_but_time(
    undisturbed: dict[str, bytes], tmp_path: Path, process: subprocess.Popen[bytes]
) -> None:
    victims: list[kills.Victim] = ["worker", "reader", "worker"]
    for count, victim in enumerate(victims, 3):
        assert kills.wait_for(process, tmp_path / "out", count)
        assert kills.strike(process, victim, random.Random(0))
    assert process.wait() == 1
    assert is_complete(tmp_path / "out")
    assert kills.outputs(tmp_path / "out") == undisturbed


def test_a_job_that_is_stopped_cleans_up(tmp_path: Path, process: subprocess.Popen[bytes]) -> None:
    assert kills.wait_for(process, tmp_path / "out", 3)
    process.send_signal(signal.SIGTERM)
    assert process.wait() not in (0, 3)
    with State(tmp_path / "out") as state:
        assert state.counts().running == 0
        assert all(row["attempts"] <= 1 for row in state.documents())
    assert [path.name for path in (tmp_path / "out" / LOCKS).iterdir()] == ["door"]
    assert not list((tmp_path / "out").rglob("*.part"))
    data = json.loads((tmp_path / "out/report.json").read_text("utf-8"))
    assert data["totals"]["done"] >= 3


def test_watching_ends_cleanly(folder: Path, tmp_path: Path) -> None:
    process = kills.start(folder, tmp_path / "out", "--watch")
    assert kills.wait_for(process, tmp_path / "out", 1)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 0
    assert (tmp_path / "out/report.json").exists()


def test_workers_that_cannot_work_end_the_job(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hsd_docparse.processes.PROGRAM", "raise SystemExit(7)")
    (tmp_path / "out").mkdir()
    job = Job(folder, tmp_path / "out", Settings(mode="draft"), Outputs(["md"]))
    with pytest.raises(StateError, match="exit status 7"):
        run(job, Processes(job, 1), lambda state, look: None)


def test_a_document_that_keeps_ending_its_worker_fails(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deadly = (
        "import os; from hsd_docparse import batch, processes\n"
        "convert = batch.convert\n"
        "def deadly(job, claim, on_page):\n"
        "    return os._exit(9) if '0002' in claim.path else convert(job, claim, on_page)\n"
        "batch.convert = deadly; processes.main()"
    )
    monkeypatch.setattr("hsd_docparse.processes.PROGRAM", deadly)
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    for name in ("0000.pdf", "0002.pdf"):
        (tmp_path / "in" / name).write_bytes((folder / name).read_bytes())
    job = Job(tmp_path / "in", tmp_path / "out", Settings(mode="draft"), Outputs(["md"]))
    run(job, Processes(job, 1), lambda state, look: None)
    assert report(job)["0000.pdf"]["state"] == "done"
    assert report(job)["0002.pdf"]["attempts"] == MOST_ATTEMPTS
    assert "was given up" in str(report(job)["0002.pdf"]["error"])
