"""A fixed budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hsd_docparse.speculative.interfaces import Budget, Outcome


@dataclass
class Fixed:
    """The same budget at every step."""

    budget: Budget = field(default_factory=Budget)

    def plan(self) -> Budget:
        return self.budget

    def update(self, outcome: Outcome[Any]) -> None:
        """A fixed budget learns nothing."""
