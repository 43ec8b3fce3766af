"""Who shares a call: never what comes out, only how much of it is padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import toy

from hsd_docparse.speculative import (
    Budget,
    DraftTree,
    FirstCome,
    Fixed,
    MaxLength,
    NoDraft,
    Request,
    SameLength,
    Sampler,
    Sampling,
    Scheduler,
    Scores,
    invariants,
    run,
)


class Counting(toy.ToyTarget):
    """Counts the key slots that a call reads, and those that are padding."""

    def __init__(self) -> None:
        super().__init__()
        self.read = self.padding = self.largest = 0

    def score(self, states: Sequence[toy.Row], trees: Sequence[DraftTree[int]]) -> list[Scores]:
        lengths = [self.cached(state) + 1 + len(t) for state, t in zip(states, trees, strict=True)]
        self.read += max(lengths) * len(lengths)
        self.padding += max(lengths) * len(lengths) - sum(lengths)
        self.largest = max(self.largest, len(states))
        return super().score(states, trees)


PROMPTS = toy.prompts([3, 11, 7, 3, 11, 7, 5, 11], seed=1)
LENGTHS = [24, 20, 25, 18, 20, 16, 21, 20]
TRUTHS = [toy.greedy(p, n) for p, n in zip(PROMPTS, LENGTHS, strict=True)]


def decoded(make: Any, order: Sequence[int], drafts: bool = True) -> tuple[Counting, list[Any]]:
    target = Counting()
    scheduler: Scheduler | None = make(target)
    states = target.open([PROMPTS[i] for i in order])
    requests = [
        Request(
            state,
            toy.Hidden(TRUTHS[i], i, right=0.8, nodes=4) if drafts else NoDraft(),
            [MaxLength(LENGTHS[i])],
            controller=Fixed(Budget(chain=4)),
        )
        for i, state in zip(order, states, strict=True)
    ]
    run(target, requests, scheduler)
    return target, requests


SCHEDULERS: dict[str, Any] = {
    "everybody": lambda target: None,
    "first come": lambda target: FirstCome(3),
    "one by one": lambda target: FirstCome(1),
    "same length": lambda target: SameLength(target.cached, most=4, window=8),
    "same length, short window": lambda target: SameLength(target.cached, most=4, window=2),
}


@pytest.mark.parametrize("name", SCHEDULERS)
@pytest.mark.parametrize("order", [range(8), [5, 2, 7, 0, 6, 3, 1, 4]], ids=["", "shuffled"])
def test_who_shares_a_call_changes_nothing(name: str, order: Sequence[int]) -> None:
    _, requests = decoded(SCHEDULERS[name], order)
    assert [request.output for request in requests] == [TRUTHS[i] for i in order]


def test_no_group_is_larger_than_it_may_be() -> None:
    for name, most in (("everybody", 8), ("first come", 3), ("one by one", 1), ("same length", 4)):
        assert decoded(SCHEDULERS[name], range(8))[0].largest == most


def test_equal_lengths_share_calls_so_that_less_is_padded() -> None:
    shares = {}
    for name in ("first come", "same length"):
        target, _ = decoded(SCHEDULERS[name], range(8), drafts=False)
        shares[name] = target.padding / target.read
    assert shares["same length"] < 0.5 * shares["first come"]


def test_the_largest_group_goes_and_the_oldest_among_equals() -> None:
    class Pooled:
        def __init__(self, state: int) -> None:
            self.state = state

    def chosen(lengths: Sequence[int], most: int = 3, window: int = 6) -> list[int]:
        pool = [Pooled(length) for length in lengths]
        group = SameLength(lambda state: state, most, window).next_group(pool)  # type: ignore
        return [pool.index(request) for request in group]  # type: ignore[arg-type]

    assert chosen([5, 4, 4, 5, 4, 1]) == [1, 2, 4]
    assert chosen([5, 4, 4, 5]) == [0, 3]
    assert chosen([5, 4, 4, 4, 4]) == [1, 2, 3]
    assert chosen([5, 4, 3, 5], window=3) == [0, 1, 2]
    assert chosen([1, 2]) == [0, 1]


# --- Random numbers of its own for every request ---


def sampled(order: Sequence[int], shared: bool = False) -> dict[int, list[int]]:
    target = toy.ToyTarget()
    one = np.random.default_rng(0)
    requests = [
        Request(
            state,
            toy.Hidden(TRUTHS[i], i, right=0.6, nodes=5, tree=True),
            [MaxLength(LENGTHS[i])],
            Sampling(Sampler(1.5)),
            rng=one if shared else np.random.default_rng(i),
        )
        for i, state in zip(order, target.open([PROMPTS[i] for i in order]), strict=True)
    ]
    run(target, requests)
    return {i: request.output for i, request in zip(order, requests, strict=True)}


def test_what_is_sampled_does_not_depend_on_the_batch() -> None:
    alone = {i: sampled([i])[i] for i in range(8)}
    assert sampled(range(8)) == sampled([5, 2, 7, 0, 6, 3, 1, 4]) == alone
    assert len(set(map(tuple, alone.values()))) == 8


def test_a_shared_generator_is_found() -> None:
    with pytest.raises(AssertionError, match="share their random numbers"):
        sampled(range(8), shared=True)
    with invariants.checked(False):
        assert sampled(range(8), shared=True) != sampled([5, 2, 7, 0, 6, 3, 1, 4], shared=True)
