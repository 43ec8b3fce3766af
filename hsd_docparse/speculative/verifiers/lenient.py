"""Greedy verifiers that also accept drafted tokens which are nearly as good.

All take the target's argmax where it was drafted; the others' rules say how far from it a
drafted token may be. None is lossless, unless its rule leaves nothing but the argmax.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from hsd_docparse.speculative.interfaces import Scores, Verdict
from hsd_docparse.speculative.laws import Dense, Floats
from hsd_docparse.speculative.tree import ROOT, DraftTree


class Lenient(ABC):
    """Walks down from the root: the argmax if it was drafted, otherwise the likeliest child that
    the rule accepts, otherwise the argmax as a correction."""

    lossless = False

    def verify(
        self, tree: DraftTree[int], scores: Scores, rng: np.random.Generator
    ) -> Verdict[int]:
        path: list[int] = []
        tested = 0
        while True:
            node = path[-1] if path else ROOT
            p = Dense.softmax(scores.logits[node + 1]).probabilities
            best = int(p.argmax())
            children = sorted(tree.children(node), key=lambda child: -p[tree.atoms[child]])
            tested += bool(children)
            for child in children:
                if tree.atoms[child] == best or self.accepts(p, tree, child):
                    path.append(child)
                    break
            else:
                return Verdict(path, best, tested)

    @abstractmethod
    def accepts(self, p: Floats, tree: DraftTree[int], node: int) -> bool:
        """``p``: the target's probabilities at the parent of ``node``."""


@dataclass(frozen=True)
class Tolerance(Lenient):
    """``p(draft) / max p >= tau``: the relaxed rule of HSD (arXiv 2602.12957), whose paper
    takes 0.75. ``tau`` in (0, 1]; at 1 only the argmax passes, and a tie with it."""

    tau: float
    believed: bool = False
    """Only where the draft has a belief: a draft that is lost and guesses has none."""

    def accepts(self, p: Floats, tree: DraftTree[int], node: int) -> bool:
        if self.believed and tree.belief(node) is None:
            return False
        return bool(p[tree.atoms[node]] >= self.tau * p.max())


@dataclass(frozen=True)
class TopK(Lenient):
    """The draft is among the target's ``k`` likeliest tokens."""

    k: int

    def accepts(self, p: Floats, tree: DraftTree[int], node: int) -> bool:
        return int((p > p[tree.atoms[node]]).sum()) < self.k


@dataclass(frozen=True)
class Margin(Lenient):
    """The draft's logit is less than ``margin`` below the best."""

    margin: float

    def accepts(self, p: Floats, tree: DraftTree[int], node: int) -> bool:
        return bool(p[tree.atoms[node]] > p.max() * np.exp(-self.margin))


@dataclass(frozen=True)
class KlJudge(Lenient):
    """The target is unsure (``max p <= sure``) and both models agree: ``KL(p || q) < tau``.
    Judge decoding by divergence, JuDi (arXiv 2601.04766); its code scans tau over 0.3 to 0.6.

    Needs what a draft model thought: fixed text is held to the argmax. ``tau = 0`` is greedy.
    """

    tau: float
    sure: float = 0.9

    def accepts(self, p: Floats, tree: DraftTree[int], node: int) -> bool:
        q = tree.belief(node)
        if not isinstance(q, Dense) or p.max() > self.sure:
            return False
        return divergence(p, q.probabilities) < self.tau


def divergence(p: Floats, q: Floats) -> float:
    """``KL(p || q)`` in nats, infinite where ``q`` leaves out what ``p`` has."""
    has = p > 0
    with np.errstate(divide="ignore"):
        return float((p[has] * (np.log(p[has]) - np.log(q[has]))).sum())
