"""Draft trees: what a drafter proposes and a target scores in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Atom = TypeVar("Atom")
"""What is generated: a token (int), a vector, a reasoning step."""

ROOT = -1
"""The parent of first-level nodes: the pending atom, committed but not yet in the cache."""


@dataclass(frozen=True)
class DraftTree(Generic[Atom]):
    """Atoms with parents; parents come before their children, siblings hold distinct atoms.

    ``laws``, where the drafter knows them, are the distributions the atoms were really
    drawn from, after every processor; ``None`` means that the draft is a fixed text.
    """

    atoms: Sequence[Atom]
    parents: Sequence[int]
    laws: Sequence[Any] | None = None

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

    def child(self, node: int, atom: Atom) -> int | None:
        """The child of ``node`` that holds ``atom``."""
        for i in range(node + 1, len(self.atoms)):
            if self.parents[i] == node and self.atoms[i] == atom:
                return i
        return None

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
