"""The loop: plan -> propose -> score -> verify -> keep -> notify."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic

import numpy as np

from hsd_docparse.speculative import invariants
from hsd_docparse.speculative.controllers.fixed import Fixed
from hsd_docparse.speculative.interfaces import (
    Budget,
    Controller,
    Drafter,
    Observer,
    Outcome,
    Processor,
    Scheduler,
    Scores,
    Seconds,
    Stop,
    Target,
    Verifier,
    room,
)
from hsd_docparse.speculative.stops import MaxLength
from hsd_docparse.speculative.tree import Atom, DraftTree
from hsd_docparse.speculative.verifiers.greedy import Greedy


@dataclass
class Statistics:
    """Counts over a request's life. ``calls`` are target calls that it took part in;
    ``tested`` are the places of drafts at which acceptance was decided."""

    calls: int = 0
    proposed: int = 0
    tested: int = 0
    accepted: int = 0

    @property
    def mean_accepted(self) -> float:
        """Mean accepted length: drafted atoms accepted a call, the bonus not counted."""
        return self.accepted / self.calls if self.calls else 0.0


@dataclass
class Request(Generic[Atom]):
    """One sequence being generated.

    ``output`` grows until one of ``stops`` says that it is complete; ``finished`` is then
    the reason. Every request has a random generator of its own, so that what it draws does
    not depend on its neighbours; give one with a seed for outputs that repeat.
    """

    state: Any
    drafter: Drafter[Atom]
    stops: Sequence[Stop[Atom]]
    verifier: Verifier[Any] = field(default_factory=Greedy)
    processors: Sequence[Processor] = ()
    controller: Controller[Atom] = field(default_factory=Fixed)
    observers: Sequence[Observer[Atom]] = ()
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng())
    output: list[Atom] = field(default_factory=list)
    finished: str | None = None
    statistics: Statistics = field(default_factory=Statistics)

    @property
    def lossless(self) -> bool:
        """Whether ``output`` has exactly the law of the target on its own."""
        return self.verifier.lossless


def step(target: Target[Any, Any], requests: Sequence[Request[Any]]) -> None:
    """Advance unfinished ``requests`` by one target call, each by at least one atom."""
    if invariants.asserted:
        invariants.check_requests(requests)
    trees: list[DraftTree[Any]] = []
    times = [time.perf_counter()]
    for request in requests:
        trees.append(request.drafter.propose(request.output, _budget(target, request)))
        times.append(time.perf_counter())
    scores = target.score([request.state for request in requests], trees)
    scoring = time.perf_counter() - times[-1]
    if invariants.asserted:
        invariants.check_scores(trees, scores)
    for i, (request, tree, own) in enumerate(zip(requests, trees, scores, strict=True)):
        _advance(target, request, tree, own, Seconds(times[i + 1] - times[i], scoring))


def run(
    target: Target[Any, Any],
    requests: Sequence[Request[Any]],
    scheduler: Scheduler | None = None,
) -> int:
    """Run `step` until every request is finished; returns the number of target calls. Without
    a ``scheduler`` every call takes all requests that are not finished."""
    calls = 0
    while pool := [request for request in requests if request.finished is None]:
        step(target, scheduler.next_group(pool) if scheduler else pool)
        calls += 1
    return calls


def generate(
    target: Target[Any, Any],
    inputs: Any,
    drafter: Drafter[Any],
    stops: Sequence[Stop[Any]],
    **parts: Any,
) -> Request[Any]:
    """Decode one sequence, and return its finished request.

    ``inputs`` is what ``target.open`` takes for one sequence (token ids for a language model),
    ``parts`` are other fields of `Request`: ``verifier`` (`Greedy` by default), ``processors``,
    ``controller``, ``observers``, ``rng``. The request says what it was: ``output``, ``finished``,
    ``lossless`` and ``statistics``.
    """
    pieces = stream(target, inputs, drafter, stops, **parts)
    for _ in pieces:
        pass
    return pieces.request


class Stream(Iterator[list[Any]]):
    """Yields what every target call adds to ``request.output``. Closed early, by `close`, at the
    end of a ``with`` block, or when nobody holds it any more, it gives the target's memory back.
    """

    def __init__(self, target: Target[Any, Any], request: Request[Any]) -> None:
        self.request = request
        self._pieces = _pieces(target, request)

    def __next__(self) -> list[Any]:
        return next(self._pieces)

    def close(self) -> None:
        self._pieces.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def stream(
    target: Target[Any, Any],
    inputs: Any,
    drafter: Drafter[Any],
    stops: Sequence[Stop[Any]],
    **parts: Any,
) -> Stream:
    """As `generate`, piece by piece."""
    return Stream(target, _opened(target, inputs, drafter, stops, parts))


def _pieces(target: Target[Any, Any], request: Request[Any]) -> Generator[list[Any], None, None]:
    try:
        while request.finished is None:
            before = len(request.output)
            step(target, [request])
            yield request.output[before:]
    finally:
        if request.finished is None:
            target.close([request.state])


def _opened(
    target: Target[Any, Any],
    inputs: Any,
    drafter: Drafter[Any],
    stops: Sequence[Stop[Any]],
    parts: dict[str, Any],
) -> Request[Any]:
    if not stops:
        raise ValueError("Without stops a sequence never ends: give at least a MaxLength.")
    request: Request[Any] = Request(None, drafter, stops, **parts)
    (request.state,) = target.open([inputs])
    return request


def _budget(target: Target[Any, Any], request: Request[Any]) -> Budget:
    """What the controller plans, and no more than can still be emitted or has a position."""
    budget = request.controller.plan()
    left = [s.limit - len(request.output) - 1 for s in request.stops if isinstance(s, MaxLength)]
    most = min([room(target, request.state), *left])
    if most >= max(budget.chain, budget.depth):
        return budget
    most = int(max(0, most))
    return replace(budget, chain=min(budget.chain, most), depth=min(budget.depth, most))


def _advance(
    target: Target[Any, Any],
    request: Request[Any],
    tree: DraftTree[Any],
    scores: Scores,
    seconds: Seconds,
) -> None:
    before = invariants.ledger(target, request) if invariants.asserted else None
    for process in request.processors:
        scores.logits = process(scores.logits, request.output, tree)
    verdict = request.verifier.verify(tree, scores, request.rng)
    emitted = []
    for atom in [*(tree.atoms[node] for node in verdict.path), verdict.correction]:
        request.output.append(atom)
        emitted.append(atom)
        request.finished = _reason(request)
        if request.finished:
            break
    if request.finished:
        target.close([request.state])
    else:
        target.keep(request.state, verdict.path, verdict.correction)
    if invariants.asserted:
        invariants.check_commit(target, request, tree, verdict, emitted, before)
    count = request.statistics
    count.calls += 1
    count.proposed += len(tree)
    count.tested += min(verdict.tested, len(emitted))
    count.accepted += min(len(verdict.path), len(emitted))
    outcome = Outcome(tree, verdict, emitted, scores, seconds)
    request.drafter.observe(outcome)
    request.controller.update(outcome)
    for observer in request.observers:
        observer.on_commit(outcome)


def _reason(request: Request[Any]) -> str | None:
    length = len(request.output)
    return next((s.reason for s in request.stops if s.ends(request.output, length)), None)
