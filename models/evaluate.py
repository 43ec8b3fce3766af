"""Character error of docparse-mini on rendered, degraded paragraphs of unseen text and fonts.

    python -m models.evaluate models/data/held FOLDER_OF_WEIGHTS

Every held-out paragraph is one region, read by plain greedy decoding. Beside it stands the
reading of the recogniser alone, its lines joined by the drafter's rule.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein

from hsd_docparse.document import Box
from hsd_docparse.draft.joining import join_texts
from hsd_docparse.speculative import NoDraft, Request, run
from hsd_docparse.targets.mini import open_mini
from hsd_docparse.targets.mini.dialect import REGION, Hint, P
from hsd_docparse.targets.mini.target import MiniInputs
from hsd_docparse.targets.mini.vision import Sight, geometry
from models.layouts import Block, Pool, reading_of

LEADING = 1.35


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("held", type=Path)
    parser.add_argument("weights", nargs="?")
    parser.add_argument("--paragraphs", type=int, default=150)
    arguments = parser.parse_args()
    target = open_mini(arguments.weights)
    pool = Pool(sorted(arguments.held.glob("*.json")))
    blocks = [block for block in pool.blocks["p"] if len(block.lines) > 1]
    chosen = random.Random(0).sample(blocks, min(arguments.paragraphs, len(blocks)))
    wrong = alone = characters = 0
    for block in chosen:
        sight, text = paragraph(block)
        inputs = MiniInputs(sight, REGION)
        (state,) = target.open([inputs])
        request = Request(
            state, NoDraft(), target.stops(inputs), processors=target.processors(inputs)
        )
        run(target, [request])
        lines = target.dialect.read(request.output)
        said = ""
        for line in lines:
            said += ("" if line.glued else " ") + target.dialect.decode(line.tokens)
        wrong += Levenshtein.distance(said.strip(), text)
        alone += Levenshtein.distance(join_texts(r.text for r in sight.readings), text)
        characters += len(text)
    print(f"{len(chosen)} paragraphs, {characters} characters")
    print(f"docparse-mini {wrong / characters:.4f}, recogniser alone {alone / characters:.4f}")


if __name__ == "__main__":
    main()
