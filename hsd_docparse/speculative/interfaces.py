"""The parts that a speculative system is made of, and the words for them.

One step is: plan -> propose -> score -> verify -> keep -> notify (see `engine.step`).

The ledger, which every part relies on: after each step the committed sequence is one atom
longer than what the target has cached. That last atom is *pending*: emitted, but its keys
and values do not exist yet. The next `Target.score` feeds it together with the draft.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from hsd_docparse.speculative.laws import Law
from hsd_docparse.speculative.tree import Atom, DraftTree

if TYPE_CHECKING:
    from hsd_docparse.speculative.engine import Request

State = TypeVar("State")
Inputs = TypeVar("Inputs", contravariant=True)
Ended = TypeVar("Ended", contravariant=True)


@dataclass
class Scores:
    """What the target thinks after the pending atom (row 0) and after node i (row i + 1).

    ``logits`` is ``[1 + nodes, vocabulary]``, a torch tensor on the target's device or a
    numpy array. Targets whose atoms are no tokens give the ``laws`` of the rows instead. Targets
    that know more (hidden states, expert routing) put it in ``extra`` for observers.
    """

    logits: Any = None
    laws: Sequence[Law] | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class Verdict(Generic[Atom]):
    """``path``: accepted nodes from the first level down. ``correction``: the atom that
    follows them, chosen by the target. ``tested``: how many levels of the draft were decided, the
    accepted ones and the one at which nothing was, if there was something to accept."""

    path: list[int]
    correction: Atom
    tested: int


@dataclass
class Budget:
    """How much may be proposed in one step. ``chain`` caps an unambiguous draft, ``nodes``
    and ``depth`` cap a tree.

    A drafter that drafts atom by atom asks ``enough`` after each, with the atoms drafted so far
    and the laws that they were drawn from, and ends its draft there if that is true. Behind the
    last atom, not before it: it is paid for, and a draft without it would be biased by its value.
    """

    chain: int = 64
    nodes: int = 128
    depth: int = 15
    enough: Callable[[Sequence[Any], Sequence[Law | None]], bool] | None = None


@dataclass(frozen=True)
class Seconds:
    """Wall time of a step: of this request's ``drafting``, and of the target call (``scoring``)
    that it shared with the other requests of its group."""

    drafting: float = 0.0
    scoring: float = 0.0


@dataclass
class Outcome(Generic[Atom]):
    """What one step did for one request; ``emitted`` ends at the stop, if there was one."""

    tree: DraftTree[Atom]
    verdict: Verdict[Atom]
    emitted: list[Atom]
    scores: Scores
    seconds: Seconds = Seconds()


class Drafter(Protocol[Atom]):
    """Proposes continuations of what has been committed. It may read ``output`` only, and serves
    one request: what it remembers is that request's."""

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


class Rewindable(Target[Inputs, State], Protocol):
    """A target that can take back what it has committed, as draft models must."""

    def rewind(self, state: State, count: int, pending: int) -> None:
        """Forget the last ``count`` cached atoms and make ``pending`` the pending atom."""
        ...


def room(target: Any, state: Any) -> float:
    """How many atoms may be drafted before the target runs out of positions. Targets that can run
    out have a method ``room(state)``."""
    own = getattr(target, "room", None)
    return float(own(state)) if own else float("inf")


class Processor(Protocol):
    """Changes logits before they are read (penalties, grammars), along each hypothetical
    prefix: row ``i + 1`` sees ``sequence`` and the path to node ``i``. What does not depend on
    the prefix (temperature, truncation) belongs to a `Sampler`."""

    def __call__(self, logits: Any, sequence: Sequence[int], tree: DraftTree[int]) -> Any: ...


class Verifier(Protocol[Atom]):
    """Turns scores into a verdict. ``lossless`` says whether the emitted sequence has
    exactly the law of the target on its own; tests hold every verifier to its word."""

    @property
    def lossless(self) -> bool: ...

    def verify(
        self, tree: DraftTree[Atom], scores: Scores, rng: np.random.Generator
    ) -> Verdict[Atom]: ...


class Controller(Protocol[Atom]):
    """Decides how much to propose, from what has been accepted so far."""

    def plan(self) -> Budget: ...

    def update(self, outcome: Outcome[Atom]) -> None: ...


class Scheduler(Protocol):
    """Decides which requests share the next target call."""

    def next_group(self, pool: Sequence[Request[Any]]) -> Sequence[Request[Any]]:
        """Some of ``pool``, the unfinished requests in the order in which they came."""
        ...


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
