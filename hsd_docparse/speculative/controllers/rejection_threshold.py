"""Stop drafting when a rejection has become likely (SpecDec++, arXiv 2405.19715)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from hsd_docparse.speculative.interfaces import Budget, Outcome
from hsd_docparse.speculative.laws import Belief, Dense, Law

BINS = 10


@dataclass
class RejectionThreshold:
    """Ends a draft behind the atom at which the chance that at least one of its atoms will be
    rejected, ``1 - product of p_i``, passes ``threshold``: the optimal policy of the paper's
    decision process.

    Where the paper trains a head on hidden states, ``p_i`` is learned here while decoding: how
    often atoms of about the same draft probability have been accepted. Without laws all atoms
    are of one kind.
    """

    budget: Budget = field(default_factory=Budget)
    threshold: float = 0.7
    accepted: list[float] = field(default_factory=lambda: [2.0] * (BINS + 1), init=False)
    tested: list[float] = field(default_factory=lambda: [2.5] * (BINS + 1), init=False)
    """Counts by draft probability, the last for atoms without a law; they begin as if a few had
    been seen, most of them accepted."""

    def plan(self) -> Budget:
        return replace(self.budget, enough=self.enough)

    def enough(self, atoms: Sequence[Any], laws: Sequence[Law | None]) -> bool:
        return 1 - prod(map(self.chance, atoms, laws)) > self.threshold

    def chance(self, atom: Any, law: Law | None) -> float:
        kind = _kind(atom, law)
        return self.accepted[kind] / self.tested[kind]

    def update(self, outcome: Outcome[Any]) -> None:
        tree, path = outcome.tree, outcome.verdict.path
        decided = [(node, True) for node in path]
        below = tree.children(path[-1] if path else -1)
        if below and outcome.verdict.tested > len(path):
            decided.append((below[0], False))
        for node, accepted in decided:
            kind = _kind(tree.atoms[node], tree.belief(node))
            self.tested[kind] += 1
            self.accepted[kind] += accepted


def _kind(atom: Any, law: Belief | None) -> int:
    if not isinstance(law, Dense):
        return BINS
    return min(BINS - 1, int(np.floor(law.probabilities[atom] * BINS)))
