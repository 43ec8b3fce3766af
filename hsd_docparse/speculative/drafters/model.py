"""A smaller model drafts; also with a drafter of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hsd_docparse.speculative import invariants
from hsd_docparse.speculative.drafters.no_draft import NoDraft
from hsd_docparse.speculative.engine import Request, step
from hsd_docparse.speculative.interfaces import (
    Budget,
    Drafter,
    Outcome,
    Processor,
    Rewindable,
    room,
)
from hsd_docparse.speculative.laws import Dense, Law
from hsd_docparse.speculative.processors import Vocabulary
from hsd_docparse.speculative.sampling import Sampler
from hsd_docparse.speculative.tree import DraftTree
from hsd_docparse.speculative.verifiers.greedy import Greedy
from hsd_docparse.speculative.verifiers.sampling import Sampling


class ModelDrafter:
    """Drafts chains with ``target``, opened on ``inputs``: a smaller model with the same tokens,
    or an early exit of the same one.

    With a ``sampler`` (the verifier's own) the draft is drawn, and states the laws that it was
    drawn from; without one it is greedy. ``processors`` must be those of the request that it
    drafts for, and ``rng`` must not draw what the request's draws. ``vocabulary`` is the width of
    the target's logits, where this model's head is padded to another. ``beliefs`` states the
    model's whole distribution beside greedy drafts, for `KlJudge` and for controllers that look at
    its entropy.

    A ``drafter`` of its own makes verification hierarchical, as in HiSpec (arXiv 2510.01336):
    its cheap draft is verified by this model before the target sees what remains. What this
    model emits then still has this model's law, so that nothing else changes.

    What was drafted ahead and agrees with what the target committed stays drafted; only what
    differs is taken back. So no outcome needs to be told.
    """

    def __init__(
        self,
        target: Rewindable[Any, Any],
        inputs: Any,
        *,
        sampler: Sampler | None = None,
        processors: Sequence[Processor] = (),
        drafter: Drafter[int] | None = None,
        beliefs: bool = False,
        vocabulary: int | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.target = target
        self.sampler = sampler
        self.beliefs = beliefs
        (state,) = target.open([inputs])
        self.request: Request[int] = Request(
            state,
            drafter or NoDraft(),
            stops=(),
            verifier=Sampling(sampler) if sampler else Greedy(),
            processors=[Vocabulary(vocabulary), *processors] if vocabulary else processors,
            observers=[self],
            rng=rng or np.random.default_rng(),
        )
        self.opened = invariants.ledger(target, self.request)
        self.known: list[Law | None] = []
        """The law, or the belief, for every atom of the request's output; `None` for those that
        the target chose."""
        self.followed = 0
        """Atoms of the target's output that this model is known to hold."""

    def propose(self, output: Sequence[int], budget: Budget) -> DraftTree[int]:
        own = self.request.output
        if room(self.target, self.request.state) < len(output) - len(own) + budget.chain:
            # The target goes on where this model has no positions left.
            return DraftTree.empty()
        self._follow(output)
        start = end = len(output)
        while end < start + budget.chain:
            end += 1
            self.extend(end)
            if budget.enough and budget.enough(own[start:end], self.known[start:end]):
                break
        atoms, parents = own[start:end], range(-1, end - start - 1)
        known = self.known[start:end] if self.sampler or self.beliefs else None
        if self.sampler:
            return DraftTree(atoms, parents, laws=known)
        return DraftTree(atoms, parents, beliefs=known)

    def observe(self, outcome: Outcome[int]) -> None:
        """The next proposal reads the output itself."""

    def extend(self, length: int) -> None:
        """Draft until the model's own output has ``length`` atoms, or no position is left."""
        while len(self.request.output) < length and room(self.target, self.request.state) > 0:
            step(self.target, [self.request])

    def on_commit(self, outcome: Outcome[int]) -> None:
        """Remember the laws of what this model emits (as its own request's observer)."""
        rows = [0, *(node + 1 for node in outcome.verdict.path)]
        for row, _ in zip(rows, outcome.emitted, strict=True):
            if self.sampler:
                self.known.append(self.sampler.law(outcome.scores, row))
            else:
                logits = outcome.scores.logits
                self.known.append(Dense.softmax(logits[row]) if self.beliefs else None)

    def close(self) -> None:
        """Give the model's cache back."""
        self.target.close([self.request.state])

    def _follow(self, output: Sequence[int]) -> None:
        """Make the model's own sequence begin with ``output``, keeping all that agrees."""
        own, state = self.request.output, self.request.state
        if len(output) < self.followed:
            raise ValueError("A draft model follows one request: make a new one for the next.")
        same = self.followed
        while same < min(len(own), len(output)) and own[same] == output[same]:
            same += 1
        self.followed = len(output)
        missing = list(output[same:])
        if not missing:
            return
        if same < len(own):
            # The last of its own atoms is pending, so it holds one less than it wrote.
            self.target.rewind(state, len(own) - 1 - same, missing[0])
            fed, missing = missing[:1], missing[1:]
            own[same:] = fed
            self.known[same:] = [None]
        if missing:
            # The pending atom was never cached: this pass caches it, and all but the last.
            *known, pending = missing
            self.target.score([state], [DraftTree.chain(known)])
            self.target.keep(state, range(len(known)), pending)
            own += missing
            self.known += [None] * len(missing)
        if invariants.asserted and self.opened is not None:
            ledger = invariants.ledger(self.target, self.request)
            assert ledger == self.opened + len(own), "the draft model's cache is not its output"
