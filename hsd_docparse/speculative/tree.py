"""Draft trees: what a drafter proposes and a target scores in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from hsd_docparse.speculative.laws import Belief, Law

Atom = TypeVar("Atom")
"""What is generated: a token (int), a vector, a reasoning step."""

ROOT = -1
"""The parent of first-level nodes: the pending atom, committed but not yet in the cache."""


@dataclass(frozen=True)
class DraftTree(Generic[Atom]):
    """Atoms with parents; parents come before their children.

    ``laws``, where the drafter knows them, are the distributions that the atoms were really
    drawn from, after every processor, given the siblings before them: without replacement, the
    law of the second leaves out the first. ``None`` is fixed text, whose siblings hold distinct
    atoms. A node must never be left out because of its own atom: that biases what is emitted.
    """

    atoms: Sequence[Atom]
    parents: Sequence[int]
    laws: Sequence[Law | None] | None = None
    beliefs: Sequence[Belief | None] | None = None
    """What a draft model thought at each node, where it did not draw the atom from that."""

    @classmethod
    def empty(cls) -> DraftTree[Atom]:
        return cls((), ())

    @classmethod
    def chain(cls, atoms: Sequence[Atom]) -> DraftTree[Atom]:
        return cls(atoms, range(-1, len(atoms) - 1))

    @classmethod
    def merge(
        cls, branches: Iterable[Sequence[Atom]], *, nodes: int, depth: int
    ) -> DraftTree[Atom]:
        """Prefix tree of ``branches``, breadth first, at most ``nodes`` nodes.

        Breadth first, so that a cap costs the far ends of branches and not whole branches;
        among branches, earlier ones come first.
        """
        atoms: list[Atom] = []
        parents: list[int] = []
        known: dict[tuple[int, Any], int] = {}
        tips = [(branch, ROOT) for branch in branches]
        for level in range(depth):
            alive = []
            for branch, tip in tips:
                if level >= len(branch):
                    continue
                node = known.get((tip, branch[level]))
                if node is None:
                    if len(atoms) == nodes:
                        continue
                    node = known[tip, branch[level]] = len(atoms)
                    atoms.append(branch[level])
                    parents.append(tip)
                alive.append((branch, node))
            tips = alive
        return cls(atoms, parents)

    def __len__(self) -> int:
        return len(self.atoms)

    def law(self, node: int) -> Law | None:
        """What the atom of ``node`` was drawn from; ``None`` for fixed text."""
        return None if self.laws is None else self.laws[node]

    def belief(self, node: int) -> Belief | None:
        """What the draft model thought of the place of ``node``; its law unless stated apart."""
        return self.law(node) if self.beliefs is None else self.beliefs[node]

    def children(self, node: int) -> list[int]:
        """In the order in which they were drafted."""
        return self._children.get(node, [])

    @cached_property
    def _children(self) -> dict[int, list[int]]:
        children: dict[int, list[int]] = {}
        for node, parent in enumerate(self.parents):
            children.setdefault(parent, []).append(node)
        return children

    def child(self, node: int, atom: Atom) -> int | None:
        """The child of ``node`` that holds ``atom``."""
        return next((i for i in self.children(node) if self.atoms[i] == atom), None)

    def only_child(self, node: int) -> int | None:
        """The child of ``node`` in a chain, `None` at its end; `ValueError` where it branches."""
        children = self.children(node)
        if len(children) > 1:
            raise ValueError("This verifier is defined along a chain, and the draft branches.")
        return children[0] if children else None

    def path(self, node: int) -> list[int]:
        """Nodes from the first level down to ``node``, itself included."""
        nodes = []
        while node != ROOT:
            nodes.append(node)
            node = self.parents[node]
        return nodes[::-1]

    def depths(self) -> NDArray[np.int64]:
        """Distance of every node from the root: int64 ``[nodes]``, 1 for the first level."""
        depths = np.ones(len(self.atoms), np.int64)
        for i, parent in enumerate(self.parents):
            if parent != ROOT:
                depths[i] = depths[parent] + 1
        return depths

    def ancestry(self) -> NDArray[np.bool_]:
        """``[nodes, nodes]``: row ``i`` marks ``i`` and its ancestors, which is what ``i`` sees."""
        mask = np.eye(len(self.atoms), dtype=np.bool_)
        for i, parent in enumerate(self.parents):
            if parent != ROOT:
                mask[i] |= mask[parent]
        return mask
