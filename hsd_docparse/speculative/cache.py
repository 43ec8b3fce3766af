"""A key-value cache for ragged batches that commits and rolls back.

Every call appends one slot a query to every row, whatever the row has use for; a bit says
which slots are *live*. Rejected nodes and padding are slots that nothing sees. Three things
that are easily confused stay apart: the *slot* (where a key is stored), the *content
position* (how many atoms the row has committed before it), and the rotary coordinate
(the model's own business).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers.cache_utils import Cache, CacheLayerMixin

from hsd_docparse.speculative.tree import DraftTree

DEAD_SHARE = 0.3
"""Compact when more than this share of the slots is dead."""
GROWTH = 256
"""Slots are allocated in steps of at least this many."""


class SlotLayer(CacheLayerMixin):
    """Keys and values of one layer, ``[rows, heads, slots, size]``, in a buffer that grows."""

    is_sliding = False
    is_croppable = True
    used = 0

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        self.dtype, self.device = key_states.dtype, key_states.device
        self.keys = key_states[:, :, :0]
        self.values = value_states[:, :, :0]
        self.is_initialized = True

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: object, **kwargs: object
    ) -> tuple[Tensor, Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        assert self.keys is not None
        assert self.values is not None
        end = self.used + key_states.shape[2]
        if end > self.keys.shape[2]:
            self.keys = self._grown(self.keys, end)
            self.values = self._grown(self.values, end)
        self.keys[:, :, self.used : end] = key_states
        self.values[:, :, self.used : end] = value_states
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]

    def gather(self, rows: Tensor, slots: Tensor) -> None:
        """Keep ``slots[i]`` of row ``rows[i]``, in that order."""
        assert self.keys is not None
        assert self.values is not None
        at = rows[:, None]
        self.keys = self.keys[at, :, slots].transpose(1, 2).contiguous()
        self.values = self.values[at, :, slots].transpose(1, 2).contiguous()
        self.used = slots.shape[1]

    def _grown(self, buffer: Tensor, end: int) -> Tensor:
        size = max(end, self.used + GROWTH, self.used * 3 // 2)
        bigger = buffer.new_zeros(*buffer.shape[:2], size, buffer.shape[3])
        bigger[:, :, : self.used] = buffer[:, :, : self.used]
        return bigger

    def get_seq_length(self) -> int:
        return self.used

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.used + query_length, 0

    def get_max_length(self) -> int:
        return -1


class SlotCache(Cache):
    """The cache of a group of rows that are scored together. Used as a transformers cache.

    ``live`` is bool ``[rows, slots]``, ``position`` the content position of each slot.
    """

    live: Tensor
    position: Tensor

    def __init__(self, rows: int, device: torch.device | str = "cpu") -> None:
        super().__init__(layer_class_to_replicate=SlotLayer)
        self.live = torch.zeros(rows, 0, dtype=torch.bool, device=device)
        self.position = torch.zeros(rows, 0, dtype=torch.long, device=device)

    @property
    def lengths(self) -> list[int]:
        """Committed atoms of every row that have keys and values."""
        return self.live.sum(1).tolist()

    def prompt_mask(self, lengths: Sequence[int]) -> Tensor:
        """Add slots for right-padded prompts and return what each query sees:
        bool ``[rows, 1, width, slots]``."""
        width = max(lengths)
        at = torch.arange(width, device=self.live.device)
        self._add(at.expand(len(lengths), -1))
        real = at < torch.tensor(lengths, device=at.device)[:, None]
        self.live[:, -width:] = real
        causal = torch.ones(width, width, dtype=torch.bool, device=at.device).tril()
        # A padded query sees itself, so that no softmax is empty.
        alone = torch.eye(width, dtype=torch.bool, device=at.device)
        return ((causal & real[:, None, :]) | alone)[:, None]

    def tree_mask(self, trees: Sequence[DraftTree[int]]) -> Tensor:
        """Add slots for the pending atom and the tree of every row, and return what each
        query sees: bool ``[rows, 1, 1 + nodes, slots]``. The new slots stay dead until kept."""
        width = 1 + max(len(tree) for tree in trees)
        committed = torch.tensor(self.lengths, device=self.live.device)
        block = torch.eye(width, dtype=torch.bool).repeat(len(trees), 1, 1)
        depth = torch.zeros(len(trees), width, dtype=torch.long)
        for row, tree in enumerate(trees):
            size = len(tree)
            block[row, : 1 + size, 0] = True
            block[row, 1 : 1 + size, 1 : 1 + size] = torch.from_numpy(tree.ancestry())
            depth[row, 1 : 1 + size] = torch.from_numpy(tree.depths())
        past = self.live[:, None, :].expand(-1, width, -1)
        self._add(committed[:, None] + depth.to(committed.device))
        return torch.cat([past, block.to(past.device)], dim=2)[:, None]

    def keep(self, row: int, width: int, path: Sequence[int]) -> None:
        """Make the pending atom and the nodes of ``path`` live, among the last ``width``
        slots, which are those of the last `tree_mask`."""
        first = self.live.shape[1] - width
        self.live[row, [first, *(first + 1 + node for node in path)]] = True

    def settle(self, rows: Sequence[int]) -> None:
        """Drop all rows but ``rows`` and, where it pays, the dead slots. Called between steps."""
        changed = len(rows) != self.live.shape[0]
        if changed:
            self._gather(torch.tensor(rows, device=self.live.device))
            return
        used = self.live.any(0).nonzero()
        end = int(used[-1]) + 1 if len(used) else 0
        if end < self.live.shape[1]:
            # What a chain rejects lies at the end, and costs nothing to forget.
            self.live, self.position = self.live[:, :end], self.position[:, :end]
            for layer in self._slot_layers():
                layer.used = end
        longest = max(self.lengths)
        if end - longest > DEAD_SHARE * end + 16:
            self._gather(torch.arange(len(rows), device=self.live.device))

    def clear(self) -> None:
        """Give the memory back; the cache is not used again."""
        self.layers.clear()

    def _slot_layers(self) -> list[SlotLayer]:
        return [layer for layer in self.layers if isinstance(layer, SlotLayer)]

    def _gather(self, rows: Tensor) -> None:
        live = self.live[rows]
        width = int(live.sum(1).max())
        # Stable: live slots first, in the order in which they came.
        slots = (~live).to(torch.uint8).argsort(dim=1, stable=True)[:, :width]
        self.live = live.gather(1, slots)
        self.position = self.position[rows].gather(1, slots)
        for layer in self._slot_layers():
            layer.gather(rows, slots)

    def _add(self, position: Tensor) -> None:
        self.position = torch.cat([self.position, position], dim=1)
        self.live = torch.cat([self.live, torch.zeros_like(position, dtype=torch.bool)], dim=1)
