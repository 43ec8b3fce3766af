"""What targets on a `SlotCache` share: rows that are opened together lie in one cache."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from hsd_docparse.speculative import DraftTree, Scores
from hsd_docparse.speculative.cache import SlotCache


@dataclass(eq=False)
class Group:
    """Rows opened together, which share a cache."""

    cache: SlotCache
    rows: list[Any] = field(default_factory=list)
    """Entry i is row i of the cache."""


AnyGroup = TypeVar("AnyGroup", bound=Group)


@dataclass(eq=False)
class Row(Generic[AnyGroup]):
    """One sequence. ``pending`` is its last token, which has no keys and values yet."""

    group: AnyGroup
    pending: int
    open: bool = True


AnyRow = TypeVar("AnyRow", bound=Row[Any])


class GroupedTarget(ABC, Generic[AnyGroup, AnyRow]):
    """Scores, keeps and closes rows (the core's `Target`); how a group is opened and what its
    forward pass is, is for the subclass to say."""

    @torch.no_grad()
    def score(self, states: Sequence[AnyRow], trees: Sequence[DraftTree[int]]) -> list[Scores]:
        """One forward pass a group of rows that were opened together."""
        drafts = dict(zip(states, trees, strict=True))
        scores: dict[AnyRow, Scores] = {}
        for group in dict.fromkeys(row.group for row in states):
            if not all(row.open for row in group.rows):
                self._forget_closed(group, [i for i, row in enumerate(group.rows) if row.open])
            asked = [i for i, row in enumerate(group.rows) if row in drafts]
            own = [drafts[group.rows[i]] for i in asked]
            sees = group.cache.tree_mask(own, asked)
            logits = self._forward(group, asked, own, sees)
            for i, tree, rows in zip(asked, own, logits, strict=True):
                scores[group.rows[i]] = Scores(rows[: 1 + len(tree)])
        if any(row.group.cache.at.type == "cuda" for row in states):
            # What a call takes is measured where it is made; the verifier would wait anyway.
            torch.cuda.synchronize()
        return [scores[row] for row in states]

    def keep(self, state: AnyRow, path: Sequence[int], pending: int) -> None:
        state.group.cache.keep(state.group.rows.index(state), path)
        state.pending = pending

    def cached(self, state: AnyRow) -> int:
        """Atoms of the row, prompt included, that have keys and values."""
        return state.group.cache.lengths[state.group.rows.index(state)]

    def close(self, states: Sequence[AnyRow]) -> None:
        for row in states:
            row.open = False
            if not any(other.open for other in row.group.rows):
                row.group.cache.clear()

    def _forget_closed(self, group: AnyGroup, alive: list[int]) -> None:
        group.cache.select(alive)
        group.rows = [group.rows[i] for i in alive]

    @abstractmethod
    def _forward(
        self, group: AnyGroup, rows: list[int], trees: Sequence[DraftTree[int]], sees: Tensor
    ) -> Sequence[Tensor]:
        """Logits after the pending token and every node of the tree of each of ``rows``: of each
        ``[1 + nodes or more, vocabulary]``. ``sees`` is what `SlotCache.tree_mask` gave."""


def draft_ids(pending: Sequence[int], trees: Sequence[DraftTree[int]]) -> Tensor:
    """Input ids of a pass: of every row its pending token and its nodes, then 0, int64
    ``[rows, 1 + nodes]``. What stands behind a row's nodes is seen by nothing."""
    width = 1 + max(len(tree) for tree in trees)
    ids = torch.zeros(len(trees), width, dtype=torch.long)
    for i, (first, tree) in enumerate(zip(pending, trees, strict=True)):
        ids[i, : 1 + len(tree)] = torch.tensor([first, *tree.atoms])
    return ids
