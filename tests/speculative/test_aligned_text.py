"""Drafting from finished texts: windows, trees, recovery, and what is never proposed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import toy

from hsd_docparse.speculative import (
    AlignedText,
    Budget,
    DraftTree,
    MaxLength,
    NoDraft,
    Outcome,
    Request,
    Scores,
    Verdict,
    run,
)
from hsd_docparse.speculative.tree import ROOT

BUDGET = Budget()
Texts = Sequence[Sequence[int]]


def propose(texts: Texts, output: Sequence[int], budget: Budget = BUDGET) -> DraftTree[int]:
    return AlignedText(texts).propose(output, budget)


def branches(tree: DraftTree[int]) -> list[list[int]]:
    """What the leaves say, from the first level down."""
    leaves = set(range(len(tree))) - set(tree.parents)
    return [[tree.atoms[i] for i in tree.path(leaf)] for leaf in sorted(leaves)]


def accept(drafter: AlignedText, tree: DraftTree[int], path: list[int], correction: int) -> None:
    verdict = Verdict(path, correction, 0)
    emitted = [*(tree.atoms[node] for node in path), correction]
    drafter.observe(Outcome(tree, verdict, emitted, Scores(None)))


def accepted_lengths(truth: Sequence[int], texts: Texts, budget: Budget = BUDGET) -> list[int]:
    """Drafted atoms accepted in every call while a target writes ``truth``."""
    target = toy.Oracle(truth)
    (state,) = target.open([None])
    lengths: list[int] = []

    class Listener:
        def on_commit(self, outcome: Outcome[int]) -> None:
            lengths.append(min(len(outcome.verdict.path), len(outcome.emitted)))

    stops = [MaxLength(len(truth))]
    request = Request(state, AlignedText(texts), stops, observers=[Listener()])
    request.controller.budget = budget  # type: ignore[attr-defined]
    run(target, [request])
    assert request.output == list(truth)
    return lengths


# Windows.


def test_a_unique_match_of_three_gives_the_rest_as_a_chain() -> None:
    text = [1, 2, 3, 4, 5, 1, 2, 9, 8, 7]
    tree = propose([text], [0, 2, 3, 4])
    assert list(tree.atoms) == [5, 1, 2, 9, 8, 7]
    assert list(tree.parents) == [-1, 0, 1, 2, 3, 4]
    assert list(propose([text], [2, 3, 4], Budget(chain=2)).atoms) == [5, 1]
    assert len(propose([text], [9, 8, 7])) == 0, "nothing follows the end of a text"


@pytest.mark.parametrize("shared", range(2, 13))
def test_the_window_grows_to_ten_while_it_is_ambiguous(shared: int) -> None:
    """Two places agree in ``shared`` tokens, and in the one before them they differ."""
    phrase = list(range(10, 10 + shared))
    text = [1, *phrase, 91, 92, 2, *phrase, 93, 94]
    found = branches(propose([text], [2, *phrase]))
    if shared < 10:
        assert found == [[93, 94]]
    else:
        first, second = found
        assert sorted((first[:2], second[:2])) == [[91, 92], [93, 94]]


def test_all_places_of_the_longest_match_become_a_prefix_tree() -> None:
    phrase = [1, 2, 3]
    text = [*phrase, 4, 5, 7, *phrase, 4, 6, 7, *phrase, 8, 7]
    tree = propose([text], phrase, Budget(depth=2))
    assert branches(tree) == [[8, 7], [4, 5], [4, 6]] or branches(tree) == [[4, 5], [4, 6], [8, 7]]
    assert tree.parents.count(ROOT) == 2, "a shared prefix is one node"


def test_trees_have_at_most_128_nodes_and_15_levels() -> None:
    rng = np.random.default_rng(0)
    texts = [[1, 2, 3, *rng.integers(4, 999, 40).tolist()] for _ in range(30)]
    tree = propose(texts, [1, 2, 3])
    assert len(tree) == 128
    assert tree.depths().max() <= 15
    assert tree.parents.count(ROOT) > 25, "breadth first: a cap costs no whole branch"
    assert propose(texts[:2], [1, 2, 3]).depths().max() == 15
    small = propose(texts, [1, 2, 3], Budget(nodes=9, depth=4))
    assert len(small) == 9


def test_no_chain_is_built_on_less_than_three_tokens() -> None:
    """Even where a token occurs once only: the target may have written it by departing."""
    drafter = AlignedText([list(range(10, 60))])
    tree = drafter.propose([], BUDGET)
    accept(drafter, tree, [0, 1, 2], 50)
    tree = drafter.propose([10, 11, 12, 50], BUDGET)
    starts = {branch[0] for branch in branches(tree)}
    assert starts == {14, 13, 15, 16, 51}


# Cold start, ends and separators.


def test_a_cold_start_proposes_the_beginnings() -> None:
    tree = propose([[1, 2, 3], [], [4, 5], [1, 6]], [])
    assert branches(tree) == [[4, 5], [1, 6], [1, 2, 3]]
    assert len(propose([], [])) == 0
    assert len(propose([[]], [3])) == 0
    assert len(propose([[1, 2]], [7, 8, 9])) == 0, "nothing is known and nothing matches"
    assert propose([range(100)], []).depths().max() == 15


def test_texts_are_not_matched_across_a_separator() -> None:
    """Joined, the first two texts would hold the whole window."""
    texts = [[1, 2, 3], [4, 5, 6], [9, 4, 5, 7]]
    assert sorted(branches(propose(texts, [2, 3, 4, 5]))) == [[6], [7]]
    joined = [[1, 2, 3, 4, 5, 6], [9, 4, 5, 7]]
    assert branches(propose(joined, [2, 3, 4, 5])) == [[6]]


@pytest.mark.parametrize("seed", range(5))
def test_only_what_stands_in_one_text_is_proposed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    texts = [rng.integers(0, 5, rng.integers(1, 9)).tolist() for _ in range(6)]
    pieces = {tuple(t[i:j]) for t in texts for i in range(len(t)) for j in range(i + 1, len(t) + 1)}
    drafter = AlignedText(texts)
    truth = rng.integers(0, 5, 60).tolist()
    output: list[int] = []
    while len(output) < len(truth):
        tree = drafter.propose(output, Budget(chain=6, nodes=20, depth=4))
        assert len(tree) <= 20
        assert set(map(tuple, branches(tree))) <= pieces
        path: list[int] = []
        node: int | None = ROOT
        rest = iter(truth[len(output) :])
        for correction in rest:
            node = tree.child(node, correction)
            if node is None:
                break
            path.append(node)
        output += [*(tree.atoms[i] for i in path), correction]
        accept(drafter, tree, path, correction)


def test_no_draft_is_one_call_a_token() -> None:
    assert len(NoDraft().propose([1, 2], BUDGET)) == 0


# Recovery. The draft is 1000..1059; the target departs from it at one place.

DRAFT = list(range(1000, 1060))
UNSEEN = 5
DEPARTURES = {
    "substituted": lambda at, x: [*DRAFT[:at], x, *DRAFT[at + 1 :]],
    "inserted": lambda at, x: [*DRAFT[:at], x, *DRAFT[at:]],
    "deleted": lambda at, x: [*DRAFT[:at], *DRAFT[at + 1 :]],
    "three for one": lambda at, x: [*DRAFT[:at], x, *DRAFT[at + 3 :]],
}


@pytest.mark.parametrize("at", [0, 1, 2, 7, 30])
@pytest.mark.parametrize("departure", DEPARTURES)
@pytest.mark.parametrize("token", [UNSEEN, DRAFT[45], DRAFT[44]])
def test_the_call_after_a_departure_is_back_on_the_draft(
    departure: str, at: int, token: int
) -> None:
    """Also where the wrong token stands somewhere else in the draft."""
    truth = DEPARTURES[departure](at, token)
    lengths = accepted_lengths(truth, [DRAFT])
    # The beginning is a tree of 15 levels and a bonus, all that follows a chain.
    call = 0 if at <= 15 else 1
    assert lengths[call] == (at if at <= 15 else at - 16)
    assert lengths[call + 1] == 15
    assert len(lengths) == call + 3


@pytest.mark.parametrize("departure", ["substituted", "inserted", "deleted"])
def test_recovery_where_every_token_is_frequent(departure: str) -> None:
    """Twelve words in random order: the last token alone says little."""
    rng = np.random.default_rng(3)
    draft = rng.integers(0, 12, 120).tolist()
    truth = {
        "substituted": [*draft[:60], 0, *draft[61:]],
        "inserted": [*draft[:60], 0, *draft[60:]],
        "deleted": [*draft[:60], *draft[61:]],
    }[departure]
    assert draft[60] != 0
    lengths = accepted_lengths(truth, [draft])
    positions = np.cumsum([n + 1 for n in lengths])
    after = int(np.searchsorted(positions, 61)) + 1
    assert lengths[after] >= 10
    assert len(lengths) <= 7


# The cursor.


def test_the_cursor_follows_the_branch_that_was_accepted() -> None:
    phrase = [1, 2, 3]
    text = [*phrase, 4, 5, 6, *phrase, 4, 7, 8, 30, 31, 32, 33, 34]
    drafter = AlignedText([text])
    tree = drafter.propose(phrase, BUDGET)
    path = [tree.child(ROOT, 4)]
    path.append(tree.child(path[0], 7))
    accept(drafter, tree, path, 99)
    assert text[drafter.cursor] == 8
    recovery = drafter.propose([*phrase, 4, 7, 99], BUDGET)
    assert {branch[0] for branch in branches(recovery)} == {30, 8, 31, 32}


def test_of_equal_places_the_one_near_the_cursor_counts() -> None:
    """A departure right behind a phrase that stands twice in the draft."""
    phrase = list(range(10, 22))
    draft = [*range(100, 130), *phrase, *range(200, 230), *phrase, *range(300, 330)]
    truth = [*draft[:84], UNSEEN, *draft[85:]]
    # The last chain ends with the phrase, so the departure is met by a tree of two branches.
    lengths = accepted_lengths(truth, [draft], Budget(chain=33))
    positions = np.cumsum([n + 1 for n in lengths])
    met = int(np.searchsorted(positions, 85))
    assert positions[met - 1] == 84
    assert lengths[met] == 0
    assert lengths[met + 1] == 15


def test_blocks_in_another_order_are_found_again() -> None:
    rng = np.random.default_rng(0)
    blocks = [rng.integers(0, 900, 40).tolist() for _ in range(4)]
    truth = [token for i in (2, 0, 3, 1) for token in blocks[i]]
    for texts in (blocks, [[token for block in blocks for token in block]]):
        lengths = accepted_lengths(truth, texts)
        assert len(lengths) <= 16
        assert sum(lengths) >= len(truth) - len(lengths)
