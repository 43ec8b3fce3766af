"""Is lossless lossless? Every page against plain greedy decoding, under good and bad drafts.

    python -m benchmarks.identity FILES... [--target mini] [--json out.json]

Each page is read with no draft, with the pipeline's (page only, and both stages), and with
drafts that are shuffled, truncated, wrong at random, or another page's. The output must be
the same, token for token (under bad drafts, which are slow, as far as ``--tokens``). Where it
is not, the gap between the two best logits at the first difference says whether rounding
broke a tie.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.hsd import NEAR, command, drafted_pages, first_difference, gap, opened
from hsd_docparse.document import Page
from hsd_docparse.hsd import aligned, decode, read
from hsd_docparse.speculative import Greedy
from hsd_docparse.targets import DocumentTarget

if TYPE_CHECKING:
    from PIL import Image

PIECE = 40
"""Tokens of the pieces in which a draft is shuffled."""


@dataclass
class Difference:
    file: str
    page: int
    drafts: str
    at: int
    """The first token that differs."""
    gap: float
    """Between the two best logits there."""


def spoiled(
    draft: list[int], other: list[int], most: int, rng: random.Random
) -> dict[str, list[int]]:
    """``draft`` in every way in which a draft can be bad for the first ``most`` tokens of a
    page; ``other`` is another page's."""
    pieces = [draft[i : i + PIECE] for i in range(0, len(draft), PIECE)]
    rng.shuffle(pieces)
    return {
        "shuffled": [token for piece in pieces for token in piece],
        "truncated": draft[: min(most, len(draft)) // 2],
        "wrong": [rng.choice(draft) for _ in draft],
        "another page's": other,
    }


def compare(
    target: DocumentTarget, file: str, image: Image.Image, page: Page, other: list[int], most: int
) -> Iterator[tuple[str, Difference | None]]:
    """Yield every kind of draft with how the output differs from plain greedy decoding."""
    plain = read(target, image, page, "none").output
    outputs = {
        "page only": read(target, image, page, "page").output,
        "both stages": read(target, image, page, "both").output,
    }
    (draft, *_) = target.page_drafts(page, {})
    rng = random.Random(page.number)
    for kind, bad in spoiled(draft, other, most, rng).items():
        inputs = target.page_inputs(image, page)
        (reading,) = decode(target, [inputs], [(aligned([bad]), Greedy())], most=most)
        outputs[kind] = reading.output
    whole = {"page only", "both stages"}
    for kind, output in outputs.items():
        if output == (plain if kind in whole else plain[:most]):
            yield kind, None
            continue
        at = first_difference(plain, output)
        yield kind, Difference(file, page.number, kind, at, gap(target, image, page, plain, output))


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--tokens", type=int, default=256)
    arguments = parser.parse_args()
    target = opened(arguments)
    tried: Counter[str] = Counter()
    differences: list[Difference] = []
    other: list[int] = []
    for file, image, page, _ in drafted_pages(target, arguments.files, arguments.dpi):
        for kind, difference in compare(target, file, image, page, other, arguments.tokens):
            tried[kind] += 1
            if difference:
                differences.append(difference)
                print(difference, flush=True)
        (other, *_) = target.page_drafts(page, {})
        print(f"{file} page {page.number}: {sum(tried.values())} outputs compared", flush=True)
    ties = [d for d in differences if d.gap < NEAR]
    print(f"\n{tried['page only']} pages, {sum(tried.values())} outputs, target {target.name}")
    print("compared: " + ", ".join(f"{kind} {count}" for kind, count in tried.items()))
    pages = {(d.file, d.page) for d in ties}
    print(
        f"different from plain greedy: {len(differences)}, of which near ties (the two best "
        f"logits closer than {NEAR:g}): {len(ties)}, on {len(pages)} pages"
    )
    if arguments.json:
        report = {"outputs": dict(tried), "differences": [asdict(d) for d in differences]}
        Path(arguments.json).write_text(json.dumps(report, indent=1), "utf-8")
    raise SystemExit(len(differences) > len(ties))


if __name__ == "__main__":
    main()
