"""From logits to the law that is sampled: temperature and truncation.

A draft model and its target must both be sampled with all of it folded into their laws; a ratio
test between laws that nobody drew from is biased.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hsd_docparse.speculative.interfaces import Scores
from hsd_docparse.speculative.laws import Dense, Floats, Law


@dataclass(frozen=True)
class Sampler:
    """How a law is made of logits, in transformers' order: ``temperature`` (0 is greedy), then
    ``top_k`` (0: all), ``top_p`` and ``min_p`` (of the likeliest token's probability)."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0

    def __post_init__(self) -> None:
        if self.temperature < 0 or self.top_k < 0:
            raise ValueError("temperature and top_k are 0 or more.")
        if not (0 < self.top_p <= 1 and 0 <= self.min_p <= 1):
            raise ValueError("top_p is above 0 and at most 1, min_p from 0 to 1.")

    def law(self, scores: Scores, row: int) -> Law:
        """The target's law after node ``row - 1`` (``0``: after the pending atom)."""
        if scores.laws is not None:
            return scores.laws[row]
        return self.dense(scores.logits[row])

    def dense(self, logits: Any) -> Dense:
        """``logits``: one row, after the processors."""
        if self.temperature == 0:
            best = np.zeros(len(logits))
            best[int(logits.argmax())] = 1.0
            return Dense(best)
        law = Dense.softmax(logits / self.temperature)
        if self.top_k or self.top_p < 1 or self.min_p > 0:
            law = Dense(self._truncated(law.probabilities.copy()))
        return law

    def _truncated(self, p: Floats) -> Floats:
        if 0 < self.top_k < len(p):
            p[p < np.partition(p, -self.top_k)[-self.top_k]] = 0.0
            p /= p.sum()
        if self.top_p < 1:
            order = np.argsort(-p, kind="stable")
            # A token stays while those before it have not yet reached top_p: at least one does.
            before = p[order].cumsum() - p[order]
            p[order[before >= self.top_p]] = 0.0
            p /= p.sum()
        if self.min_p > 0:
            p[p < self.min_p * p.max()] = 0.0
            p /= p.sum()
        return p
