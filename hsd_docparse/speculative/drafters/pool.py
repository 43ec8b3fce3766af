"""Several drafters, the best of which drafts (HedgeSpec, arXiv 2510.20064)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from hsd_docparse.speculative.interfaces import Budget, Drafter, Outcome
from hsd_docparse.speculative.tree import ROOT, Atom, DraftTree


class Pool(Generic[Atom]):
    """Lets one of ``drafters`` draft, and learns from every step about all of them.

    What was committed judges every proposal, also those that were not verified: full
    information, so nothing has to be tried out. The choice is Hedge's (Freund and Schapire
    1997): drawn by weights ``exp(-rate * loss)``, where the loss of a step is the share of what
    was emitted that a drafter would not have got accepted. ``memory`` in (0, 1] forgets old steps,
    so that the pool follows a text that changes.

    Every drafter proposes at every step: meant for drafters that are cheap beside the target.
    """

    def __init__(
        self,
        drafters: Sequence[Drafter[Atom]],
        rate: float = 2.0,
        memory: float = 0.95,
        seed: int = 0,
    ) -> None:
        self.drafters = list(drafters)
        self.rate = rate
        self.memory = memory
        self.rng = np.random.default_rng(seed)
        self.losses = np.zeros(len(self.drafters))
        self.trees: list[DraftTree[Atom]] = []

    @property
    def weights(self) -> NDArray[np.float64]:
        """The chance of each drafter to draft next."""
        weights = np.exp(self.rate * (self.losses.min() - self.losses))
        return weights / weights.sum()

    def propose(self, output: Sequence[Atom], budget: Budget) -> DraftTree[Atom]:
        self.trees = [drafter.propose(output, budget) for drafter in self.drafters]
        return self.trees[int(self.rng.choice(len(self.trees), p=self.weights))]

    def observe(self, outcome: Outcome[Atom]) -> None:
        for i, (drafter, tree) in enumerate(zip(self.drafters, self.trees, strict=True)):
            right = _agreed(tree, outcome.emitted) / len(outcome.emitted)
            self.losses[i] = self.memory * self.losses[i] + 1 - right
            drafter.observe(outcome)


def _agreed(tree: DraftTree[Atom], emitted: Sequence[Atom]) -> int:
    """How many of the emitted atoms the tree would have got accepted."""
    node = ROOT
    for count, atom in enumerate(emitted):
        child = tree.child(node, atom)
        if child is None:
            return count
        node = child
    return len(emitted)
