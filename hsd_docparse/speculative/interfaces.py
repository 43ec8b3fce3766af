"""The parts that a speculative system is made of, and the words for them.

One step is: plan -> propose -> score -> verify -> keep -> notify (see `engine.step`).

The ledger, which every part relies on: after each step the committed sequence is one atom
longer than what the target has cached. That last atom is *pending*: emitted, but its keys
and values do not exist yet. The next `Target.score` feeds it together with the draft.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from hsd_docparse.speculative.tree import Atom, DraftTree

State = TypeVar("State")
Inputs = TypeVar("Inputs", contravariant=True)
Ended = TypeVar("Ended", contravariant=True)


@dataclass
class Scores:
    """What the target thinks after the pending atom (row 0) and after node i (row i + 1).

    ``logits`` is ``[1 + nodes, vocabulary]``, a torch tensor on the target's device or a
    numpy array. Targets that know more (hidden states, expert routing) put it in ``extra``
    for observers.
    """

    logits: Any
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class Verdict(Generic[Atom]):
    """``path``: accepted nodes from the first level down. ``correction``: the atom that
    follows them, chosen by the target. ``tested``: nodes whose acceptance was decided."""

    path: list[int]
    correction: Atom
    tested: int


@dataclass
class Budget:
    """How much may be proposed in one step. ``chain`` caps an unambiguous draft, ``nodes``
    and ``depth`` cap a tree."""

    chain: int = 64
    nodes: int = 128
    depth: int = 15


@dataclass
class Outcome(Generic[Atom]):
    """What one step did for one request; ``emitted`` ends at the stop, if there was one."""

    tree: DraftTree[Atom]
    verdict: Verdict[Atom]
    emitted: list[Atom]
    scores: Scores


class Drafter(Protocol[Atom]):
    """Proposes continuations of what has been committed. It may read ``output`` only."""

    def propose(self, output: Sequence[Atom], budget: Budget) -> DraftTree[Atom]: ...

    def observe(self, outcome: Outcome[Atom]) -> None: ...


class Target(Protocol[Inputs, State]):
    """Scores draft trees, and owns its cache.

    Rows never influence each other: what a request gets does not depend on the requests
    that happen to share its calls.
    """

    def open(self, inputs: Sequence[Inputs]) -> list[State]:
        """Encode and prefill. The last atom of every prompt stays pending."""
        ...

    def score(self, states: Sequence[State], trees: Sequence[DraftTree[int]]) -> list[Scores]:
        """One forward pass over the pending atom and the tree of every state."""
        ...

    def keep(self, state: State, path: Sequence[int], pending: int) -> None:
        """Commit the pending atom and ``path`` to the cache, forget the other nodes of the
        last `score`, and make ``pending`` the new pending atom."""
        ...

    def close(self, states: Sequence[State]) -> None:
        """Release what the states hold."""
        ...


class Processor(Protocol):
    """Changes logits before they are read (penalties, temperature), along each
    hypothetical prefix: row ``i + 1`` sees ``sequence`` and the path to node ``i``."""

    def __call__(self, logits: Any, sequence: Sequence[int], tree: DraftTree[int]) -> Any: ...


class Verifier(Protocol[Atom]):
    """Turns scores into a verdict. ``lossless`` says whether the emitted sequence has
    exactly the law of the target on its own; tests hold every verifier to its word."""

    lossless: bool

    def verify(
        self, tree: DraftTree[Atom], scores: Scores, rng: np.random.Generator
    ) -> Verdict[Atom]: ...


class Controller(Protocol[Atom]):
    """Decides how much to propose, from what has been accepted so far."""

    def plan(self) -> Budget: ...

    def update(self, outcome: Outcome[Atom]) -> None: ...


class Observer(Protocol[Atom]):
    """Sees every outcome and can change none."""

    def on_commit(self, outcome: Outcome[Atom]) -> None: ...


class Stop(Protocol[Ended]):
    """Where a sequence ends. Called with every new atom of ``output`` in turn, so that the
    end does not depend on how many atoms a step emitted."""

    reason: str

    def ends(self, output: Sequence[Ended], length: int) -> bool:
        """True if ``output[:length]`` is complete."""
        ...
