"""Printed documents as docparse-mini meets them: the layout pipeline's own draft of each page, with
its own faults, and what is right.

    python -m models.documents models/data/corpus.jsonl models/data/pages --pages 1000
    python -m models.documents models/data/corpus.jsonl models/data/pages-held --pages 40 --held
    python -m models.documents --accuracy models/data/pages-held

Pages are composed (`models.composing`), printed (`models.printing`) and, most of them, scanned
(`models.scanning`); then the pipeline drafts them, the truth is put to its lines
(`models.aligning`), and both are stored (`models.printed_pages`). ``--accuracy`` says how often the
draft's own marks and order are right (`models.draft_accuracy`).
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from hsd_docparse.document import Page
from hsd_docparse.draft.recognizer import GLYPH
from hsd_docparse.errors import PageError
from hsd_docparse.targets.mini.pages import PageLines
from hsd_docparse.targets.mini.target import MiniTarget
from models.aligning import Truth, align, line_of_words
from models.composing import Stock, compose
from models.draft_accuracy import report
from models.printed_pages import SeenPage, store
from models.printing import Printed, Printer, Word, chromium, printer
from models.scanning import Scan, boxes_of, corners, scan

PAGES_A_SHARD = 20
DPI = 150
BORN_DIGITAL = 0.4
"""Share of the pages that are read from their text layer, the others from a picture."""
POOR = 0.1
"""A page is left out of which more than this share of the words was found in no line, or of the
letters was read as another text."""
CROOKED = 20.0
"""Degrees by which no page here is turned: the pipeline then took its head for its foot."""


class PoorPageError(Exception):
    """A page that is left out, and why in a word or two."""


def see(target: MiniTarget, printed: Printed, kind: str, rng: random.Random) -> SeenPage:
    """Draft a printed page, as it is or scanned, and put the truth to its lines. Its glyphs are
    its own alone. Raises `PoorPageError`."""
    from PIL import Image

    from hsd_docparse.draft import draft_page, upright_picture
    from hsd_docparse.sources import DamagedPage, open_source

    scanned: Scan | None = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page"
        if rng.random() < BORN_DIGITAL:
            path.write_bytes(printed.pdf)
        else:
            scanned = scan(printed.pdf, rng)
            Image.fromarray(scanned.pixels).save(path, "PNG")
        with open_source(path) as source:
            pages = source.pages()  # which close a page when the next is asked for
            opened = next(pages)
            if isinstance(opened, DamagedPage):
                raise PoorPageError("damaged")
            page = draft_page(opened, dpi=DPI)
            picture = upright_picture(opened, page, dpi=DPI)
    words = printed.words
    if scanned is not None:
        words = _scanned(words, scanned, page)
    covered = [target.covers(region) for region in page.regions]
    lines = PageLines.look(picture, page, target.dialect, covered)
    if not lines.lines:
        raise PoorPageError("no text")
    readings = [reading.text for reading in lines.readings]
    truths = align(words, printed.blocks, lines.boxes, readings)
    _check(truths, words, printed, page, covered)
    stored, first = [], 0
    for row, (reading, truth) in enumerate(zip(lines.readings, truths, strict=True)):
        line = {
            "box": [round(side, 2) for side in lines.boxes[row]],
            "read": reading.text,
            "sure": [round(p, 3) for p in reading.probabilities],
            "first": first,
            "glyphs": len(reading.text),
            "hint": lines.hints[row].tolist(),
        }
        stored.append(line | asdict(truth))
        first += len(reading.text)
    glyphs = [reading.glyphs.astype(np.float16).reshape(-1, GLYPH) for reading in lines.readings]
    return SeenPage(
        "text layer" if scanned is None else "scan",
        kind,
        round(page.width, 2),
        round(page.height, 2),
        stored,
        lines.of_region,
        lines.readable,
        np.concatenate(glyphs),
    )


def _scanned(words: Sequence[Word], scanned: Scan, page: Page) -> list[Word]:
    """Where the words are on the picture as the pipeline turned it."""
    from hsd_docparse.draft.orientation import turned_quads

    boxes = scanned.moved([word.box for word in words])
    turn = (page.rotation + 180) % 360 - 180
    if abs(turn) > CROOKED:
        raise PoorPageError("turned")
    if turn:
        height, width = scanned.pixels.shape[:2]
        size = (round(page.width), round(page.height))
        boxes = boxes_of(turned_quads(corners(boxes), turn, (width, height), size))
    return [replace(word, box=box) for word, box in zip(words, boxes, strict=True)]


def _check(
    truths: Sequence[Truth],
    words: Sequence[Word],
    printed: Printed,
    page: Page,
    covered: Sequence[bool],
) -> None:
    """Raise `PoorPageError` where the truth does not fit the draft."""
    letters = sum(len(truth.text) for truth in truths)
    unclear = sum(len(truth.text) for truth in truths if not truth.clear)
    if unclear > POOR * letters:
        raise PoorPageError("unclear")
    # Of what no model reads the box is enough.
    places = [
        box
        for region, known in zip(page.regions, covered, strict=True)
        for box in ([line.box for line in region.lines] if known else [region.box])
    ]
    running = [word for word in words if printed.blocks[word.block].kind != "figure"]
    lost = line_of_words(running, places).count(-1)
    if lost > POOR * len(running):
        raise PoorPageError("lost")


def make(corpus: Path, output: Path, pages: int, *, held: bool = False) -> None:
    """Write shards of about so many pages to ``output``; those that are there already stay."""
    from hsd_docparse.draft.recognizer import shared_recognizer
    from hsd_docparse.targets.mini import open_mini

    target = open_mini()
    stock = Stock(corpus, held, shared_recognizer().symbols)
    output.mkdir(parents=True, exist_ok=True)
    shards = [output / f"{index:04d}" for index in range(-(-pages // PAGES_A_SHARD))]
    missing = [path for path in shards if not path.with_suffix(".json").exists()]
    if not missing:
        return
    with printer() as press:
        for path in missing:
            began = time.time()
            count = min(PAGES_A_SHARD, pages - int(path.name) * PAGES_A_SHARD)
            seeds = [f"document {path.name} {n} {held}" for n in range(count)]
            kept, dropped = _shard(target, stock, press, seeds, held)
            store(path, kept, dropped)
            spent = (time.time() - began) / count
            print(
                f"{path.name}: {len(kept)} pages, {spent:.1f} s each, {dict(dropped)}", flush=True
            )


def _shard(
    target: MiniTarget, stock: Stock, press: Printer, seeds: Sequence[str], held: bool
) -> tuple[list[SeenPage], Counter[str]]:
    kept: list[SeenPage] = []
    dropped: Counter[str] = Counter()
    for seed in seeds:
        rng = random.Random(seed)
        composed = compose(stock, rng, held)
        printed = press.print(composed.html, composed.width, composed.height)
        try:
            kept.append(see(target, printed, composed.kind, rng))
        except PoorPageError as why:
            dropped[str(why)] += 1
        except PageError:
            dropped["unreadable"] += 1
    return kept, dropped


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path, nargs="?")
    parser.add_argument("output", type=Path, nargs="?")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--held", action="store_true", help="held-out text and fonts")
    parser.add_argument("--threads", type=int, default=0, help="keep to so many of the cores")
    parser.add_argument("--accuracy", type=Path, metavar="FOLDER", help="of the draft, there")
    arguments = parser.parse_args()
    if arguments.accuracy:
        print(report(arguments.accuracy))
        return
    if arguments.corpus is None or arguments.output is None:
        parser.error("name the corpus and the folder to write to")
    if chromium() is None:
        parser.error(
            "there is no Chromium to print with; install it (Debian: chromium) and playwright"
        )
    if arguments.threads:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, random.sample(cores, min(arguments.threads, len(cores))))
    make(arguments.corpus, arguments.output, arguments.pages, held=arguments.held)


if __name__ == "__main__":
    main()
