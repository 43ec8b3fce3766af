"""Plain decoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hsd_docparse.speculative.interfaces import Budget, Outcome
from hsd_docparse.speculative.tree import DraftTree


class NoDraft:
    """Proposes nothing: plain decoding, one token a call."""

    def propose(self, output: Sequence[Any], budget: Budget) -> DraftTree[Any]:
        return DraftTree.empty()

    def observe(self, outcome: Outcome[Any]) -> None:
        """There is nothing to learn."""
