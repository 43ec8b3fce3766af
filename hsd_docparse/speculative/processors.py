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
        # What all rows have seen is most of it, and one indexed write; paths add a little.
        seen = self.prompt.union(sequence)
        rows, atoms = [], []
        for node in range(len(tree)):
            for atom in {tree.atoms[i] for i in tree.path(node)} - seen:
                rows.append(node + 1)
                atoms.append(atom)
        self._penalise(logits, slice(None), list(seen))
        self._penalise(logits, rows, atoms)
        return logits

    def _penalise(self, logits: Any, rows: Any, atoms: list[int]) -> None:
        if atoms:
            chosen = logits[rows, atoms]
            negative = chosen < 0
            chosen[negative] *= self.penalty
            chosen[~negative] /= self.penalty
            logits[rows, atoms] = chosen
