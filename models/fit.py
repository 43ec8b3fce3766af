"""Fit docparse-mini to printed and invented pages. Resumable: run it again and it goes on.

    python -m models.fit models/data models/runs/mini --steps 6000

Shards that `models.render` and `models.documents` write meanwhile are picked up at the next
checkpoint. The learning rate is constant after a warm-up and falls linearly over the last part of
--steps.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from shutil import copyfile
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hsd_docparse.targets.mini.dialect import EOS, SPECIAL, Dialect, Gaze
from hsd_docparse.targets.mini.modeling import (
    DocparseMiniConfig,
    DocparseMiniForConditionalGeneration,
)
from hsd_docparse.targets.mini.vision import collate, pointed_at
from models.layouts import Pool, Sample, sample
from models.printed_pages import Pages

TOKENS_A_BATCH = 3000
LINES = [4, 12, 25, 50, 80, 130]
LINE_WEIGHTS = [2, 3, 3, 3, 3, 2]
EXCERPT = 3
"""Of a line's tokens, the first and the last so many are trained on where a page is an excerpt:
what follows what is learned from the ends of lines."""
EXCERPTS = 0.6
"""Share of the samples that are excerpts."""
DOCUMENTS = 0.6
"""Share of the samples that are of printed documents, where there are any."""
SMALL = 800
"""Tokens of a printed page up to which it is no excerpt, and from `LONGEST` on it always is."""
LONGEST = 2400
"""Tokens of a sample, of those kept; longer ones are left out."""
NOISE = 0.05
"""Share of input tokens replaced at random: the model learns to trust its eyes."""
DRAWN = 128
"""Samples drawn at a time, to be sorted by length."""
WARM_UP = 50
DECAY = 0.4
"""Share of the steps over which the learning rate falls to nothing."""


def train_tokenizer(corpus: Path, output: Path, size: int) -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=False),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    with corpus.open(encoding="utf-8") as file:
        texts = [block["text"] for line in file if not (block := json.loads(line))["held"]]
    tokenizer.train_from_iterator(texts, trainer)
    output.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(output / "tokenizer.json"))


def excerpt(s: Sample, dialect: Dialect) -> list[int]:
    """Places of the tokens kept: of long lines only the ends. A token's position on its line
    is given to the model, so that nothing else needs to know of the gap."""
    heads = [i for i, token in enumerate(s.tokens) if token >= dialect.vocabulary]
    kept = list(range(heads[0]))
    for head, end in zip(heads, [*heads[1:], len(s.tokens)], strict=True):
        if end - head > 2 * EXCERPT + 2:
            kept += [*range(head, head + EXCERPT + 1), *range(end - EXCERPT - 1, end)]
        else:
            kept += range(head, end)
    learned = set(s.kept)
    return [place for place in kept if place in learned]


def batch_of(samples: list[Sample], dialect: Dialect, rng: random.Random | None) -> dict[str, Any]:
    """Tensors for the model's forward; ``rng`` adds token noise to the input."""
    sights = [s.sight for s in samples]
    lines = collate(sights, dialect)
    lengths = [len(s.kept) - 1 for s in samples]
    most, longest = max(lines.counts), max(lengths)
    shape = (len(samples), longest)
    ids, labels = np.zeros(shape, np.int64), np.full(shape, -100, np.int64)
    line, character = np.full(shape, -1, np.int64), np.zeros(shape, np.int64)
    inner, gazes_of = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    seen: list[list[frozenset[int]]] = []
    for row, s in enumerate(samples):
        gaze = Gaze()
        gazes = [gaze := dialect.advance(gaze, token) for token in s.tokens]
        seen.append([gaze.seen for gaze in gazes[:1]])
        for i, (place, following) in enumerate(pairwise(s.kept)):
            token, gaze = s.tokens[place], gazes[place]
            line[row, i], character[row, i], inner[row, i] = gaze.line, gaze.character, gaze.inner
            if gaze.seen is not seen[row][-1]:
                seen[row].append(gaze.seen)
            gazes_of[row, i] = len(seen[row]) - 1
            noisy = rng is not None and len(SPECIAL) <= token < dialect.vocabulary
            if rng is not None and noisy and rng.random() < NOISE:
                token = rng.randrange(len(SPECIAL), dialect.vocabulary)
            ids[row, i] = token
            if following == place + 1:
                labels[row, i] = s.tokens[following]
    width = dialect.vocabulary + most
    positions = torch.arange(longest)
    causal = positions[:, None] - positions
    mask = (causal >= 0) & (causal < 256)
    assert labels.max() < width
    return {
        "lines": lines,
        "input_ids": torch.from_numpy(ids),
        "labels": torch.from_numpy(labels),
        "line": torch.from_numpy(line),
        "character": torch.from_numpy(character),
        "inner": torch.from_numpy(inner),
        "gaze": torch.from_numpy(gazes_of),
        "seen": torch.from_numpy(pointed_at(seen, most)),
        "position_ids": positions.expand(shape),
        "attention_mask": mask.expand(len(samples), 1, -1, -1),
        "real": positions < torch.tensor(lengths)[:, None],
    }


