"""Lossless sampling over chains and trees, for every law that `laws` can couple."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hsd_docparse.speculative.interfaces import Scores, Verdict
from hsd_docparse.speculative.laws import accepts, residual
from hsd_docparse.speculative.sampling import Sampler
from hsd_docparse.speculative.tree import ROOT, DraftTree


@dataclass(frozen=True)
class Sampling:
    """Emits atoms with exactly the target's law, whatever was drafted.

    Speculative sampling (Leviathan et al. 2211.17192, Chen et al. 2302.01318), and between
    siblings its recursion (Miao et al. 2305.09781): what is rejected of one leaves a residual
    for the next. Siblings may have been drawn with or without replacement: each states the law
    that it was really drawn from. A node without a law is fixed text.
    """

    sampler: Sampler = field(default_factory=Sampler)
    lossless = True

    def verify(
        self, tree: DraftTree[Any], scores: Scores, rng: np.random.Generator
    ) -> Verdict[Any]:
        path: list[int] = []
        tested = 0
        while True:
            node = path[-1] if path else ROOT
            p = self.sampler.law(scores, node + 1)
            children = tree.children(node)
            tested += bool(children)
            for child in children:
                q, atom = tree.law(child), tree.atoms[child]
                if accepts(p, q, atom, rng):
                    path.append(child)
                    break
                p = residual(p, q, atom)
            else:
                return Verdict(path, p.sample(rng), tested)
