"""Entropy-aware speculative decoding, EASD (arXiv 2512.23765)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from hsd_docparse.speculative.interfaces import Scores, Verdict
from hsd_docparse.speculative.laws import Dense, Floats, Point, accepts, residual
from hsd_docparse.speculative.sampling import Sampler
from hsd_docparse.speculative.tree import ROOT, DraftTree


@dataclass(frozen=True)
class EntropyAware:
    """Lossless sampling along a chain, except that an accepted token is rejected after all where
    both models waver between the same tokens: ``H(q) > draft``, ``H(p) > target`` (nats) and
    more than ``overlap`` of their ``top`` likeliest tokens in common.

    The token is then drawn anew from the target, without the rejected one if
    ``exclude_rejected`` (public descriptions differ). Lossy by construction; infinite
    thresholds make it lossless. `calibrated` takes the thresholds from entropies that were seen.
    """

    draft: float
    target: float
    overlap: float = 0.5
    top: int = 8
    exclude_rejected: bool = True
    sampler: Sampler = field(default_factory=Sampler)

    @classmethod
    def calibrated(
        cls, laws: Iterable[tuple[Dense, Dense]], quantile: float, **settings: object
    ) -> EntropyAware:
        """Thresholds at ``quantile`` (in [0, 1]) of the entropies of ``(p, q)`` pairs."""
        pairs = [(p.entropy(), q.entropy()) for p, q in laws]
        target, draft = (float(np.quantile(side, quantile)) for side in zip(*pairs, strict=True))
        return cls(draft, target, **settings)  # type: ignore[arg-type]

    @property
    def lossless(self) -> bool:
        return np.inf in (self.draft, self.target)

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
            q, atom = tree.law(child), tree.atoms[child]
            if not accepts(p, q, atom, rng):
                return Verdict(path, int(residual(p, q, atom).sample(rng)), len(path) + 1)
            if isinstance(q, Dense) and self.wavers(p, q):
                again = residual(p, Point(atom), atom) if self.exclude_rejected else p
                return Verdict(path, int(again.sample(rng)), len(path) + 1)
            path.append(child)
            node = child

    def wavers(self, p: Dense, q: Dense) -> bool:
        common = len(_likeliest(p.probabilities, self.top) & _likeliest(q.probabilities, self.top))
        unsure = q.entropy() > self.draft and p.entropy() > self.target
        return unsure and common > self.overlap * self.top


def _likeliest(p: Floats, top: int) -> set[int]:
    return set(np.argsort(-p, kind="stable")[:top].tolist())
