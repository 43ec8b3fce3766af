"""Greedy decoding of a mixture of target and draft."""

from __future__ import annotations

from dataclasses import dataclass

from hsd_docparse.speculative.laws import Floats, Peaked
from hsd_docparse.speculative.tree import DraftTree
from hsd_docparse.speculative.verifiers.lenient import Lenient


@dataclass(frozen=True)
class Ensemble(Lenient):
    """The argmax of ``v = w p + (1 - w) q``, where ``q`` is the draft's belief in its own token
    ``x``: ``Peaked``, ``c`` on ``x`` and ``(1 - c) / (V - 1)``, which is no more, on each other
    token of the vocabulary. So ``v`` is largest at ``x`` or where ``p`` is. Where the draft has no
    such belief, and where the target's grammar forbids ``x``, ``v`` is ``p``.

    ``w = 1`` is lossless; ``w = 0`` follows the draft where it has a belief.
    """

    weight: float

    @property
    def lossless(self) -> bool:  # type: ignore[override]
        return self.weight == 1

    def accepts(self, p: Floats, tree: DraftTree[int], node: int) -> bool:
        q, atom = tree.belief(node), tree.atoms[node]
        if not isinstance(q, Peaked) or p[atom] == 0:
            return False
        others = (1 - q.mass) / (len(p) - 1)
        own = self.weight * p[atom] + (1 - self.weight) * q.mass
        return bool(own > self.weight * p.max() + (1 - self.weight) * others)
