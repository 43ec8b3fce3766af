"""docparse-mini at random, in float64, and pages for it to look at."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from hsd_docparse.document import Box
from hsd_docparse.draft.recognizer import GLYPH, Reading
from hsd_docparse.targets.mini.dialect import SPECIAL, TABLE, TD, Dialect, P
from hsd_docparse.targets.mini.modeling import (
    DocparseMiniConfig,
    DocparseMiniForConditionalGeneration,
)
from hsd_docparse.targets.mini.target import MiniInputs, MiniTarget
from hsd_docparse.targets.mini.vision import Sight, geometry


@cache
def dialect() -> Dialect:
    """One token a byte: enough to write anything."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {symbol: i for i, symbol in enumerate([*SPECIAL, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    assert json.loads(tokenizer.to_str())["model"]["vocab"] == vocabulary
    return Dialect(tokenizer)


@cache
def target(window: int = 256, max_tokens: int = 60) -> MiniTarget:
    torch.manual_seed(5)
    config = DocparseMiniConfig(
        dialect().vocabulary, hidden_size=32, heads=2, line_layers=1, decoder_layers=2,
        window=window, max_tokens=max_tokens,
    )  # fmt: skip
    model = DocparseMiniForConditionalGeneration(config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            # Loud enough that it says something else at every step, pointers among it.
            if weight.dim() > 1:
                loud = 3.0 if name.startswith("pointer") else 2.0
                scale = 0.3 if "embedding" in name else loud * weight.shape[-1] ** -0.5
                weight.normal_(0, scale)
    return MiniTarget(model.double(), dialect())


def inputs(lines: int, seed: int, prompt: int) -> MiniInputs:
    """A page of random glyphs."""
    rng = np.random.default_rng(seed)
    readings, boxes = [], []
    for i in range(lines):
        count = int(rng.integers(1, 12))
        text = "".join(chr(int(c)) for c in rng.integers(0x41, 0x3FF, count))
        glyphs = rng.normal(size=(count, GLYPH)).astype(np.float32)
        readings.append(Reading(text, rng.random(count).tolist(), glyphs))
        x = float(rng.integers(0, 3)) * 100
        boxes.append(Box(x, 20.0 * i, x + 90, 20.0 * i + 14))
    hints = np.stack([rng.choice([0, 1, 2, P, TABLE, TD], lines), rng.permutation(lines) - 1], 1)
    sight = Sight(readings, geometry(boxes, Box(0, 0, 300, 20.0 * lines)), hints)
    return MiniInputs(sight, prompt)
