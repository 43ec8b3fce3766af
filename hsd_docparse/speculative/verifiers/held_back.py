"""No bonus behind a draft that was accepted to its end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hsd_docparse.speculative.interfaces import Scores, Verdict, Verifier
from hsd_docparse.speculative.tree import DraftTree


@dataclass(frozen=True)
class HeldBack:
    """As ``judge``, but a draft accepted to its end brings no atom of the target's behind it: the
    next call weighs that place against what the draft says there. With a judge that is not
    lossless, the output would otherwise depend on where drafts are cut."""

    judge: Verifier[int]

    @property
    def lossless(self) -> bool:
        return self.judge.lossless

    def verify(
        self, tree: DraftTree[int], scores: Scores, rng: np.random.Generator
    ) -> Verdict[int]:
        verdict = self.judge.verify(tree, scores, rng)
        if not verdict.path or tree.children(verdict.path[-1]):
            return verdict
        *path, last = verdict.path
        return Verdict(path, tree.atoms[last], verdict.tested)
