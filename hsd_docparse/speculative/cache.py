"""A key-value cache for ragged batches that commits and rolls back.

Every row fills its own slots from the left, without gaps: slot ``i`` of a row holds the key of its
``i``-th atom. A draft is written behind what is committed and is forgotten by not counting it, so a
rejected chain costs nothing, and an accepted branch of a tree moves a few slots to the left. Rows
keep their alignment and their positions contiguous however much each of them accepts (the two
invariants of EQSPEC, arXiv 2510.22876). What pads the short rows of a call is forgotten with it.

Three things that are easily confused stay apart: the *slot* (where a key is stored), the *content
position* (how many atoms the row has before it; two siblings share it), and the rotary coordinate
(the model's own business).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import torch
from torch import Tensor
from transformers.cache_utils import Cache, CacheLayerMixin

from hsd_docparse.speculative.tree import DraftTree

GROWTH = 256
"""Slots are allocated in steps of at least this many."""


@dataclass
class Writing:
    """Where the forward pass under way stores what it computes: ``width`` slots from
    ``starts[i]`` on in row ``rows[i]`` (every row of the cache if ``everything``). It sees the
    slots from ``first`` on."""

    rows: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    width: int = 0
    everything: bool = True
    first: int = 0

    @property
    def end(self) -> int:
        return max(self.starts, default=0) + self.width


class SlotLayer(CacheLayerMixin):
    """Keys and values of one layer, ``[rows, heads, slots, size]``, in a buffer that grows."""

    is_sliding = False
    is_croppable = True

    def __init__(self, writing: Writing, rows: int) -> None:
        super().__init__()
        self.writing = writing
        self.rows = rows

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        self.dtype, self.device = key_states.dtype, key_states.device
        self.keys, self.values = (
            states.new_zeros(self.rows, states.shape[1], 0, states.shape[3])
            for states in (key_states, value_states)
        )
        self.is_initialized = True

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: object, **kwargs: object
    ) -> tuple[Tensor, Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        assert self.keys is not None
        assert self.values is not None
        self.keys = self._stored(self.keys, key_states)
        self.values = self._stored(self.values, value_states)
        rows = slice(None) if self.writing.everything else self.writing.rows
        seen = slice(self.writing.first, self.writing.end)
        return self.keys[:, :, seen][rows], self.values[:, :, seen][rows]

    def move(self, row: int, sources: list[int], start: int) -> None:
        """Copy slots ``sources`` of a row to those from ``start`` on."""
        assert self.keys is not None
        assert self.values is not None
        for buffer in (self.keys, self.values):
            buffer[row, :, start : start + len(sources)] = buffer[row, :, sources]

    def select(self, rows: list[int]) -> None:
        """Drop all rows but ``rows``."""
        assert self.keys is not None
        assert self.values is not None
        self.keys, self.values = self.keys[rows], self.values[rows]
        self.rows = len(rows)

    def _stored(self, buffer: Tensor, states: Tensor) -> Tensor:
        writing = self.writing
        used = buffer.shape[2]
        if writing.end > used:
            size = max(writing.end, used + GROWTH, used * 3 // 2)
            bigger = buffer.new_zeros(*buffer.shape[:2], size, buffer.shape[3])
            bigger[:, :, :used] = buffer
            buffer = bigger
        start = writing.starts[0]
        if writing.everything and set(writing.starts) == {start}:
            buffer[:, :, start : start + writing.width] = states
        else:
            for row, start, own in zip(writing.rows, writing.starts, states, strict=True):
                buffer[row, :, start : start + writing.width] = own
        return buffer

    def get_seq_length(self) -> int:
        return self.writing.end - self.writing.width

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.writing.end - self.writing.first, self.writing.first

    def get_max_length(self) -> int:
        return -1


class SlotCache(Cache):
    """The cache of rows that were opened together. Used as a transformers cache.

    ``lengths[i]`` are the committed atoms of row i that have keys and values. Of the forward pass
    announced last, ``queries`` are the content positions of its inputs, int64 ``[rows, width]``,
    and ``position`` those of the slots that it sees, ``[rows, slots]``. ``window``: of a model
    whose atoms see only so many positions back, themselves included; what lies before that is not
    even looked at.
    """

    queries: Tensor
    position: Tensor

    def __init__(
        self, rows: int, device: torch.device | str = "cpu", *, window: int | None = None
    ) -> None:
        self.window = window
        self.writing = Writing()
        super().__init__(layer_class_to_replicate=partial(SlotLayer, self.writing, rows))  # type: ignore[arg-type]
        self.lengths = [0] * rows
        self.at = torch.device(device)

    def prompt_mask(self, lengths: Sequence[int]) -> Tensor:
        """Announce the prefill of right-padded prompts, and return what each query sees: bool
        ``[rows, 1, width, width]``. Padding fills slots that drafts will overwrite."""
        width = max(lengths)
        self._announce(range(len(lengths)), width)
        position = torch.arange(width, device=self.at)
        self.queries = self.position = position.expand(len(lengths), -1)
        self.lengths = list(lengths)
        causal = position[:, None] >= position
        return causal.expand(len(lengths), 1, -1, -1)

    def tree_mask(
        self, trees: Sequence[DraftTree[int]], rows: Sequence[int] | None = None
    ) -> Tensor:
        """Announce a pass over the pending atom and the tree of ``rows`` (default: all), and
        return what each query sees: bool ``[rows, 1, 1 + nodes, slots]``. Nothing of it is
        committed until it is kept."""
        rows = range(len(self.lengths)) if rows is None else rows
        width = 1 + max(len(tree) for tree in trees)
        self._announce(rows, width)
        starts = self.writing.starts
        if self.window is not None:
            self.writing.first = max(0, min(starts) + 1 - self.window)
        first = self.writing.first
        queries = torch.zeros(len(trees), width, dtype=torch.long)
        position = torch.arange(first, self.writing.end).repeat(len(trees), 1)
        sees = (position < torch.tensor(starts)[:, None])[:, None].repeat(1, width, 1)
        # A padded query sees itself, so that no softmax is empty.
        block = torch.eye(width, dtype=torch.bool).repeat(len(trees), 1, 1)
        for row, (tree, start) in enumerate(zip(trees, starts, strict=True)):
            size = len(tree)
            block[row, : 1 + size, 0] = True
            block[row, 1 : 1 + size, 1 : 1 + size] = torch.from_numpy(tree.ancestry())
            queries[row, 0] = start
            queries[row, 1 : 1 + size] = start + torch.from_numpy(tree.depths())
            written = slice(start - first, start - first + width)
            sees[row, :, written] = block[row]
            position[row, written] = queries[row]
        self.queries, self.position = queries.to(self.at), position.to(self.at)
        return sees[:, None].to(self.at)

    def keep(self, row: int, path: Sequence[int]) -> None:
        """Commit the pending atom and the nodes of ``path`` of the pass before."""
        first = self.lengths[row] + 1
        if list(path) != list(range(len(path))):
            sources = [first + node for node in path]
            for layer in self.slot_layers():
                layer.move(row, sources, first)
        self.lengths[row] = first + len(path)

    def rewind(self, row: int, count: int) -> None:
        """Take the last ``count`` committed atoms back."""
        self.lengths[row] -= count

    def select(self, rows: Sequence[int]) -> None:
        """Drop all rows but ``rows``. Called between passes."""
        for layer in self.slot_layers():
            layer.select(list(rows))
        self.lengths = [self.lengths[row] for row in rows]
        self.layer_class_to_replicate = partial(SlotLayer, self.writing, len(rows))  # type: ignore[assignment]

    def clear(self) -> None:
        """Give the memory back; the cache is not used again."""
        self.layers.clear()

    def slot_layers(self) -> list[SlotLayer]:
        return [layer for layer in self.layers if isinstance(layer, SlotLayer)]

    def _announce(self, rows: Sequence[int], width: int) -> None:
        writing = self.writing
        writing.rows = list(rows)
        writing.starts = [self.lengths[row] for row in rows]
        writing.width, writing.first = width, 0
        writing.everything = writing.rows == list(range(len(self.lengths)))
