"""Stop drafting where the draft model is unsure (AdaEDL, arXiv 2410.18351)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hsd_docparse.speculative.interfaces import Budget, Outcome
from hsd_docparse.speculative.laws import Dense, Law


@dataclass
class EntropyStop:
    """Ends a draft behind the first atom whose lower bound of being accepted,
    ``1 - sqrt(scale * H(q))`` with the entropy ``H`` in nats, is below ``threshold``.

    The threshold follows the acceptance: ``step`` lower while more than ``aim`` of the tested
    atoms are accepted, and higher otherwise; the acceptance is an average that keeps ``memory``
    of its past. Needs drafts with laws (or beliefs): others go to the end of the ``budget``.
    """

    budget: Budget = field(default_factory=Budget)
    scale: float = 0.2
    threshold: float = 0.4
    aim: float = 0.8
    step: float = 0.02
    memory: float = 0.8
    acceptance: float = field(default=0.8, init=False)

    def plan(self) -> Budget:
        return replace(self.budget, enough=self.enough)

    def enough(self, atoms: Sequence[Any], laws: Sequence[Law | None]) -> bool:
        """A statement about the last law, not about the atom that was drawn."""
        law = laws[-1]
        if not isinstance(law, Dense):
            return False
        return bool(1 - np.sqrt(self.scale * law.entropy()) < self.threshold)

    def update(self, outcome: Outcome[Any]) -> None:
        if not outcome.verdict.tested:
            return
        share = len(outcome.verdict.path) / outcome.verdict.tested
        self.acceptance = self.memory * self.acceptance + (1 - self.memory) * share
        move = -self.step if self.acceptance > self.aim else self.step
        self.threshold = float(np.clip(self.threshold + move, 0.0, 1.0))
