"""Samples with bytes flipped, cut out or cut off: every one is converted, or refused in a sentence.

    python -m benchmarks.fuzz [--cases 500] [--seed 0] [FILE ...]

Counts what became of the cases: converted whole, with pages that failed, refused. A crash, a hang
beyond the deadline or an error that is not one of docparse's own ends the run with its case.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from hsd_docparse import InputError, parse
from hsd_docparse.export import output_files
from hsd_docparse.render import FORMATS

DEADLINE = 30.0
"""Seconds a page; a whole file may take as many for each of its pages."""


def damaged(data: bytes, rng: random.Random) -> bytes:
    """``data`` cut off, with a piece cut out, or with up to a hundred bytes changed."""
    kind = rng.randrange(3)
    if kind == 0:
        return data[: rng.randrange(len(data))]
    if kind == 1:
        start = rng.randrange(len(data))
        return data[:start] + data[start + rng.randrange(1, 2000) :]
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 100)):
        changed[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(changed)


def cases(files: Sequence[Path], count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Name of each case, and its bytes; every file in turn."""
    for number in range(count):
        path = files[number % len(files)]
        rng = random.Random(f"{seed} {number} {path.name}")
        yield f"{number}-{path.name}", damaged(path.read_bytes(), rng)


def outcome(path: Path) -> str:
    """What becomes of a damaged file; raises whatever is not meant to happen."""
    try:
        document = parse(path, mode="draft", deadline=DEADLINE)
    except InputError as error:
        if str(path) not in str(error):
            raise  # a sentence that names no file helps nobody
        return "refused"
    try:
        with output_files(path, list(FORMATS)) as streams:
            writers = [FORMATS[name].writer(streams[name], document) for name in FORMATS]
            for writer in writers:
                for page in document.pages:
                    writer.write(page, {})
                writer.finish()
    except InputError as error:
        if str(path) not in str(error):
            raise
        return "converted, but to no PDF"
    lost = [page.error for page in document.pages if page.error]
    if any("longer than" in error for error in lost):
        return "page took too long"
    if any("crashed" in error for error in lost):
        return "page crashed its reader"
    return "page lost" if lost else "converted"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    files = arguments.files or sorted(
        path
        for path in Path("samples").iterdir()
        if path.suffix in (".pdf", ".jpg", ".png", ".tif")
    )
    counts: Counter[str] = Counter()
    slowest = 0.0, ""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in cases(files, arguments.cases, arguments.seed):
            path = Path(folder) / name
            path.write_bytes(data)
            began = time.perf_counter()
            try:
                result = outcome(path)
            except BaseException:
                kept = Path(tempfile.gettempdir()) / name
                kept.write_bytes(data)
                print(f"This case is kept as {kept}", file=sys.stderr)
                raise
            counts[result] += 1
            slowest = max(slowest, (time.perf_counter() - began, name))
            for made in Path(folder).iterdir():
                made.unlink()
    print(f"{sum(counts.values())} cases of {len(files)} files")
    for result, count in counts.most_common():
        print(f"{count:5d} {result}")
    print(f"slowest: {slowest[1]}, {slowest[0]:.1f} s")


if __name__ == "__main__":
    main()
