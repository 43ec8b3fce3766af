"""The slot cache: masks, positions, rollback and compaction."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from identity import check_cache, check_compaction

from hsd_docparse.speculative.cache import GROWTH, SlotCache, SlotLayer
from hsd_docparse.speculative.tree import ROOT, DraftTree


def fill(cache: SlotCache, width: int) -> torch.Tensor:
    """Store keys ``10 * slot + row`` and values that are their negatives."""
    rows, slots = cache.live.shape
    at = torch.arange(slots - width, slots)
    keys = (10.0 * at + torch.arange(rows)[:, None])[:, None, :, None].expand(-1, 2, -1, 3)
    stored, _ = cache.update(keys, -keys, 0)
    return stored


def stored(cache: SlotCache, row: int) -> list[int]:
    """The slots, as `fill` numbered them, that a row has live."""
    layer = cache.layers[0]
    assert isinstance(layer, SlotLayer)
    assert layer.keys is not None
    assert layer.values is not None
    live = cache.live[row]
    keys = layer.keys[row, 1, : layer.used][live][:, 2]
    assert torch.equal(layer.values[row, 1, : layer.used][live][:, 2], -keys)
    return [int(key) // 10 for key in keys]


def test_the_ledger_and_masks_step_by_step() -> None:
    cache = SlotCache(2)
    sees = cache.prompt_mask([3, 1])
    assert sees[0, 0].int().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert sees[1, 0].int().tolist() == [[1, 0, 0], [1, 1, 0], [1, 0, 1]], "padding sees itself"
    fill(cache, 3)
    assert cache.lengths == [3, 1]

    trees = [DraftTree([5, 6, 7], [ROOT, ROOT, 0]), DraftTree.chain([8])]
    sees = cache.tree_mask(trees)
    past = [1, 1, 1]
    assert sees[0, 0].int().tolist() == [
        [*past, 1, 0, 0, 0],
        [*past, 1, 1, 0, 0],
        [*past, 1, 0, 1, 0],
        [*past, 1, 1, 0, 1],
    ]
    past = [1, 0, 0]
    assert sees[1, 0, :2].int().tolist() == [[*past, 1, 0, 0, 0], [*past, 1, 1, 0, 0]]
    assert sees[1, 0, 2:, 3:].int().tolist() == [[0, 0, 1, 0], [0, 0, 0, 1]]
    assert cache.position[:, 3:].tolist() == [[3, 4, 4, 5], [1, 2, 1, 1]]
    fill(cache, 4)
    assert cache.lengths == [3, 1], "what was scored is not kept yet"

    cache.keep(0, 4, [0, 2])
    cache.keep(1, 4, [])
    assert cache.lengths == [6, 2]
    assert [stored(cache, row) for row in (0, 1)] == [[0, 1, 2, 3, 4, 6], [0, 3]]

    sees = cache.tree_mask([DraftTree.empty()] * 2)
    assert sees[:, 0, 0].int().tolist() == [[1, 1, 1, 1, 1, 0, 1, 1], [1, 0, 0, 1, 0, 0, 0, 1]]
    assert cache.position[:, -1].tolist() == [6, 2]


def test_what_a_chain_rejects_is_forgotten_without_a_copy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cache = SlotCache(2)
    cache.prompt_mask([2, 2])
    fill(cache, 2)
    cache.tree_mask([DraftTree.chain(range(9))] * 2)
    fill(cache, 10)
    cache.keep(0, 10, [0, 1])
    cache.keep(1, 10, [0])
    monkeypatch.delattr(SlotLayer, "gather")
    cache.settle([0, 1])
    assert cache.live.shape == cache.position.shape == (2, 5)
    assert [stored(cache, row) for row in (0, 1)] == [[0, 1, 2, 3, 4], [0, 1, 2, 3]]
    cache.tree_mask([DraftTree.empty()] * 2)
    assert fill(cache, 1)[:, 0, :, 0].tolist() == [
        [0, 10, 20, 30, 40, 50],
        [1, 11, 21, 31, 41, 51],
    ]


def test_finished_rows_leave_and_the_others_keep_what_is_theirs() -> None:
    rng = np.random.default_rng(0)
    cache = SlotCache(4)
    cache.prompt_mask([3, 5, 1, 2])
    fill(cache, 5)
    cache.tree_mask([DraftTree.chain(range(7))] * 4)
    fill(cache, 8)
    for row in range(4):
        cache.keep(row, 8, sorted(rng.choice(7, row + 1, replace=False).tolist()))
    before = [stored(cache, row) for row in range(4)]
    positions = [cache.position[row, cache.live[row]].tolist() for row in range(4)]
    cache.settle([3, 1])
    assert cache.live.shape[0] == 2
    assert [stored(cache, row) for row in (0, 1)] == [before[3], before[1]]
    for row, old in enumerate((3, 1)):
        assert cache.position[row, cache.live[row]].tolist() == positions[old]
    assert cache.live.shape[1] == max(cache.lengths), "no dead slot stays in the longest row"


def test_dead_slots_are_dropped_when_there_are_many() -> None:
    cache = SlotCache(1)
    cache.prompt_mask([4])
    fill(cache, 4)
    for _ in range(6):
        cache.tree_mask([DraftTree([*range(20)], [ROOT] * 20)])
        fill(cache, 21)
        cache.keep(0, 21, [19])
        cache.settle([0])
        assert cache.live.shape[1] - cache.lengths[0] <= 0.3 * cache.live.shape[1] + 16
    assert cache.lengths == [16]


def test_the_buffer_grows_and_forgets_nothing() -> None:
    layer = SlotLayer()
    blocks = [torch.randn(2, 3, width, 5) for width in (7, GROWTH, 1, 3 * GROWTH, 2)]
    for i, block in enumerate(blocks):
        keys, values = layer.update(block, block + 1)
        assert torch.equal(keys, torch.cat(blocks[: i + 1], dim=2))
        assert torch.equal(values, keys + 1)
    assert layer.get_seq_length() == sum(block.shape[2] for block in blocks)


def test_what_is_cached_is_what_a_fresh_forward_computes() -> None:
    check_cache()


def test_compaction_changes_nothing() -> None:
    check_compaction()
