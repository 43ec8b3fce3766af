"""Pictures of what docparse-mini reads worst, for the card.

    python -m models.failures models/data/corpus.jsonl docs/mini-failures

Held-out paragraphs in held-out fonts, degraded as for training, each read as a region. Writes the
lines of the worst of each few as a PNG, and prints what is right and what was said.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from rapidfuzz.distance import Levenshtein

from hsd_docparse.draft.recognizer import Recognizer
from hsd_docparse.targets.mini import open_mini
from models.evaluate import Score, read_paragraph
from models.layouts import Block
from models.render import drawn, fonts, seen

WIDTH = 700
"""Pixels of a picture, at most."""


def stacked(lines: list[NDArray[np.uint8]]) -> Image.Image:
    """The lines below each other on white."""
    width = max(line.shape[1] for line in lines)
    sheet = Image.new("RGB", (width, sum(len(line) for line in lines)), "white")
    y = 0
    for line in lines:
        sheet.paste(Image.fromarray(line), (0, y))
        y += len(line)
    return sheet.resize((WIDTH, WIDTH * sheet.height // width)) if width > WIDTH else sheet


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--paragraphs", type=int, default=60)
    parser.add_argument("--shown", type=int, default=4)
    arguments = parser.parse_args()
    with arguments.corpus.open(encoding="utf-8") as file:
        held = [
            block
            for line in file
            if (block := json.loads(line))["held"]
            and block["kind"] == "p"
            and 60 < len(block["text"]) < 240
        ]
    rng = random.Random("worst")
    choices, recognizer, target = fonts(held=True), Recognizer(), open_mini()
    read: list[tuple[float, Score, Image.Image]] = []
    for block in rng.sample(held, min(arguments.paragraphs, len(held))):
        picture = drawn(block, rng, choices)
        if picture is None:
            continue
        (stored,), glyphs = seen([picture], recognizer)
        score = read_paragraph(target, Block(block["kind"], stored["lines"], glyphs))
        wrong = Levenshtein.normalized_distance(score.right, score.said)
        read.append((wrong, score, stacked(picture.pictures)))
    read.sort(key=lambda each: -each[0])
    arguments.output.mkdir(parents=True, exist_ok=True)
    for number, (wrong, score, image) in enumerate(read[: arguments.shown], 1):
        image.convert("L").quantize(16).save(arguments.output / f"{number}.png", optimize=True)
        print(f"{number}.png, {wrong:.1%} wrong\nright: {score.right}\nsaid:  {score.said}")
        print(f"read:  {score.read}\n")


if __name__ == "__main__":
    main()
