"""Character error of docparse-mini on rendered, degraded paragraphs of unseen text and fonts.

    python -m models.evaluate models/data/held FOLDER_OF_WEIGHTS

Every held-out paragraph is one region, read by plain greedy decoding. Beside it stands the
reading of the recogniser alone, its lines joined by the drafter's rule. Intervals hold 95 % of the
error rates of bootstrap samples of the paragraphs.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein

from hsd_docparse.document import Box
from hsd_docparse.draft.joining import join_texts
from hsd_docparse.speculative import NoDraft, Request, run
from hsd_docparse.targets.mini import open_mini
from hsd_docparse.targets.mini.dialect import REGION, Hint, P
from hsd_docparse.targets.mini.target import MiniInputs, MiniTarget
from hsd_docparse.targets.mini.vision import Sight, geometry
from models.layouts import Block, Pool, reading_of

LEADING = 1.35
RESAMPLED = 2000


def paragraph(block: Block) -> tuple[Sight, str]:
    """A block set as a paragraph of its own: what the model sees, and what it says."""
    boxes = [
        Box(0, LEADING * i, line["width"], LEADING * i + 1.15) for i, line in enumerate(block.lines)
    ]
    frame = Box(0, 0, block.width, boxes[-1].y1)
    readings = [reading_of(line, block.glyphs, range(line["glyphs"])) for line in block.lines]
    text = ""
    for line in block.lines:
        whole = line["target"]
        if line["glued"]:
            text += whole[:-1] if whole.endswith("-") else whole
        else:
            text += whole + " "
    hints = np.array([(Hint.GOES_ON if i else P, i) for i in range(len(boxes))])
    return Sight(readings, geometry(boxes, frame), hints), text.strip()


@dataclass
class Score:
    """A paragraph: what was right, what the model said, what the recogniser read."""

    right: str
    said: str
    read: str


def read_paragraph(target: MiniTarget, block: Block) -> Score:
    sight, right = paragraph(block)
    inputs = MiniInputs(sight, REGION)
    (state,) = target.open([inputs])
    request = Request(state, NoDraft(), target.stops(inputs), processors=target.processors(inputs))
    run(target, [request])
    said = ""
    for line in target.dialect.read(request.output):
        said += ("" if line.glued else " ") + target.dialect.decode(line.tokens)
    return Score(right, said.strip(), join_texts(r.text for r in sight.readings))


def error_rate(pairs: Sequence[tuple[str, str]]) -> tuple[float, float, float]:
    """Characters that are wrong, for each that is right, of (right, read) pairs; and the ends of
    its 95 % interval."""
    wrong = np.array([Levenshtein.distance(right, read) for right, read in pairs])
    length = np.array([len(right) for right, _ in pairs])
    drawn = np.random.default_rng(0).integers(len(pairs), size=(RESAMPLED, len(pairs)))
    rates = wrong[drawn].sum(axis=1) / length[drawn].sum(axis=1)
    low, high = np.quantile(rates, [0.025, 0.975])
    return float(wrong.sum() / length.sum()), float(low), float(high)


def evaluate(held: Path, weights: str | None, paragraphs: int) -> list[Score]:
    """Read so many held-out paragraphs, and print both error rates."""
    target = open_mini(weights)
    pool = Pool(sorted(held.glob("*.json")))
    blocks = [block for block in pool.blocks["p"] if len(block.lines) > 1]
    chosen = random.Random(0).sample(blocks, min(paragraphs, len(blocks)))
    scores = [read_paragraph(target, block) for block in chosen]
    print(f"{len(scores)} paragraphs, {sum(len(score.right) for score in scores)} characters")
    for name, pairs in (
        ("docparse-mini", [(score.right, score.said) for score in scores]),
        ("recogniser alone", [(score.right, score.read) for score in scores]),
    ):
        rate, low, high = error_rate(pairs)
        print(f"{name}: character error {rate:.4f} ({low:.4f} to {high:.4f})")
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("held", type=Path)
    parser.add_argument("weights", nargs="?")
    parser.add_argument("--paragraphs", type=int, default=150)
    parser.add_argument("--worst", type=int, default=0, help="print so many of the worst")
    arguments = parser.parse_args()
    scores = evaluate(arguments.held, arguments.weights, arguments.paragraphs)
    scores.sort(key=lambda score: Levenshtein.normalized_distance(score.right, score.said))
    for score in scores[len(scores) - arguments.worst :]:
        print(f"\nright: {score.right}\nsaid:  {score.said}\nread:  {score.read}")


if __name__ == "__main__":
    main()
