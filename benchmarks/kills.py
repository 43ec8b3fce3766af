"""A folder job that is killed again and again: is every document converted once, and rightly?

    python -m benchmarks.kills [--documents 300] [--kills 10] [--workers 2] [--ray] [--seed 0]

Makes a folder of small documents: single pages of the samples, PDFs and pictures, in sub-folders,
with names that collide, an encrypted file and two broken ones. It is converted in draft mode, and
at random moments something is killed with SIGKILL: the whole process group, the command alone, a
worker, or the reader of one. What another run leaves undisturbed is the reference. Linux only.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import pymupdf
from PIL import Image

from hsd_docparse.state import FILE, LOCKS, State
from hsd_docparse.tree import REPORT

SAMPLES = Path(__file__).parents[1] / "samples"
AES_256 = 5
"""PyMuPDF's number for it."""
LATEST = 0.5
"""Seconds that pass, at most, from a number of finished documents to the kill."""
PICTURES_EVERY = 20
"""One document in so many is a picture."""

Victim = Literal["group", "command", "worker", "reader"]
COMMAND_LINES = {
    "worker": ("hsd_docparse.processes", "ray::Replica"),
    "reader": ("docparse.worker",),
}
"""How to tell the processes of a job."""


@dataclass(frozen=True)
class Kill:
    """What is killed ``delay`` seconds after ``count`` documents are done."""

    count: int
    delay: float
    victim: Victim


