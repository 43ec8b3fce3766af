"""What targets on a `SlotCache` share: rows that are opened together are scored together."""

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
    """Rows opened together: they share a cache, and every forward pass takes all of them."""

    cache: SlotCache
    rows: list[Any] = field(default_factory=list)
    """Entry i is row i of the cache."""
    width: int = 0
    """Slots that the last forward pass added."""


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
            self._settle(group, [i for i, row in enumerate(group.rows) if row.open])
            # An open row that nobody asks about rides along; what it adds is never kept.
            batch = [drafts.get(row, DraftTree.empty()) for row in group.rows]
            sees = group.cache.tree_mask(batch)
            group.width = sees.shape[2]
            logits = self._forward(group, batch, sees)
            for row, tree, own in zip(group.rows, batch, logits, strict=True):
                if row in drafts:
                    scores[row] = Scores(own[: 1 + len(tree)])
        return [scores[row] for row in states]

    def keep(self, state: AnyRow, path: Sequence[int], pending: int) -> None:
        group = state.group
        group.cache.keep(group.rows.index(state), group.width, path)
        state.pending = pending

    def close(self, states: Sequence[AnyRow]) -> None:
        for row in states:
            row.open = False
            if not any(other.open for other in row.group.rows):
                row.group.cache.clear()

    def _settle(self, group: AnyGroup, alive: list[int]) -> None:
        """Forget the rows that are not in ``alive``."""
        group.cache.settle(alive)
        group.rows = [group.rows[i] for i in alive]

    @abstractmethod
    def _forward(
        self, group: AnyGroup, trees: Sequence[DraftTree[int]], sees: Tensor
    ) -> Sequence[Tensor]:
        """Logits after the pending token and every node of each row's tree: of each row
        ``[1 + nodes or more, vocabulary]``. ``sees`` is what `SlotCache.tree_mask` gave."""
