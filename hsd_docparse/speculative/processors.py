"""Logits processors that hold inside verification, along each hypothetical prefix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from hsd_docparse.speculative.tree import DraftTree


class Vocabulary:
    """Cuts logits to ``size`` tokens, or fills them up with tokens that cannot come: models of one
    family pad their heads differently."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self, logits: Any, sequence: Sequence[int], tree: DraftTree[int]) -> Any:
        missing = self.size - logits.shape[-1]
        if missing <= 0:
            return logits[:, : self.size]
        if isinstance(logits, np.ndarray):
            return np.pad(logits, ((0, 0), (0, missing)), constant_values=-np.inf)
        filled = logits.new_full((len(logits), self.size), -np.inf)
        filled[:, :-missing] = logits
        return filled


class FrequencyPenalty:
    """Subtracts ``frequency`` times the count of an atom among those generated so far, and
    ``presence`` once from every atom that was generated; the prompt does not count.

    The arithmetic of the penalties of the same names in OpenAI's interface and in vLLM.
    """

    def __init__(self, frequency: float, presence: float = 0.0) -> None:
        self.frequency = frequency
        self.presence = presence

    def __call__(self, logits: Any, sequence: Sequence[int], tree: DraftTree[int]) -> Any:
        committed = Counter(sequence)
        self._subtract(logits, slice(None), committed, Counter())
        for node in range(len(tree)):
            path = Counter(tree.atoms[i] for i in tree.path(node))
            self._subtract(logits, node + 1, path, committed)
        return logits

    def _subtract(self, logits: Any, rows: Any, counts: Counter[int], before: Counter[int]) -> None:
        """``before`` has paid for presence already."""
        if not counts:
            return
        penalties = [
            self.frequency * count + self.presence * (atom not in before)
            for atom, count in counts.items()
        ]
        like = getattr(logits, "new_tensor", np.array)
        logits[rows, list(counts)] -= like(penalties)


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