def draw_batches(
    pool: Pool, pages: Pages, dialect: Dialect, rng: random.Random
) -> list[list[Sample]]:
    """Samples of similar length together, about `TOKENS_A_BATCH` tokens a batch."""
    drawn = []
    for _ in range(DRAWN):
        printed = bool(pages.pages) and rng.random() < DOCUMENTS
        if printed:
            new = pages.draw(dialect, rng)
        else:
            new = sample(pool, dialect, rng, rng.choices(LINES, LINE_WEIGHTS)[0])
        size = len(new.kept)
        small, long = printed and size <= SMALL, printed and size > LONGEST
        if long or (rng.random() < EXCERPTS and not small):
            new.kept = excerpt(new, dialect)
        drawn.append(new)
    drawn = sorted((s for s in drawn if len(s.kept) <= LONGEST), key=lambda s: len(s.kept))
    batches: list[list[Sample]] = [[]]
    for new in drawn:
        if len(new.kept) * (len(batches[-1]) + 1) > TOKENS_A_BATCH and batches[-1]:
            batches.append([])
        batches[-1].append(new)
    rng.shuffle(batches)
    return batches


def forward(model: DocparseMiniForConditionalGeneration, batch: dict[str, Any]) -> Tensor:
    inputs = dict(batch)
    memory = model.encode(inputs.pop("lines"))
    return model(memory=memory, **inputs).loss


@torch.no_grad()
def teacher_forced(
    model: DocparseMiniForConditionalGeneration, samples: list[Sample], dialect: Dialect
) -> dict[str, float]:
    """Share of right tokens, by what they are, when the right text precedes them."""
    right: dict[str, int] = defaultdict(int)
    total: dict[str, int] = defaultdict(int)
    for s in samples:
        batch = batch_of([s], dialect, None)
        memory = model.encode(batch.pop("lines"))
        best = model(memory=memory, **batch).logits.argmax(-1)
        for got, want in zip(best.tolist(), batch["labels"][0].tolist(), strict=True):
            kind = (
                "pointer"
                if want >= dialect.vocabulary
                else "mark"
                if want < len(SPECIAL)
                else "text"
            )
            right[kind] += got == want
            total[kind] += 1
    return {kind: right[kind] / total[kind] for kind in sorted(total)}