def make_documents(folder: Path, count: int) -> None:
    """``count`` documents of a few words each, of which three cannot be converted, and two files
    that are none."""
    pages = count - 4
    for number in range(pages):
        with pymupdf.open() as document:
            document.new_page(width=300, height=200)
            _save(document, folder / _name(number, "pdf"), f"Document {number}")
    with pymupdf.open() as document:
        document.new_page()
        _save(document, folder / "locked.pdf", "Secret", encryption=AES_256, user_pw="key")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nno more than that")
    (folder / "cut.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    Image.new("RGB", (60, 40), "white").save(folder / "0000.png")  # beside 0000.pdf
    (folder / "notes.txt").write_text("no document")
    (folder / ".hidden.pdf").write_bytes((folder / "0000.pdf").read_bytes())


def make_real_documents(folder: Path, count: int) -> None:
    """As `make_documents`, but for what the documents show: pages of the samples."""
    make_documents(folder, count)
    with pymupdf.open(SAMPLES / "report-scan.pdf") as document:
        pictures = [page.get_pixmap(dpi=100).pil_image() for page in document]
    pictures.append(Image.open(SAMPLES / "receipt.jpg").resize((750, 1000)))
    pages = [
        (path, number)
        for path in sorted(SAMPLES.glob("*.pdf"))
        if "scan" not in path.name
        for number in range(_page_count(path))
    ]
    for number in range(count - 4):
        if number % PICTURES_EVERY == 1:
            (folder / _name(number, "pdf")).unlink()
            turn = number // PICTURES_EVERY
            ending = ("png", "jpg", "tif")[turn % 3]
            pictures[turn % len(pictures)].convert("RGB").save(folder / _name(number, ending))
        elif number:
            path, page = pages[number % len(pages)]
            with pymupdf.open(path) as sample, pymupdf.open() as document:
                document.insert_pdf(sample, from_page=page, to_page=page)
                _save(document, folder / _name(number, "pdf"), f"Document {number}")


def _page_count(path: Path) -> int:
    with pymupdf.open(path) as document:
        return len(document)


def _name(number: int, ending: str) -> str:
    return f"part-{number % 5}/{number:04}.{ending}" if number % 2 else f"{number:04}.{ending}"


def _save(document: pymupdf.Document, path: Path, text: str, **options: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    document[0].insert_text((40, 30), text)
    document.save(path, **options)


def start(folder: Path, out: Path, *options: str) -> subprocess.Popen[bytes]:
    """``docparse FOLDER`` in draft mode, in a process group of its own."""
    command = [sys.executable, "-m", "hsd_docparse", str(folder), "-o", str(out)]
    return subprocess.Popen(
        [*command, "--mode", "draft", "-f", "md,json", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def finished(out: Path) -> Counter[str]:
    """How often each document was finished, by path."""
    if not (out / FILE).exists():
        return Counter()
    with State(out) as state:
        return Counter(event.path for event in state.events() if event.state == "done")


def wait_for(process: subprocess.Popen[bytes], out: Path, count: int) -> bool:
    """Wait until ``count`` documents are done; False where the run ends before."""
    while finished(out).total() < count:
        if process.poll() is not None:
            return False
        time.sleep(0.02)
    return True


def descendants(pid: int) -> Iterator[int]:
    """The processes that process ``pid`` has started, and those that they have."""
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found = children.read_text().split()
        except OSError:
            continue  # it has just ended
        for child in map(int, found):
            yield child
            yield from descendants(child)


def is_a(pid: int, victim: Victim) -> bool:
    try:
        command_line = Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False
    return any(part in command_line for part in COMMAND_LINES[victim])


def strike(process: subprocess.Popen[bytes], victim: Victim, rng: random.Random) -> bool:
    """Kill something of the job that ``process`` runs; False where there is no such thing."""
    if victim == "group":
        os.killpg(process.pid, signal.SIGKILL)
    elif victim == "command":
        process.kill()
    else:
        pids = [pid for pid in descendants(process.pid) if is_a(pid, victim)]
        if not pids:
            return False
        os.kill(rng.choice(pids), signal.SIGKILL)
        return True
    process.wait()
    return True


def killed(
    folder: Path, out: Path, kills: Sequence[Kill], rng: random.Random, *options: str
) -> Counter[Victim]:
    """Run with ``kills``, go on after each, to the end. Returns how often each victim was hit."""
    hits: Counter[Victim] = Counter()
    process = start(folder, out, *options)
    for kill in kills:
        if process.poll() is not None:
            process = start(folder, out, *options)
        running = wait_for(process, out, kill.count)
        time.sleep(kill.delay)
        if running and process.poll() is None:
            hits[kill.victim] += strike(process, kill.victim, rng)
    process.wait()
    start(folder, out, *options).wait()
    return hits


def outputs(out: Path) -> dict[str, bytes]:
    """What was written, without the report and the state."""
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name != REPORT and not path.name.startswith(FILE)
        if path.parent.name != LOCKS
    }


def random_kills(documents: int, kills: int, rng: random.Random) -> list[Kill]:
    """Every victim in turn, while documents are being converted."""
    victims: tuple[Victim, ...] = get_args(Victim)
    counts = sorted(rng.randrange(int(documents * 0.9)) for _ in range(kills))
    turns = [victims[turn % len(victims)] for turn in range(kills)]
    rng.shuffle(turns)
    return [
        Kill(count, rng.uniform(0, LATEST), victim)
        for count, victim in zip(counts, turns, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--ray", action="store_true", help="Actors of a local Ray cluster.")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    kills = random_kills(arguments.documents, arguments.kills, rng)
    options = ["--workers", str(arguments.workers), *(["--ray", "local"] if arguments.ray else [])]
    with tempfile.TemporaryDirectory() as name:
        folder, calm, torn = (Path(name) / part for part in ("in", "calm", "torn"))
        make_real_documents(folder, arguments.documents)
        began = time.perf_counter()
        start(folder, calm, *options).wait()
        undisturbed = time.perf_counter() - began
        hits = killed(folder, torn, kills, rng, *options)
        disturbed = time.perf_counter() - began - undisturbed
        times, expected, got = finished(torn), outputs(calm), outputs(torn)
        with State(torn) as state:
            counts = state.counts()
            lost = sum("ended its process" in event.note for event in state.events())
    different = {file for file in expected | got if expected.get(file) != got.get(file)}
    print(f"{arguments.documents} documents, {arguments.workers} workers, {hits.total()} kills")
    print(", ".join(f"{victim}: {count}" for victim, count in sorted(hits.items())))
    print(f"{undisturbed:.1f} s undisturbed, {disturbed:.1f} s with kills")
    print(f"{counts.done} done, {counts.failed} failed, {counts.waiting + counts.running} left")
    print(f"{lost} conversions cut short by a kill")
    print(f"{sum(count > 1 for count in times.values())} documents converted more than once")
    print(f"{len(different)} of {len(expected)} output files differ from the undisturbed run's")
    for file in sorted(different):
        print(f"  {file}")
    sys.exit(bool(different) or set(times.values()) != {1} or counts.waiting + counts.running > 0)


if __name__ == "__main__":
    main()
