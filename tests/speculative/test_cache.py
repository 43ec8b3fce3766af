"""The slot cache: masks, positions, rollback, branches and subsets of rows."""

from __future__ import annotations

import torch
from identity import check_cache, check_rewind, check_subsets

from hsd_docparse.speculative.cache import GROWTH, SlotCache, SlotLayer
from hsd_docparse.speculative.tree import ROOT, DraftTree


def fill(cache: SlotCache, block: int) -> torch.Tensor:
    """Store keys ``100 * block + 10 * row + place``, and values that are their negatives."""
    writing = cache.writing
    rows = torch.tensor(writing.rows)
    keys = 100.0 * block + 10 * rows[:, None] + torch.arange(writing.width)
    keys = keys[:, None, :, None].expand(-1, 2, -1, 3)
    stored, _ = cache.update(keys, -keys, 0)
    return stored


def stored(cache: SlotCache, row: int) -> list[int]:
    """The keys that a row has committed, as `fill` numbered them."""
    (layer,) = cache.slot_layers()
    assert layer.keys is not None
    assert layer.values is not None
    keys = layer.keys[row, 1, : cache.lengths[row], 2]
    assert torch.equal(layer.values[row, 1, : cache.lengths[row], 2], -keys)
    return [int(key) for key in keys]


def test_the_ledger_and_masks_step_by_step() -> None:
    cache = SlotCache(2)
    sees = cache.prompt_mask([3, 1])
    assert sees[0, 0].int().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    fill(cache, 0)
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
    # The shorter row goes on where it ends, over the padding of its prompt.
    assert sees[1, 0].int().tolist() == [
        [1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0, 0],
        [1, 0, 0, 1, 0, 0, 0],
        [1, 0, 0, 0, 1, 0, 0],
    ], "padding sees itself"
    assert cache.queries[0].tolist() == [3, 4, 4, 5]
    assert cache.queries[1, :2].tolist() == [1, 2]
    assert cache.position[0].tolist() == [0, 1, 2, 3, 4, 4, 5]
    assert cache.position[1, :3].tolist() == [0, 1, 2]
    fill(cache, 1)
    assert cache.lengths == [3, 1], "what was scored is not kept yet"

    cache.keep(0, [0, 2])
    cache.keep(1, [])
    assert cache.lengths == [6, 2]
    assert [stored(cache, row) for row in (0, 1)] == [[0, 1, 2, 100, 101, 103], [10, 110]]

    sees = cache.tree_mask([DraftTree.empty()] * 2)
    assert sees[:, 0, 0].int().tolist() == [[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0]]
    assert cache.queries.tolist() == [[6], [2]]


def test_what_a_chain_rejects_is_forgotten_without_a_copy() -> None:
    cache = SlotCache(1)
    cache.prompt_mask([2])
    fill(cache, 0)
    cache.tree_mask([DraftTree.chain(range(9))])
    fill(cache, 1)
    (layer,) = cache.slot_layers()
    buffer = layer.keys
    cache.keep(0, [0, 1])
    assert layer.keys is buffer
    assert stored(cache, 0) == [0, 1, 100, 101, 102]
    cache.tree_mask([DraftTree.empty()])
    assert fill(cache, 2)[0, 0, :, 0].tolist() == [0, 1, 100, 101, 102, 200]


def test_finished_rows_leave_and_the_others_keep_what_is_theirs() -> None:
    cache = SlotCache(4)
    cache.prompt_mask([3, 5, 1, 2])
    fill(cache, 0)
    cache.tree_mask([DraftTree([*range(7)], [ROOT] * 7)] * 4)
    fill(cache, 1)
    for row in range(4):
        cache.keep(row, [row + 2])
    before = [stored(cache, row) for row in range(4)]
    cache.select([3, 1])
    assert cache.lengths == [4, 7]
    assert [stored(cache, row) for row in (0, 1)] == [before[3], before[1]]
    cache.tree_mask([DraftTree.empty()] * 2)
    assert fill(cache, 2).shape[0] == 2


def test_rows_that_are_not_asked_keep_everything() -> None:
    cache = SlotCache(3)
    cache.prompt_mask([2, 4, 1])
    fill(cache, 0)
    before = stored(cache, 1)
    cache.tree_mask([DraftTree.chain([5]), DraftTree.empty()], [2, 0])
    seen = fill(cache, 1)
    assert seen[:, 0, :, 0].tolist() == [[20, 120, 121, 23], [0, 1, 100, 101]]
    cache.keep(2, [0])
    cache.keep(0, [])
    assert stored(cache, 1) == before
    assert stored(cache, 2) == [20, 120, 121]
    assert stored(cache, 0) == [0, 1, 100]


def test_the_buffer_grows_and_forgets_nothing() -> None:
    cache = SlotCache(2)
    blocks = [torch.randn(2, 3, width, 5) for width in (7, GROWTH, 1, 3 * GROWTH, 2)]
    for i, block in enumerate(blocks):
        cache.tree_mask([DraftTree.chain(range(block.shape[2] - 1))] * 2)
        keys, values = cache.update(block, block + 1, 0)
        for row in (0, 1):
            cache.keep(row, range(block.shape[2] - 1))
        assert torch.equal(keys, torch.cat(blocks[: i + 1], dim=2))
        assert torch.equal(values, keys + 1)
    (layer,) = cache.slot_layers()
    assert isinstance(layer, SlotLayer)
    assert cache.lengths == [sum(block.shape[2] for block in blocks)] * 2


def test_what_no_query_can_see_is_not_looked_at() -> None:
    cache, whole = SlotCache(2, window=4), SlotCache(2)
    tree = DraftTree([5, 6, 7], [ROOT, ROOT, 0])
    for each in (cache, whole):
        each.prompt_mask([9, 7])
        fill(each, 0)
    sees, everything = cache.tree_mask([tree] * 2), whole.tree_mask([tree] * 2)
    # The shorter row has its pending atom at position 7, which sees those from 4 on.
    assert torch.equal(cache.position, whole.position[:, 4:])
    assert torch.equal(sees, everything[..., 4:])
    assert torch.equal(fill(cache, 1), fill(whole, 1)[:, :, 4:])
    cache.keep(0, [0, 2])
    assert stored(cache, 0) == [*range(9), 100, 101, 103]


def test_what_is_cached_is_what_a_fresh_forward_computes() -> None:
    check_cache()


def test_any_rows_may_share_a_call() -> None:
    check_subsets()


def test_what_is_taken_back_is_forgotten() -> None:
    check_rewind()
