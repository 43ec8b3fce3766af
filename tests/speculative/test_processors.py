"""The repetition penalty, row by row along the path, against that of transformers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from transformers.generation.logits_process import RepetitionPenaltyLogitsProcessor

from hsd_docparse.speculative import DraftTree, FrequencyPenalty, RepetitionPenalty, Vocabulary

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


@pytest.mark.parametrize("array", [np.array, torch.tensor], ids=["numpy", "torch"])
def test_frequency_and_presence_are_subtracted_along_the_path(array: Any) -> None:
    """2 came twice and 0 once; node 0 is another 2, its child 3 is new, their sibling is 0."""
    tree = DraftTree([2, 3, 0], [-1, 0, -1])
    logits = array([[1.0, 2.0, 3.0, 4.0]] * 4)
    got = FrequencyPenalty(0.5, 0.25)(logits, [2, 0, 2], tree)
    assert got.tolist() == [
        [1 - 0.5 - 0.25, 2, 3 - 2 * 0.5 - 0.25, 4],
        [1 - 0.5 - 0.25, 2, 3 - 3 * 0.5 - 0.25, 4],
        [1 - 0.5 - 0.25, 2, 3 - 3 * 0.5 - 0.25, 4 - 0.5 - 0.25],
        [1 - 2 * 0.5 - 0.25, 2, 3 - 2 * 0.5 - 0.25, 4],
    ]


@pytest.mark.parametrize("array", [np.array, torch.tensor], ids=["numpy", "torch"])
def test_logits_take_the_width_of_a_vocabulary(array: Any) -> None:
    logits = array([[1.0, 2.0, 3.0]])
    none = DraftTree[int].empty()
    assert Vocabulary(2)(logits, [], none).tolist() == [[1, 2]]
    assert Vocabulary(3)(logits, [], none).tolist() == [[1, 2, 3]]
    assert Vocabulary(5)(logits, [], none).tolist() == [[1, 2, 3, -np.inf, -np.inf]]
