"""A folder job that is killed again and again: is every document converted once, and rightly?

    python -m benchmarks.kills [--documents 300] [--kills 10] [--workers 2] [--seed 0]

Makes a folder of small documents: PDFs in sub-folders, names that collide, an image, an encrypted
file and two broken ones. It is converted in draft mode, and the whole process group is killed with
SIGKILL at random moments; what another run leaves undisturbed is the reference.
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
from collections.abc import Sequence
from pathlib import Path

import pymupdf
from PIL import Image

from hsd_docparse.state import FILE, LOCKS, State
from hsd_docparse.tree import REPORT

AES_256 = 5
"""PyMuPDF's number for it."""
LATEST = 0.5
"""Seconds that pass, at most, from a number of finished documents to the kill."""


def make_documents(folder: Path, count: int) -> None:
    """``count`` documents, of which three cannot be converted, and two files that are none."""
    pages = count - 4
    for number in range(pages):
        name = f"part-{number % 5}/{number:04}.pdf" if number % 2 else f"{number:04}.pdf"
        _write(folder / name, f"Document {number}")
    _write(folder / "locked.pdf", "Secret", encryption=AES_256, user_pw="key")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nno more than that")
    (folder / "cut.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    Image.new("RGB", (60, 40), "white").save(folder / "0000.png")  # beside 0000.pdf
    (folder / "notes.txt").write_text("no document")
    (folder / ".hidden.pdf").write_bytes((folder / "0000.pdf").read_bytes())


def _write(path: Path, text: str, **options: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with pymupdf.open() as document:
        document.new_page(width=300, height=200).insert_text((40, 60), text)
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


def killed(folder: Path, out: Path, moments: Sequence[tuple[int, float]], *options: str) -> int:
    """Run and kill, each time when so many documents are done and so many seconds have passed,
    then run to the end. Returns how many kills hit."""
    hits = 0
    for count, delay in moments:
        process = start(folder, out, *options)
        running = wait_for(process, out, count)
        time.sleep(delay)
        if running and process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            hits += 1
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


def moments(documents: int, kills: int, rng: random.Random) -> list[tuple[int, float]]:
    """When to kill: after how many finished documents, and how many seconds later."""
    counts = sorted(rng.randrange(int(documents * 0.9)) for _ in range(kills))
    return [(count, rng.uniform(0, LATEST)) for count in counts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    when = moments(arguments.documents, arguments.kills, random.Random(arguments.seed))
    options = ("--workers", str(arguments.workers))
    with tempfile.TemporaryDirectory() as name:
        folder, calm, torn = (Path(name) / part for part in ("in", "calm", "torn"))
        make_documents(folder, arguments.documents)
        began = time.perf_counter()
        start(folder, calm, *options).wait()
        undisturbed = time.perf_counter() - began
        hits = killed(folder, torn, when, *options)
        disturbed = time.perf_counter() - began - undisturbed
        times, expected, got = finished(torn), outputs(calm), outputs(torn)
        with State(torn) as state:
            counts = state.counts()
            lost = sum("ended its process" in event.note for event in state.events())
    different = {file for file in expected | got if expected.get(file) != got.get(file)}
    print(f"{arguments.documents} documents, {arguments.workers} workers, {hits} kills")
    print(f"{undisturbed:.1f} s undisturbed, {disturbed:.1f} s with kills")
    print(f"{counts.done} done, {counts.failed} failed, {counts.waiting + counts.running} left")
    print(f"{lost} conversions cut short by a kill")
    print(f"{sum(count > 1 for count in times.values())} documents converted more than once")
    print(f"{len(different)} of {len(expected)} output files differ from the undisturbed run's")
    sys.exit(bool(different) or set(times.values()) != {1} or counts.waiting + counts.running > 0)


if __name__ == "__main__":
    main()
