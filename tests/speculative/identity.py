"""Checks that speculative decoding of the toy is plain decoding of the toy, token for token.

Each raises `AssertionError`. `test_engine` runs them as they are, `test_mutations` on a
damaged core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import toy

from hsd_docparse.speculative import (
    AlignedText,
    Drafter,
    Loop,
    MaxLength,
    NoDraft,
    RepetitionPenalty,
    Request,
    Scheduler,
    Stop,
    StopTokens,
    run,
    step,
)
from hsd_docparse.speculative.cache import SlotCache

LENGTH = 30
PENALTY = 1.3
STOPS = range(5, 9)

Make = Callable[[Sequence[int], int], Drafter[int]]


def _pieces(truth: Sequence[int], seed: int) -> AlignedText:
    """Damaged pieces in the wrong order, one of them missing."""
    rng = np.random.default_rng(seed)
    damaged = [t if rng.random() < 0.85 else (t + 1) % toy.VOCABULARY for t in truth]
    return AlignedText([damaged[20:], damaged[:8], truth[4:14]])


def _shuffled(truth: Sequence[int], seed: int) -> AlignedText:
    return AlignedText([np.random.default_rng(seed).permutation(truth).tolist()])


CHAINS: dict[str, Make] = {
    "none": lambda truth, seed: NoDraft(),
    "empty": lambda truth, seed: AlignedText([[], []]),
    "right": lambda truth, seed: toy.Hidden(truth, seed, right=1, nodes=9),
    "wrong": lambda truth, seed: toy.Hidden(truth, seed, right=0, nodes=9),
    "right again": lambda truth, seed: toy.Hidden(truth, seed, right=0.7, nodes=9),
}
TREES: dict[str, Make] = {
    "text": lambda truth, seed: AlignedText([truth]),
    "truncated": lambda truth, seed: AlignedText([truth[: len(truth) // 2]]),
    "shuffled": _shuffled,
    "pieces": _pieces,
    "bushy": lambda truth, seed: toy.Hidden(truth, seed, right=0.5, nodes=24, tree=True),
    "wrong": lambda truth, seed: toy.Hidden(truth, seed, right=0, nodes=12, tree=True),
    "right": lambda truth, seed: toy.Hidden(truth, seed, right=0.9, nodes=16, tree=True),
}


def decoded(
    prompts: Sequence[tuple[int, ...]],
    drafters: Sequence[Drafter[int]],
    stops: Sequence[Sequence[Stop[int]]],
    penalty: float = 1.0,
    scheduler: Scheduler | None = None,
) -> list[Request[int]]:
    """Decode ``prompts`` in one ragged batch."""
    target = toy.ToyTarget()
    requests = [
        Request(state, drafter, stop, processors=[RepetitionPenalty(penalty, prompt)])
        for state, drafter, stop, prompt in zip(
            target.open(prompts), drafters, stops, prompts, strict=True
        )
    ]
    run(target, requests, scheduler)
    return requests


def check_chains(count: int = 3) -> None:
    _check_alone(CHAINS, count)


def check_trees(count: int = 3) -> None:
    _check_alone(TREES, count)


def check_penalty(count: int = 2) -> None:
    _check_alone(CHAINS | {f"{name} tree": make for name, make in TREES.items()}, count, PENALTY)


def check_ragged() -> None:
    """Eight rows of different prompt lengths, drafts and ends are what each is alone."""
    prompts = toy.prompts([5, 1, 12, 3, 9, 2, 7, 4], seed=1)
    lengths = [30, 24, 7, 18, 30, 1, 12, 27]
    truths = [toy.greedy(p, n) for p, n in zip(prompts, lengths, strict=True)]
    makers = [*list(CHAINS.values())[2:], *list(TREES.values())[2:]]
    for order in (range(8), [3, 7, 0, 5, 1, 6, 2, 4], [2, 2, 4, 4, 4]):
        done = decoded(
            [prompts[i] for i in order],
            [makers[i](truths[i], i) for i in order],
            [[MaxLength(lengths[i])] for i in order],
        )
        assert [request.output for request in done] == [truths[i] for i in order]
        assert len({request.statistics.calls for request in done}) > 1, "all ended together"


def check_stops() -> None:
    """A stop is found wherever it stands in a block, and nothing follows it."""
    inside = 0
    for seed, prompt in enumerate(toy.prompts([4] * 6, seed=2)):
        truth = toy.greedy(prompt, LENGTH)
        end = next(i for i, token in enumerate(truth) if token in STOPS) + 1
        for nodes in (0, 1, 2, 5, 20):
            drafter = toy.Hidden(truth, seed, right=0.95, nodes=nodes)
            (done,) = decoded([prompt], [drafter], [[StopTokens(STOPS), MaxLength(LENGTH)]])
            assert done.output == truth[:end]
            assert done.finished == "stop"
            inside += done.statistics.calls < end
    assert inside > 6, "no stop stood inside a block"


def check_cache() -> None:
    """After every step: committed == cached + 1, and what is cached is what a fresh forward
    pass computes, in content and in position."""
    prompts = toy.prompts([6, 1, 3], seed=3)
    truths = [toy.greedy(prompt, LENGTH) for prompt in prompts]
    target = toy.ToyTarget()
    requests = [
        Request(state, TREES["bushy"](truth, i), [MaxLength(LENGTH)])
        for i, (state, truth) in enumerate(zip(target.open(prompts), truths, strict=True))
    ]
    while all(request.finished is None for request in requests):
        slots: SlotCache = requests[0].state.group.slots
        committed = [[*p, *r.output] for p, r in zip(prompts, requests, strict=True)]
        assert [len(sequence) for sequence in committed] == [n + 1 for n in slots.lengths]
        for row, (sequence, request) in enumerate(zip(committed, requests, strict=True)):
            assert request.state.pending == sequence[-1]
            _same_as_fresh(slots, row, sequence[:-1])
        step(target, requests)
    assert sum(r.statistics.accepted for r in requests) > 20
    assert sum(r.statistics.proposed - r.statistics.accepted for r in requests) > 100


def check_subsets() -> None:
    """Which rows share a call changes nothing, and neither does the order in which they came."""
    prompts = toy.prompts([8, 2, 5, 5, 1], seed=4)
    truths = [toy.greedy(prompt, LENGTH) for prompt in prompts]
    rng = np.random.default_rng(4)

    class Some:
        def next_group(self, pool: Sequence[Request[int]]) -> Sequence[Request[int]]:
            chosen = rng.permutation(len(pool))[: rng.integers(1, len(pool) + 1)]
            return [pool[i] for i in chosen]

    done = decoded(
        prompts,
        [TREES["bushy"](truth, i) for i, truth in enumerate(truths)],
        [[MaxLength(LENGTH - 4 * i)] for i in range(5)],
        scheduler=Some(),
    )
    assert [r.output for r in done] == [t[: LENGTH - 4 * i] for i, t in enumerate(truths)]


def check_rewind() -> None:
    """What is taken back is forgotten, in rows that are alone and in rows that are not."""
    prompts = toy.prompts([6, 3], seed=9)
    truths = [toy.greedy(prompt, LENGTH) for prompt in prompts]
    target = toy.ToyTarget()
    requests = [
        Request(state, toy.Hidden(truth, i, right=0.5, nodes=5, tree=True), [MaxLength(LENGTH)])
        for i, (state, truth) in enumerate(zip(target.open(prompts), truths, strict=True))
    ]
    for back in (3, 0, 7, 1):
        for _ in range(3):
            step(target, [request for request in requests if request.finished is None])
        for request in requests:
            if request.finished is None and 0 < back < len(request.output):
                del request.output[-back:]
                target.rewind(request.state, back, request.output[-1])
    while active := [r for r in requests if r.finished is None]:
        step(target, active)
    assert [request.output for request in requests] == truths


def _check_alone(makers: dict[str, Make], count: int, penalty: float = 1.0) -> None:
    accepted = 0
    for seed, prompt in enumerate(toy.prompts([1 + i % 9 for i in range(count)], seed=5)):
        truth = toy.greedy(prompt, LENGTH, penalty)
        for name, make in makers.items():
            stops = [MaxLength(LENGTH), Loop()]
            (done,) = decoded([prompt], [make(truth, seed)], [stops], penalty)
            assert done.output == truth, name
            accepted += done.statistics.accepted
    assert accepted > LENGTH * count, "the drafts were of no use"


def _same_as_fresh(slots: SlotCache, row: int, sequence: Sequence[int]) -> None:
    if not sequence:
        return
    fresh = SlotCache(1)
    fresh.prompt_mask([len(sequence)])
    toy.MODEL.plain(sequence, fresh)
    for layer, right in zip(slots.layers, fresh.layers, strict=True):
        for kept, exact in ((layer.keys, right.keys), (layer.values, right.values)):
            assert kept is not None
            assert exact is not None
            difference = kept[row][:, : len(sequence)] - exact[0][:, : len(sequence)]
            assert difference.abs().max() < 1e-10
