"""Lossless greedy verification."""

from __future__ import annotations

import numpy as np

from hsd_docparse.speculative.interfaces import Scores, Verdict
from hsd_docparse.speculative.tree import ROOT, DraftTree


class Greedy:
    """Lossless greedy: accept a node exactly if it is the target's argmax at its parent.

    Emits, atom for atom, what greedy decoding of the target emits without any draft.
    """

    lossless = True

    def verify(
        self, tree: DraftTree[int], scores: Scores, rng: np.random.Generator
    ) -> Verdict[int]:
        # One transfer of 1 + nodes integers: the logits stay on the target's device.
        best: list[int] = scores.logits.argmax(-1).tolist()
        path: list[int] = []
        node: int | None = ROOT
        while node is not None:
            choice = best[node + 1]
            node = tree.child(node, choice)
            if node is not None:
                path.append(node)
        tip = path[-1] if path else ROOT
        return Verdict(path, choice, tested=len(path) + bool(tree.children(tip)))
