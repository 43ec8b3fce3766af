"""The repetition penalty, row by row along the path, against that of transformers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from transformers.generation.logits_process import RepetitionPenaltyLogitsProcessor

from hsd_docparse.speculative import DraftTree, RepetitionPenalty

TREE = DraftTree([3, 4, 3, 5, 6, 9], [-1, -1, 0, 0, 3, 1])
PROMPT = (0, 1, 1)
OUTPUT = [2, 7]


def scores(seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(1 + len(TREE), 12, generator=generator, dtype=torch.float64)
    logits[:, 2] = -torch.inf  # masked, and seen
    logits[:, 8] = -torch.inf  # masked, and not seen
    logits[2, 3] = 0.0
    return logits


def expected(logits: torch.Tensor, penalty: float) -> torch.Tensor:
    right = RepetitionPenaltyLogitsProcessor(penalty)
    rows = []
    for row in range(1 + len(TREE)):
        path = [TREE.atoms[node] for node in TREE.path(row - 1)]
        rows.append(right(torch.tensor([[*PROMPT, *OUTPUT, *path]]), logits[row : row + 1].clone()))
    return torch.cat(rows)


@pytest.mark.parametrize("penalty", [1.0, 1.08, 1.7, 0.8])
@pytest.mark.parametrize("library", [torch.asarray, np.asarray])
def test_every_row_is_what_transformers_says_of_its_path(penalty: float, library: Any) -> None:
    for seed in range(3):
        logits = scores(seed)
        result = RepetitionPenalty(penalty, PROMPT)(library(logits.clone()), OUTPUT, TREE)
        assert torch.equal(torch.asarray(result), expected(logits, penalty))


def test_nothing_seen_changes_nothing() -> None:
    logits = scores(0)
    result = RepetitionPenalty(2.0)(logits.clone()[:1], [], DraftTree.empty())
    assert torch.equal(result, logits[:1])
