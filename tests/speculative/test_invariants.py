"""The invariants themselves can fail."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import toy

from hsd_docparse.speculative import DraftTree, MaxLength, Request, Scores, run
from hsd_docparse.speculative.invariants import Recomputing

LENGTH = 20


class Rolled(toy.ToyTarget):
    """Gives one node of every draft the scores of another."""

    def __init__(self, row: int) -> None:
        super().__init__()
        self.row = row

    def score(self, states: Sequence[toy.Row], trees: Sequence[DraftTree[int]]) -> list[Scores]:
        scores = super().score(states, trees)
        for own in scores:
            if len(own.logits) > self.row:
                own.logits[self.row] = own.logits[self.row].roll(1)
        return scores


@pytest.mark.parametrize("row", [0, 1, 3, 6])
def test_every_score_is_recomputed(row: int) -> None:
    (prompt,) = toy.prompts([4], seed=1)
    truth = toy.greedy(prompt, LENGTH)
    target = Recomputing(Rolled(row))
    (state,) = target.open([prompt])
    drafter = toy.Hidden(truth, 0, right=0.8, nodes=8, tree=True)
    with pytest.raises(AssertionError, match="from a fresh pass"):
        run(target, [Request(state, drafter, [MaxLength(LENGTH)])])
