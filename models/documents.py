"""Printed documents as docparse-mini meets them: the layout pipeline's own draft of each page, with
its own faults, and what is right.

    python -m models.documents models/data/corpus.jsonl models/data/pages --pages 1000
    python -m models.documents models/data/corpus.jsonl models/data/pages-held --pages 40 --held
    python -m models.documents --accuracy models/data/pages-held

Pages are composed (`models.composing`), printed (`models.printing`) and, most of them, scanned
(`models.scanning`); then the pipeline drafts them and the truth is put to its lines
(`models.aligning`). ``--accuracy`` says how often the draft's own marks and order are right.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsd_docparse.document import Box, Page
from hsd_docparse.draft.recognizer import GLYPH
from hsd_docparse.targets.mini.dialect import (
    EOS,
    PAGE,
    REGION,
    SPECIAL,
    Dialect,
    DialectLine,
    Hint,
)
from hsd_docparse.targets.mini.pages import PageLines
from hsd_docparse.targets.mini.target import MiniTarget
from hsd_docparse.targets.mini.vision import Sight, geometry
from models.aligning import Truth, align, line_of_words
from models.composing import Stock, compose
from models.layouts import Sample, reading_of
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
REGIONS = 0.35
"""Share of the samples that are single regions."""


@dataclass
class SeenPage:
    """A page as the model sees it, and the truth: its lines in visual order as they are stored,
    those of every region, and which regions are running text. ``source``: ``text layer`` or
    ``scan``."""

    source: str
    kind: str
    width: float
    height: float
    lines: list[dict[str, Any]]
    regions: list[list[int]]
    readable: list[int]
    glyphs: NDArray[np.float16]

    def whole(self, dialect: Dialect) -> Sample:
        frame = Box(0, 0, self.width, self.height)
        return self._sample(range(len(self.lines)), PAGE, frame, dialect)

    def region(self, region: int, dialect: Dialect) -> Sample:
        rows = self.regions[region]
        frame = Box(*self.lines[rows[0]]["box"])
        for row in rows:
            frame = frame.union(Box(*self.lines[row]["box"]))
        return self._sample(rows, REGION, frame, dialect)

    @property
    def spoken(self) -> list[int]:
        """Regions of running text of which the truth says something."""
        return [
            region
            for region in self.readable
            if any(self.lines[row]["rank"] >= 0 for row in self.regions[region])
        ]

    def _sample(self, rows: Sequence[int], prompt: int, frame: Box, dialect: Dialect) -> Sample:
        lines = [self.lines[row] for row in rows]
        readings = [reading_of(line, self.glyphs, range(line["glyphs"])) for line in lines]
        hints = np.array([line["hint"] for line in lines])
        hints[:, 1] = np.argsort(np.argsort(hints[:, 1]))
        boxes = [Box(*line["box"]) for line in lines]
        sight = Sight(readings, geometry(boxes, frame), hints)
        tokens, kept = [prompt], [0]
        for line, clear in written(lines, dialect):
            own = dialect.write([line])
            text = len(own) - len(line.tokens)
            kept += range(len(tokens), len(tokens) + (len(own) if clear else text))
            tokens += own
        kept.append(len(tokens))
        return Sample(sight, [*tokens, EOS], kept)


def written(lines: Sequence[dict[str, Any]], dialect: Dialect) -> list[tuple[DialectLine, bool]]:
    """What is right about these lines alone, each with whether its text can be read."""
    order = sorted(
        (i for i, line in enumerate(lines) if line["rank"] >= 0), key=lambda i: lines[i]["rank"]
    )
    result = []
    before = -1
    for at, place in enumerate(order):
        line = lines[place]
        follows = line["rank"] == before + 1 and at > 0
        mark = line["mark"] if follows else line["opening"]
        text = line["text"]
        if at + 1 < len(order) and line["hyphen"]:
            following = lines[order[at + 1]]
            if following["glued"] and following["rank"] == line["rank"] + 1:
                text = text[:-1]
        glued = line["glued"] and follows
        result.append((DialectLine(place, mark, dialect.encode(text), glued), line["clear"]))
        before = line["rank"]
    return result


class Pages:
    """The pages of some shards."""

    def __init__(self, folder: Path) -> None:
        self.pages: list[SeenPage] = []
        self.dropped: Counter[str] = Counter()
        for path in sorted(folder.glob("*.json")):
            stored = json.loads(path.read_text("utf-8"))
            self.dropped.update(stored["dropped"])
            if stored["pages"]:  # an empty file has nothing to map
                glyphs = np.load(path.with_suffix(".npy"), mmap_mode="r")
                self.pages += [SeenPage(**page, glyphs=glyphs) for page in stored["pages"]]

    def draw(self, dialect: Dialect, rng: random.Random) -> Sample:
        """A page, or (about a third of the time) a region of one."""
        page = rng.choice(self.pages)
        if page.spoken and rng.random() < REGIONS:
            return page.region(rng.choice(page.spoken), dialect)
        return page.whole(dialect)


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
            _store(path, kept, dropped)
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
    return kept, dropped


def _store(path: Path, kept: Sequence[SeenPage], dropped: Counter[str]) -> None:
    pages, first = [], 0
    for page in kept:
        fields = {k: v for k, v in vars(page).items() if k != "glyphs"}
        lines = [line | {"first": line["first"] + first} for line in page.lines]
        pages.append(fields | {"lines": lines})
        first += len(page.glyphs)
    glyphs = [page.glyphs for page in kept] or [np.zeros((0, GLYPH), np.float16)]
    np.save(path.with_suffix(".npy"), np.concatenate(glyphs))
    stored = json.dumps({"dropped": dropped, "pages": pages}, ensure_ascii=False)
    # What is there under its name is whole.
    path.with_suffix(".new").write_text(stored, "utf-8")
    path.with_suffix(".new").replace(path.with_suffix(".json"))


def accuracy(pages: Sequence[SeenPage]) -> dict[str, tuple[int, int]]:
    """How often the draft is right, as (right, all): the ``mark`` of a line that it says opens a
    block; a line of which it says that it ``goes on``; that a line is running text at all; and that
    a line follows the one before it, in the same region (``within``) or the next (``between``)."""
    counts: dict[str, tuple[int, int]] = {}

    def count(what: str, right: bool) -> None:
        good, every = counts.get(what, (0, 0))
        counts[what] = good + right, every + 1

    for page in pages:
        owner = {row: n for n, rows in enumerate(page.regions) for row in rows}
        drafted = sorted(range(len(page.lines)), key=lambda row: page.lines[row]["hint"][1])
        drafted = [row for row in drafted if page.lines[row]["hint"][0] != Hint.FURNITURE]
        before = None
        for row in drafted:
            line = page.lines[row]
            hint, spoken = line["hint"][0], line["rank"] >= 0
            count("running text", spoken)
            if hint == Hint.GOES_ON:
                count("goes on", spoken and line["mark"] == 0)
            else:
                right = spoken and line["mark"] == hint
                count("mark", right)
                count(f"mark {SPECIAL[hint]}", right)
            rank = -1 if before is None else page.lines[before]["rank"]
            place = "within" if before is not None and owner[before] == owner[row] else "between"
            follows = spoken and line["rank"] == rank + 1 and (before is None or rank >= 0)
            count(f"order {place} regions", follows)
            count("order", follows)
            before = row
    return counts


def report(folder: Path) -> str:
    """The draft's accuracy on the pages in ``folder``, by where its text is from."""
    every = Pages(folder)
    rows = [f"{len(every.pages)} pages; left out: {dict(every.dropped) or 'none'}"]
    for source in ("text layer", "scan"):
        pages = [page for page in every.pages if page.source == source]
        rows.append(f"{source}: {len(pages)} pages")
        for what, (right, count) in sorted(accuracy(pages).items()):
            rows.append(f"  {what:24} {right / count:.3f}  of {count}")
    return "\n".join(rows)


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
