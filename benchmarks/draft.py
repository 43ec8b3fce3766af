"""What drafting a page costs, beside PyMuPDF's own Markdown of the same page, in one run, in turn.

    python -m benchmarks.draft FILES... [--repeats 2]

CPU-seconds a page, opening and rendering included, all threads counted; the cheapest of the
repeats, since other work on the machine only adds. The first page of each kind is read once
before, so that no network is loaded on the clock. PyMuPDF has a process to itself: drafting makes
its layout analysis cheaper where both run in one. Peak memory is that of a fresh process that
converts all files one after the other.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import pymupdf

from hsd_docparse.document import Page
from hsd_docparse.draft import draft_page
from hsd_docparse.sources import DamagedPage, open_source


@dataclass
class Row:
    """A page; seconds of CPU time, ``peer`` None where the peer reads no text without OCR."""

    file: str
    number: int
    ocr: bool
    own: float
    peer: float | None


def drafted(file: str) -> Iterator[tuple[Page, float]]:
    """Every page of ``file`` and what it cost."""
    with open_source(file) as source:
        pages = iter(source.pages())
        while True:
            clock = time.process_time()
            page = next(pages, None)
            if page is None:
                return
            if not isinstance(page, DamagedPage):
                yield draft_page(page), time.process_time() - clock


def markdown(file: str, number: int) -> float:
    clock = time.process_time()
    with pymupdf.open(file) as document:
        document.to_markdown(pages=[number - 1], use_ocr=False)
    return time.process_time() - clock


def measure(files: Sequence[str], repeats: int) -> list[Row]:
    rows: dict[tuple[str, int], Row] = {}
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as other:
        for turn in range(1 + repeats):  # the first time is not counted
            for file in files:
                for page, seconds in drafted(file):
                    lines = [line for region in page.regions for line in region.lines]
                    ocr = any(line.source == "ocr" for line in lines)
                    peer = None if ocr else other.submit(markdown, file, page.number).result()
                    row = rows.setdefault(
                        (file, page.number), Row(file, page.number, ocr, float("inf"), peer)
                    )
                    row.own = min(row.own, seconds)
                    if peer is not None and row.peer is not None:
                        row.peer = min(row.peer, peer)
            if turn == 0:
                rows.clear()
    return list(rows.values())


def spread(values: Sequence[float]) -> str:
    return (
        f"median {statistics.median(values):.2f}, mean {statistics.mean(values):.2f} "
        f"({min(values):.2f} to {max(values):.2f})"
    )


def peak(files: Sequence[str]) -> int:
    """Megabytes that a process holds at most while it converts ``files``, its readers included."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "hsd_docparse", "--mode", "draft", "-o", folder]
        subprocess.run([*command, *files], check=False, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    memory = peak(arguments.files)
    rows = measure(arguments.files, arguments.repeats)
    kinds: dict[str, Callable[[Row], bool]] = {
        "text layer": lambda row: not row.ocr,
        "OCR": lambda row: row.ocr,
    }
    for kind, belongs in kinds.items():
        own = [row for row in rows if belongs(row)]
        if own:
            print(f"{kind}: {len(own)} pages, CPU-seconds a page: {spread([r.own for r in own])}")
        peers = [row.peer for row in own if row.peer is not None]
        if peers:
            print(f"  PyMuPDF to_markdown on the same pages: {spread(peers)}")
    print(f"peak memory: {memory} MB")


if __name__ == "__main__":
    main()
