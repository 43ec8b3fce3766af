"""Logits processors that hold inside verification, along each hypothetical prefix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hsd_docparse.speculative.tree import DraftTree


class RepetitionPenalty:
    """Divides positive and multiplies negative logits of atoms already seen by ``penalty``.

    Keskar et al. 2019 (CTRL); the same arithmetic as transformers'
    ``RepetitionPenaltyLogitsProcessor``, which counts the prompt as seen too.
    """

    def __init__(self, penalty: float, prompt: Sequence[int] = ()) -> None:
        self.penalty = penalty
        self.prompt = frozenset(prompt)

    def __call__(self, logits: Any, sequence: Sequence[int], tree: DraftTree[int]) -> Any:
        if self.penalty == 1.0:
            return logits
        seen = self.prompt.union(sequence)
        rows, atoms = [], []
        for row in range(len(tree) + 1):
            path = {tree.atoms[node] for node in tree.path(row - 1)}
            for atom in seen | path:
                rows.append(row)
                atoms.append(atom)
        if not rows:
            return logits
        chosen = logits[rows, atoms]
        positive = chosen > 0
        logits[rows, atoms] = chosen / self.penalty * positive + chosen * self.penalty * ~positive
        return logits