def fit(
    data: Path,
    run: Path,
    *,
    steps: int,
    rate: float = 1e-3,
    vocabulary: int = 4096,
    every: int = 250,
    start: Path | None = None,
    only: str = "",
    bf16: bool = False,
    held_samples: int = 8,
) -> None:
    """Train on the shards below ``data`` and leave the weights in ``run / "weights"``. Every so
    many steps a checkpoint is kept, and so many held-out samples of each length are scored.
    ``start``: weights to go on from; ``only``: a regular expression that finds the names of those
    to be trained."""
    torch.set_flush_denormal(True)

    if start and not (run / "tokenizer.json").exists():
        run.mkdir(parents=True, exist_ok=True)
        copyfile(start / "tokenizer.json", run / "tokenizer.json")
    if not (run / "tokenizer.json").exists():
        train_tokenizer(data / "corpus.jsonl", run, vocabulary)
    dialect = Dialect.load(run)
    torch.manual_seed(0)
    if start:
        model = DocparseMiniForConditionalGeneration.from_pretrained(start, dtype="float32")
    else:
        model = DocparseMiniForConditionalGeneration(DocparseMiniConfig(dialect.vocabulary))
    for name, weight in model.named_parameters():
        weight.requires_grad_(re.search(only, name) is not None)
    learned = [weight for weight in model.parameters() if weight.requires_grad]
    count = sum(weight.numel() for weight in model.parameters())
    print(f"{count / 1e6:.2f} M parameters, {sum(w.numel() for w in learned) / 1e6:.2f} M to train")
    optimizer = torch.optim.AdamW(learned, lr=rate, betas=(0.9, 0.98), weight_decay=0.01)
    step = tokens = 0
    checkpoint = run / "checkpoint.pt"
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        step, tokens = saved["step"], saved["tokens"]
    held_rng = random.Random(1)
    held_pool = Pool(sorted((data / "held").glob("*.json")))
    held = {"invented": [
        sample(held_pool, dialect, held_rng, n) for n in LINES for _ in range(held_samples)
    ]}  # fmt: skip
    held_pages = Pages(data / "pages-held")
    if held_pages.pages:
        count = len(LINES) * held_samples
        held["printed"] = [held_pages.draw(dialect, held_rng) for _ in range(count)]

    losses: list[float] = []
    began = time.time()
    pool: Pool | None = None
    batches: list[list[Sample]] = []
    while step < steps:
        if pool is None or step % every == 0:
            pool = Pool(sorted((data / "train").glob("*.json")))
            pages = Pages(data / "pages")
        rng = random.Random(f"batch {step}")
        if not batches:
            batches = draw_batches(pool, pages, dialect, rng)
        samples = batches.pop()
        for group in optimizer.param_groups:
            left = (steps - step) / (steps * DECAY)
            group["lr"] = rate * min(1.0, (step + 1) / WARM_UP, left)
        batch = batch_of(samples, dialect, rng)
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss = forward(model, batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, 1.0)
        optimizer.step()
        step += 1
        tokens += sum(len(s.kept) for s in samples)
        losses.append(loss.item())
        if step % 25 == 0:
            spent = time.time() - began
            mean = np.mean(losses[-25:])
            print(
                f"step {step} loss {mean:.3f} {tokens / 1e6:.3f} M tokens, {spent:.0f} s",
                flush=True,
            )
        if step % every == 0 or step == steps:
            model.eval()
            for kind, samples in held.items():
                scores = teacher_forced(model, samples, dialect)
                print(step, kind, {k: round(v, 4) for k, v in scores.items()}, flush=True)
            model.train()
            weights = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**weights, "step": step, "tokens": tokens}, checkpoint.with_suffix(".new"))
            checkpoint.with_suffix(".new").replace(checkpoint)
    model.eval()
    # Half the size, and what a later run of any precision starts from.
    half = {k: v.half() for k, v in model.state_dict().items()}
    model.save_pretrained(run / "weights", state_dict=half)
    dialect.tokenizer.save(str(run / "weights" / "tokenizer.json"))
    assert dialect.tokenizer.token_to_id("<eos>") == EOS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--vocabulary", type=int, default=4096)
    parser.add_argument("--every", type=int, default=250)
    parser.add_argument("--start", type=Path, help="weights of an earlier run to go on from")
    parser.add_argument("--only", default="", help="train weights of names that match this alone")
    parser.add_argument("--bf16", action="store_true", help="multiply in bfloat16")
    arguments = parser.parse_args()
    fit(
        arguments.data,
        arguments.run,
        steps=arguments.steps,
        rate=arguments.rate,
        vocabulary=arguments.vocabulary,
        every=arguments.every,
        start=arguments.start,
        only=arguments.only,
        bf16=arguments.bf16,
    )


if __name__ == "__main__":
    main()
