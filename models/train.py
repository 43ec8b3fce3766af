"""The whole recipe of docparse-mini: text, pictures, documents, weights and evaluation. Run again,
it goes on.

    python -m models.train models/data            # about seven hours on two CPU cores
    python -m models.train models/data --smoke    # a hundredth of it, in minutes

The corpus is that of the Debian packages named in README.md, as far as they are installed, and
without any Python's own manual; the fonts are those of the system, or Pillow's one. Results of
every stage stay in the folder: what is there is not made again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

from models.corpus import write_corpus
from models.documents import make
from models.evaluate import Score, evaluate
from models.fit import fit
from models.printing import chromium
from models.render import render


@dataclass(frozen=True)
class Scale:
    """How much of everything: blocks of ``text`` in the corpus, all where None, and of a shard;
    printed ``pages``; held-out samples of each length ``checked`` at a checkpoint;
    ``paragraphs`` read at the end."""

    text: int | None = None
    shards: int = 31
    blocks: int = 500
    pages: int = 1500
    held_pages: int = 60
    steps: int = 5000
    checked: int = 8
    paragraphs: int = 150


WHOLE = Scale()
SMOKE = Scale(
    text=1500, shards=1, blocks=155, pages=8, held_pages=2, steps=50, checked=1, paragraphs=5
)


def train(folder: Path, scale: Scale) -> list[Score]:
    """Run all stages in ``folder``, weights in ``folder / "run" / "weights"``; what the new model
    says of held-out paragraphs."""
    corpus = folder / "corpus.jsonl"
    run = folder / "run"
    with _stage("corpus"):
        if not corpus.exists():
            write_corpus(corpus, scale.text)
    with _stage("pictures"):
        render(corpus, folder / "held", 1, held=True, blocks_a_shard=scale.blocks)
        render(corpus, folder / "train", scale.shards, blocks_a_shard=scale.blocks)
    with _stage("documents"):
        if chromium() is None:
            print("There is no Chromium with playwright here; all pages are invented ones.")
        else:
            make(corpus, folder / "pages-held", scale.held_pages, held=True)
            make(corpus, folder / "pages", scale.pages)
    with _stage("weights"):
        if not (run / "weights").exists():
            bf16 = torch.backends.cpu.get_cpu_capability().startswith("AVX512")
            fit(folder, run, steps=scale.steps, bf16=bf16, held_samples=scale.checked)
    with _stage("evaluation"):
        return evaluate(folder / "held", str(run / "weights"), scale.paragraphs)


@contextmanager
def _stage(name: str) -> Iterator[None]:
    print(f"== {name}", flush=True)
    began, spent = time.time(), time.process_time()
    yield
    seconds, processor = time.time() - began, time.process_time() - spent
    print(f"== {name}: {seconds:.0f} s, {processor:.0f} s of them computing", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", default=Path("models/data"))
    parser.add_argument("--smoke", action="store_true", help="a hundredth, in FOLDER/smoke")
    arguments = parser.parse_args()
    if arguments.smoke:
        train(arguments.folder / "smoke", SMOKE)
    else:
        train(arguments.folder, WHOLE)


if __name__ == "__main__":
    main()
