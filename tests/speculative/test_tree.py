"""Draft trees: merging, ancestry and depth."""

from __future__ import annotations

import numpy as np
import pytest

from hsd_docparse.speculative.tree import ROOT, DraftTree


def paths(tree: DraftTree[int]) -> set[tuple[int, ...]]:
    """What every node says, from the first level down."""
    return {tuple(tree.atoms[i] for i in tree.path(node)) for node in range(len(tree))}


def test_merge_shares_prefixes_and_goes_breadth_first() -> None:
    tree = DraftTree.merge([[1, 2, 3], [1, 2, 4], [5], [1, 6]], nodes=99, depth=9)
    assert tree.atoms == [1, 5, 2, 6, 3, 4]
    assert tree.parents == [ROOT, ROOT, 0, 0, 2, 2]


def test_caps_cost_the_far_ends_of_branches() -> None:
    branches = [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert DraftTree.merge(branches, nodes=5, depth=9).atoms == [1, 5, 2, 6, 3]
    assert DraftTree.merge(branches, nodes=99, depth=2).atoms == [1, 5, 2, 6]
    assert len(DraftTree.merge(branches, nodes=0, depth=9)) == 0
    assert len(DraftTree.merge(branches, nodes=9, depth=0)) == 0


def test_a_branch_on_known_nodes_goes_on_where_the_cap_stops_another() -> None:
    tree = DraftTree.merge([[1, 2], [3, 4], [1, 2]], nodes=3, depth=9)
    assert paths(tree) == {(1,), (3,), (1, 2)}


@pytest.mark.parametrize("seed", range(20))
def test_merged_trees_of_random_branches(seed: int) -> None:
    rng = np.random.default_rng(seed)
    branches = [rng.integers(0, 3, rng.integers(0, 7)).tolist() for _ in range(8)]
    prefixes = {tuple(b[: i + 1]) for b in branches for i in range(min(len(b), 5))}
    full = DraftTree.merge(branches, nodes=999, depth=5)
    assert paths(full) == prefixes
    assert len(full) == len(prefixes), "siblings must hold distinct atoms"
    capped = DraftTree.merge(branches, nodes=9, depth=5)
    assert capped.atoms == full.atoms[:9]
    assert capped.parents == full.parents[:9]
    for tree in (full, capped):
        assert all(parent < node for node, parent in enumerate(tree.parents))
        depths = tree.depths()
        assert depths.tolist() == sorted(depths), "not breadth first"
        for node, sees in enumerate(tree.ancestry()):
            assert np.flatnonzero(sees).tolist() == tree.path(node)
            assert depths[node] == len(tree.path(node))


def test_chain() -> None:
    tree = DraftTree.chain([7, 8, 9])
    assert tree.path(2) == [0, 1, 2]
    assert tree.depths().tolist() == [1, 2, 3]
    assert tree.ancestry().tolist() == np.tri(3, dtype=bool).tolist()
    assert DraftTree.chain([]).ancestry().shape == (0, 0)


def test_child_is_looked_for_below_its_parent_only() -> None:
    tree = DraftTree([1, 2, 2, 1], [ROOT, ROOT, 0, 1])
    assert tree.child(ROOT, 2) == 1
    assert tree.child(0, 2) == 2
    assert tree.child(1, 1) == 3
    assert tree.child(1, 2) is None
    assert DraftTree.empty().child(ROOT, 1) is None
