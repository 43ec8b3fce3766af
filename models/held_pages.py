"""What draft, docparse-mini and both together make of held-out printed pages.

    python -m models.held_pages models/data/pages-held [FOLDER_OF_WEIGHTS]

Every page is read as a whole. ``text``: character error of the running text, line by line, so
that order has no part in it; ``order``: edit distance of the sequences of lines, as a share of the
longer; ``opening``: F1 of which lines open a block of which kind; ``headings``: the same of
headings alone. All over all pages.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein

from hsd_docparse.hsd import WEIGHT, aligned, decode, weighing
from hsd_docparse.speculative import Drafter, Greedy, Verifier
from hsd_docparse.targets.mini import open_mini
from hsd_docparse.targets.mini.certainty import certainty
from hsd_docparse.targets.mini.dialect import H1, H2, H3, SPECIAL, DialectLine, Hint
from hsd_docparse.targets.mini.pages import seam
from hsd_docparse.targets.mini.places import Places
from hsd_docparse.targets.mini.target import MiniInputs, MiniTarget
from hsd_docparse.targets.weighed import WeighedDraft
from models.layouts import Sample
from models.printed_pages import Pages, SeenPage

HEADINGS = frozenset({H1, H2, H3})


@dataclass
class Tally:
    """Sums over pages: wrong and all characters, wrong and all places in the order; of lines that
    open a block or a heading, how many were right, said, and there."""

    text: np.ndarray = field(default_factory=lambda: np.zeros(2))
    order: np.ndarray = field(default_factory=lambda: np.zeros(2))
    opening: np.ndarray = field(default_factory=lambda: np.zeros(3))
    headings: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def add(
        self, right: Sequence[DialectLine], said: Sequence[DialectLine], target: MiniTarget
    ) -> None:
        decoded = target.dialect.decode
        texts = {line.line: decoded(line.tokens) for line in said}
        for line in right:
            text = decoded(line.tokens)
            self.text += Levenshtein.distance(text, texts.get(line.line, "")), len(text)
        one, other = ([line.line for line in lines] for lines in (right, said))
        self.order += Levenshtein.distance(one, other), max(len(one), len(other))
        for sums, kinds in ((self.opening, range(1, len(SPECIAL))), (self.headings, HEADINGS)):
            there, found = (
                {(line.line, line.mark) for line in lines if line.mark in kinds}
                for lines in (right, said)
            )
            sums += len(there & found), len(found), len(there)

    def __str__(self) -> str:
        def f1(sums: np.ndarray) -> float:
            return float(2 * sums[0] / max(1, sums[1] + sums[2]))

        rates = [self.text[0] / self.text[1], self.order[0] / self.order[1]]
        f1s = f1(self.opening), f1(self.headings)
        return "text {:.4f}  order {:.4f}  opening {:.4f}  headings {:.4f}".format(*rates, *f1s)


def draft_of(sample: Sample, target: MiniTarget) -> list[DialectLine]:
    """The draft that the page's hints and readings tell of."""
    hints, readings = sample.sight.hints, sample.sight.readings
    rows = sorted(range(len(hints)), key=lambda row: hints[row, 1])
    rows = [row for row in rows if hints[row, 0] != Hint.FURNITURE]
    goes_on = [bool(hints[row, 0] == Hint.GOES_ON) for row in rows]
    lines: list[DialectLine] = []
    glued = False
    for row, follows, joined in zip(rows, goes_on, [*goes_on[1:], False], strict=True):
        following = readings[rows[len(lines) + 1]].text if joined else ""
        text, glue = seam(readings[row].text, following)
        mark = 0 if follows else int(hints[row, 0])
        lines.append(DialectLine(row, mark, target.dialect.encode(text), glued and follows))
        glued = glue
    return lines


def read(page: SeenPage, target: MiniTarget, weight: float) -> dict[str, list[DialectLine]]:
    """The page's lines as each way has them, ``right`` among them."""
    dialect = target.dialect
    sample = page.whole(dialect)
    inputs = MiniInputs(sample.sight, sample.tokens[0])
    lines = draft_of(sample, target)
    draft = dialect.write(lines)
    sure = certainty(draft, sample.sight.readings, dialect)
    weighed = WeighedDraft(draft, sure, [False] * len(draft), Places(draft, dialect))
    ways: dict[str, tuple[Drafter[int], Verifier[int]]] = {
        "lossless": (aligned([draft]), Greedy()),
        "ensemble": weighing(weighed, "ensemble", weight),
    }
    said = {"right": dialect.read(sample.tokens[1:]), "draft": lines}
    for way, parts in ways.items():
        said[way] = dialect.read(decode(target, [inputs], [parts])[0].output)
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("held", type=Path)
    parser.add_argument("weights", nargs="?")
    parser.add_argument("--weight", type=float, default=WEIGHT)
    arguments = parser.parse_args()
    target = open_mini(arguments.weights)
    tallies: dict[tuple[str, str], Tally] = {}
    counts: Counter[str] = Counter()
    for page in Pages(arguments.held).pages:
        said = read(page, target, arguments.weight)
        counts[page.source] += 1
        for way in ("draft", "lossless", "ensemble"):
            tallies.setdefault((page.source, way), Tally()).add(said["right"], said[way], target)
    for (source, way), tally in sorted(tallies.items()):
        print(f"{source:10} {counts[source]:4} pages  {way:9} {tally}")


if __name__ == "__main__":
    main()
