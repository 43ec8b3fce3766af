"""Printed pages as they are stored: what docparse-mini sees of each, and what is right."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsd_docparse.document import Box
from hsd_docparse.draft.recognizer import GLYPH
from hsd_docparse.targets.mini.dialect import EOS, PAGE, REGION, Dialect, DialectLine
from hsd_docparse.targets.mini.vision import Sight, geometry
from models.layouts import Sample, reading_of

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


def store(path: Path, kept: Sequence[SeenPage], dropped: Mapping[str, int]) -> None:
    """Write a shard, and why others are not in it; ``path`` has no suffix."""
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
