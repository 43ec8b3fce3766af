"""The loop: greedy decoding stays what it is, whatever was proposed."""

from __future__ import annotations

from collections.abc import Sequence

import identity
import pytest
import toy
from identity import LENGTH, PENALTY

from hsd_docparse.speculative import (
    AlignedText,
    Budget,
    DraftTree,
    Fixed,
    Greedy,
    MaxLength,
    NoDraft,
    Outcome,
    Request,
    Scores,
    Statistics,
    StopTokens,
    run,
)


def test_the_toy_proves_something() -> None:
    """Outputs vary, depend on the whole prompt and on positions, and hold the padding token."""
    outputs = [toy.greedy(prompt, LENGTH) for prompt in toy.prompts([4] * 10)]
    assert len({tuple(output) for output in outputs}) == 10
    assert all(len(set(output)) > 6 for output in outputs)
    assert sum(output.count(toy.PAD) for output in outputs) > 5
    assert toy.greedy((1, 2, 3, 4), 8) != toy.greedy((2, 2, 3, 4), 8)
    assert toy.greedy((1, 2, 3, 4), LENGTH, PENALTY) != toy.greedy((1, 2, 3, 4), LENGTH)


def test_chains_give_what_plain_decoding_gives() -> None:
    identity.check_chains(16)


def test_trees_give_what_plain_decoding_gives() -> None:
    identity.check_trees(10)


def test_with_a_repetition_penalty_too() -> None:
    identity.check_penalty(3)


def test_ragged_rows_are_what_each_is_alone() -> None:
    identity.check_ragged()


def test_stops_inside_accepted_blocks() -> None:
    identity.check_stops()


class Phrase:
    """Ends with a phrase of several tokens, which may stand across two blocks."""

    reason = "phrase"

    def __init__(self, tokens: Sequence[int]) -> None:
        self.tokens = list(tokens)

    def ends(self, output: Sequence[int], length: int) -> bool:
        return list(output[max(0, length - len(self.tokens)) : length]) == self.tokens


@pytest.mark.parametrize("chain", [0, 1, 2, 3, 4, 7, 64])
def test_a_phrase_stops_whatever_the_size_of_blocks(chain: int) -> None:
    (prompt,) = toy.prompts([5], seed=6)
    truth = toy.greedy(prompt, LENGTH)
    target = toy.ToyTarget()
    (state,) = target.open([prompt])
    stops = [Phrase(truth[10:13]), MaxLength(LENGTH)]
    budget = Budget(chain=chain, nodes=chain, depth=chain)
    request = Request(state, AlignedText([truth]), stops, controller=Fixed(budget))
    run(target, [request])
    assert request.output == truth[:13]
    assert request.finished == "phrase"


def test_calls_are_saved_as_promised() -> None:
    (prompt,) = toy.prompts([5], seed=7)
    truth = toy.greedy(prompt, LENGTH)
    drafts = {
        LENGTH: NoDraft(),
        3: toy.Hidden(truth, 0, right=1, nodes=9),  # nine and the bonus a call
    }
    for calls, drafter in drafts.items():
        (request,) = identity.decoded([prompt], [drafter], [[MaxLength(LENGTH)]])
        assert request.statistics.calls == calls


class Given:
    """Proposes the same tree at every step."""

    def __init__(self, tree: DraftTree[int]) -> None:
        self.tree = tree

    def propose(self, output: Sequence[int], budget: Budget) -> DraftTree[int]:
        return self.tree

    def observe(self, outcome: Outcome[int]) -> None:
        pass


def one_step(truth: Sequence[int], tree: DraftTree[int], length: int = 99) -> Request[int]:
    """A request that ends with the first token 9 or after ``length`` tokens."""
    target = toy.Oracle(truth)
    (state,) = target.open([None])
    request = Request(state, Given(tree), [StopTokens([9]), MaxLength(length)])
    run(target, [request])
    return request


def test_statistics_count_what_was_emitted_only() -> None:
    truth = [1, 2, 3, 9, 5, 6, 7]
    chain = DraftTree.chain(truth)
    assert one_step(truth, chain).statistics == Statistics(1, proposed=7, tested=4, accepted=4)
    cut = one_step(truth, chain, length=2)
    assert cut.output == [1, 2]
    assert cut.finished == "length"
    assert cut.statistics == Statistics(1, proposed=7, tested=2, accepted=2)
    # The stop is the correction itself: all three were accepted, nothing else was tested.
    ends = one_step(truth, DraftTree.chain(truth[:3]))
    assert ends.statistics == Statistics(1, proposed=3, tested=3, accepted=3)
    assert ends.statistics.mean_accepted == 3.0
    wrong = one_step([1, 2, 9], DraftTree.chain([1, 7, 9]))
    assert wrong.output == [1, 2, 9]
    assert wrong.statistics == Statistics(2, proposed=6, tested=3, accepted=1)
    assert Statistics().mean_accepted == 0.0


def test_tested_nodes_are_those_that_were_decided() -> None:
    tree = DraftTree([1, 4, 2, 5, 6], [-1, -1, 0, 0, 1])
    for truth, path, tested in (
        ([1, 2, 3], [0, 2], 2),  # ends at a leaf: there was nothing below to decide
        ([1, 7, 3], [0], 2),
        ([8, 7, 3], [], 1),
        ([4, 6, 3], [1, 4], 2),
    ):
        (scores,) = toy.Oracle(truth).score([[0]], [tree])
        verdict = Greedy().verify(tree, scores, None)  # type: ignore[arg-type]
        assert (verdict.path, verdict.tested) == (path, tested)
        assert verdict.correction == truth[len(path)]
    (scores,) = toy.Oracle([1]).score([[0]], [DraftTree.empty()])
    assert Greedy().verify(DraftTree.empty(), scores, None).tested == 0  # type: ignore[arg-type]


class Listener:
    def __init__(self) -> None:
        self.outcomes: list[Outcome[int]] = []

    def on_commit(self, outcome: Outcome[int]) -> None:
        self.outcomes.append(outcome)


def test_observers_see_every_atom_once_and_nothing_behind_the_stop() -> None:
    (prompt,) = toy.prompts([5], seed=8)
    truth = toy.greedy(prompt, LENGTH)
    target = toy.ToyTarget()
    (state,) = target.open([prompt])
    listener = Listener()
    drafter = toy.Hidden(truth, 1, right=0.8, nodes=8)
    request = Request(state, drafter, [MaxLength(17)], observers=[listener])
    run(target, [request])
    assert [atom for outcome in listener.outcomes for atom in outcome.emitted] == truth[:17]
    assert len(listener.outcomes) == request.statistics.calls
    for outcome in listener.outcomes:
        assert isinstance(outcome.scores, Scores)
        assert len(outcome.scores.logits) == 1 + len(outcome.tree)
