"""What must hold at every step, as assertions. Off by default; the tests run with them on.

    with invariants.checked():
        generate(...)

They cover one step of one request. `Recomputing` wraps a target and checks, at every call, that
what its cache says is what a fresh forward pass says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from hsd_docparse.speculative.interfaces import Scores, Target, Verdict
from hsd_docparse.speculative.laws import Dense
from hsd_docparse.speculative.tree import ROOT, DraftTree

if TYPE_CHECKING:
    from hsd_docparse.speculative.engine import Request

asserted = False


@contextmanager
def checked(on: bool = True) -> Iterator[None]:
    """Assert every invariant inside the ``with`` block."""
    global asserted
    before, asserted = asserted, on
    try:
        yield
    finally:
        asserted = before


def check_requests(requests: Sequence[Request[Any]]) -> None:
    """Before a step: no request is finished, or shares a state or random numbers."""
    assert all(request.finished is None for request in requests), "a finished request was asked"
    states = {id(request.state) for request in requests}
    assert len(states) == len(requests), "two requests share a state"
    drawn = [str(request.rng.bit_generator.state) for request in requests]
    assert len(set(drawn)) == len(requests), "two requests share their random numbers"
    for request, own in zip(requests, drawn, strict=True):
        drafts = getattr(getattr(request.drafter, "request", None), "rng", request.rng)
        same = str(drafts.bit_generator.state) == own
        assert drafts is request.rng or not same, "a draft model draws what its request draws"


def check_scores(trees: Sequence[DraftTree[Any]], scores: Sequence[Scores]) -> None:
    """Before verification: drafts are trees, and every node was scored."""
    for tree, own in zip(trees, scores, strict=True):
        _check_tree(tree)
        rows = own.laws if own.laws is not None else own.logits
        assert len(rows) == 1 + len(tree), "the target did not score every node"


def _check_tree(tree: DraftTree[Any]) -> None:
    assert len(tree.atoms) == len(tree.parents)
    assert tree.laws is None or len(tree.laws) == len(tree.atoms)
    assert all(ROOT <= parent < node for node, parent in enumerate(tree.parents)), "not a tree"
    fixed = [
        (parent, tree.atoms[node])
        for node, parent in enumerate(tree.parents)
        if tree.law(node) is None and isinstance(tree.atoms[node], int)
    ]
    assert len(set(fixed)) == len(fixed), "siblings of fixed text hold the same atom"
    for node, atom in enumerate(tree.atoms):
        law = tree.law(node)
        if isinstance(law, Dense):
            total = law.probabilities.sum()
            assert abs(total - 1) < 1e-9, f"the law of a draft sums to {total}"
            assert law.probabilities[atom] > 0, "an atom was drafted that its law excludes"


def ledger(target: Target[Any, Any], request: Request[Any]) -> int | None:
    """Atoms that the target has cached for the request; ``None`` if it does not say."""
    cached = getattr(target, "cached", None)
    return cached(request.state) if cached else None


def check_commit(
    target: Target[Any, Any],
    request: Request[Any],
    tree: DraftTree[Any],
    verdict: Verdict[Any],
    emitted: Sequence[Any],
    before: int | None,
) -> None:
    """After a commit: the path is one of the tree, stops were honoured, and the target cached
    all that was emitted but the pending atom."""
    path = [ROOT, *verdict.path]
    assert all(tree.parents[b] == a for a, b in pairwise(path)), "no path"
    assert verdict.tested >= len(verdict.path)
    output = request.output
    ends = [
        length
        for length in range(len(output) - len(emitted) + 1, len(output) + 1)
        for stop in request.stops
        if stop.ends(output, length)
    ]
    assert ends in ([], [len(output)] * len(ends)), "an atom was emitted behind a stop"
    assert bool(ends) == (request.finished is not None)
    if request.finished is None and before is not None:
        assert ledger(target, request) == before + len(emitted), "committed is not cached + 1"


class Recomputing:
    """A target whose every score is compared with a fresh forward pass.

    At each call the committed output of every state is scored again from its inputs, as one
    chain in a new cache, and must give the same logits within ``tolerance``: what was kept, in
    which order and at which positions, is then right. Doubles the work and more.
    """

    def __init__(self, target: Any, tolerance: float = 1e-8) -> None:
        self.target = target
        self.tolerance = tolerance
        self._inputs: dict[int, Any] = {}
        self._committed: dict[int, list[Any]] = {}
        self._trees: dict[int, DraftTree[Any]] = {}

    def open(self, inputs: Sequence[Any]) -> list[Any]:
        states = self.target.open(inputs)
        for state, own in zip(states, inputs, strict=True):
            self._inputs[id(state)], self._committed[id(state)] = own, []
        return states

    def score(self, states: Sequence[Any], trees: Sequence[DraftTree[Any]]) -> list[Scores]:
        scores = self.target.score(states, trees)
        for state, tree, own in zip(states, trees, scores, strict=True):
            self._trees[id(state)] = tree
            committed = self._committed[id(state)]
            for leaf in [n for n in range(-1, len(tree)) if not tree.children(n)]:
                path = tree.path(leaf)
                chain = [*committed, *(tree.atoms[node] for node in path)]
                fresh = self._fresh(self._inputs[id(state)], chain)[-1 - len(path) :]
                rows = _array(own.logits)[[0, *(node + 1 for node in path)]]
                apart = np.abs(rows - fresh).max()
                assert apart < self.tolerance, f"the cache is {apart:.1e} from a fresh pass"
        return scores

    def keep(self, state: Any, path: Sequence[int], pending: Any) -> None:
        tree = self._trees[id(state)]
        self._committed[id(state)] += [*(tree.atoms[node] for node in path), pending]
        self.target.keep(state, path, pending)

    def rewind(self, state: Any, count: int, pending: Any) -> None:
        committed = self._committed[id(state)]
        assert count < len(committed), "more was taken back than was emitted"
        committed[len(committed) - 1 - count :] = [pending]
        self.target.rewind(state, count, pending)

    def close(self, states: Sequence[Any]) -> None:
        self.target.close(states)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.target, name)

    def _fresh(self, inputs: Any, atoms: list[Any]) -> Any:
        (state,) = self.target.open([inputs])
        (scores,) = self.target.score([state], [DraftTree.chain(atoms)])
        logits = _array(scores.logits).copy()
        self.target.close([state])
        return logits


def _array(logits: Any) -> Any:
    return logits.detach().cpu().numpy() if hasattr(logits, "detach") else logits
