"""Longer chains while the draft is right."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from hsd_docparse.speculative.interfaces import Budget, Outcome


@dataclass
class Doubling:
    """The length of chains follows their acceptance: twice as long after one that was accepted
    whole, twice what was accepted after any other. A fixed text agrees with the target for
    long stretches, or has just ceased to.

    ``budget.chain`` is the first length; ``least`` and ``most`` bound it.
    """

    budget: Budget = field(default_factory=Budget)
    least: int = 24
    most: int = 160

    def plan(self) -> Budget:
        return self.budget

    def update(self, outcome: Outcome[Any]) -> None:
        accepted = len(outcome.verdict.path)
        chain = self.budget.chain
        if len(outcome.tree) == 0:
            return
        whole = accepted and max(outcome.tree.depths()) == accepted
        wanted = 2 * max(chain, accepted) if whole else 2 * accepted
        self.budget = replace(self.budget, chain=min(self.most, max(self.least, wanted)))
