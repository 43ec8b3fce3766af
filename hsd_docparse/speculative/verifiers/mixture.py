"""Verification against a mixture of target and draft (DIVERSED, arXiv 2604.07622)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from hsd_docparse.speculative.interfaces import Scores, Verdict
from hsd_docparse.speculative.laws import Dense, accepts, residual
from hsd_docparse.speculative.sampling import Sampler
from hsd_docparse.speculative.tree import ROOT, DraftTree

Weight = Callable[[Dense, Dense], float]
"""``w`` from the target's and the draft's law at a position, in [0, 1]."""


@dataclass(frozen=True)
class Mixture:
    """Samples exactly ``v = w p + (1 - w) q`` where something was drafted, and ``p`` behind the
    draft. Chains only: with one child a node, ``q`` is the draft's whole law there.

    ``weight`` is a number, or a function of both laws (an ensemble head, an entropy rule). A
    drafted atom without a law counts as a point mass. ``w = 1`` is lossless sampling.
    """

    weight: float | Weight
    sampler: Sampler = field(default_factory=Sampler)

    @property
    def lossless(self) -> bool:
        return self.weight == 1

    def verify(
        self, tree: DraftTree[int], scores: Scores, rng: np.random.Generator
    ) -> Verdict[int]:
        path: list[int] = []
        node = ROOT
        while True:
            p = self.sampler.dense(scores.logits[node + 1])
            child = tree.only_child(node)
            if child is None:
                return Verdict(path, p.sample(rng), len(path))
            q = _dense(tree, child, len(p.probabilities))
            w = self.weight(p, q) if callable(self.weight) else self.weight
            v = Dense(w * p.probabilities + (1 - w) * q.probabilities)
            if not accepts(v, q, tree.atoms[child], rng):
                left = residual(v, q, tree.atoms[child])
                return Verdict(path, int(left.sample(rng)), len(path) + 1)
            path.append(child)
            node = child


def _dense(tree: DraftTree[int], node: int, vocabulary: int) -> Dense:
    law = tree.law(node)
    if isinstance(law, Dense):
        return law
    point = np.zeros(vocabulary)
    point[tree.atoms[node]] = 1.0
    return Dense(point)
