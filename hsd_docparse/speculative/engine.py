"""The loop: plan -> propose -> score -> verify -> keep -> notify."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

import numpy as np

from hsd_docparse.speculative.controllers import Fixed
from hsd_docparse.speculative.interfaces import (
    Controller,
    Drafter,
    Observer,
    Outcome,
    Processor,
    Scores,
    Stop,
    Target,
    Verifier,
)
from hsd_docparse.speculative.tree import Atom, DraftTree
from hsd_docparse.speculative.verifiers import Greedy


@dataclass
class Statistics:
    """Counts over a request's life. ``calls`` are target calls that it took part in;
    ``tested`` are the drafted atoms whose acceptance was decided."""

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
    not depend on its neighbours.
    """

    state: Any
    drafter: Drafter[Atom]
    stops: Sequence[Stop[Atom]]
    verifier: Verifier[Any] = field(default_factory=Greedy)
    processors: Sequence[Processor] = ()
    controller: Controller[Atom] = field(default_factory=Fixed)
    observers: Sequence[Observer[Atom]] = ()
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    output: list[Atom] = field(default_factory=list)
    finished: str | None = None
    statistics: Statistics = field(default_factory=Statistics)


def step(target: Target[Any, Any], requests: Sequence[Request[Any]]) -> None:
    """Advance unfinished ``requests`` by one target call, each by at least one atom."""
    trees = [r.drafter.propose(r.output, r.controller.plan()) for r in requests]
    scores = target.score([request.state for request in requests], trees)
    for request, tree, raw in zip(requests, trees, scores, strict=True):
        _advance(target, request, tree, raw)


def generate(target: Target[Any, Any], requests: Sequence[Request[Any]]) -> int:
    """Run `step` until every request is finished; returns the number of target calls."""
    calls = 0
    while active := [request for request in requests if request.finished is None]:
        step(target, active)
        calls += 1
    return calls


def _advance(
    target: Target[Any, Any], request: Request[Any], tree: DraftTree[Any], scores: Scores
) -> None:
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
    count = request.statistics
    count.calls += 1
    count.proposed += len(tree)
    count.tested += min(verdict.tested, len(emitted))
    count.accepted += min(len(verdict.path), len(emitted))
    outcome = Outcome(tree, verdict, emitted, scores)
    request.drafter.observe(outcome)
    request.controller.update(outcome)
    for observer in request.observers:
        observer.on_commit(outcome)


def _reason(request: Request[Any]) -> str | None:
    length = len(request.output)
    return next((s.reason for s in request.stops if s.ends(request.output, length)), None)
