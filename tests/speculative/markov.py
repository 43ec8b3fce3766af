"""A Markov model so small that the law of whole sequences can be computed: as target, as draft
model, and as the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from hsd_docparse.speculative import (
    Budget,
    Dense,
    DraftTree,
    Outcome,
    Processor,
    Sampler,
    Scores,
)
from hsd_docparse.speculative.laws import Law

VOCABULARY = 4
LENGTH = 3
PROMPT = (1, 2)
SEQUENCES = list(product(range(VOCABULARY), repeat=LENGTH))

Logits = NDArray[np.float64]


@dataclass(eq=False)
class State:
    atoms: list[int]
    """The last is pending."""
    drafted: DraftTree[int] = field(default_factory=DraftTree.empty)


class Markov:
    """The next atom depends on the last two. A `Rewindable` target."""

    def __init__(self, seed: int, sharpness: float = 1.0) -> None:
        shape = (VOCABULARY,) * 3
        self.table: Logits = np.random.default_rng(seed).normal(size=shape) * sharpness

    def open(self, inputs: Sequence[Sequence[int]]) -> list[State]:
        return [State(list(prompt)) for prompt in inputs]

    def score(self, states: Sequence[State], trees: Sequence[DraftTree[int]]) -> list[Scores]:
        scores = []
        for state, tree in zip(states, trees, strict=True):
            state.drafted = tree
            contexts = [(state.atoms[-2], state.atoms[-1])]
            for atom, parent in zip(tree.atoms, tree.parents, strict=True):
                contexts.append((contexts[parent + 1][1], atom))
            scores.append(Scores(self.table[tuple(zip(*contexts, strict=True))]))
        return scores

    def keep(self, state: State, path: Sequence[int], pending: int) -> None:
        state.atoms += [*(state.drafted.atoms[node] for node in path), pending]

    def cached(self, state: State) -> int:
        return len(state.atoms) - 1

    def rewind(self, state: State, count: int, pending: int) -> None:
        cached = state.atoms[:-1]
        state.atoms = [*cached[: len(cached) - count], pending]

    def close(self, states: Sequence[State]) -> None:
        """There is nothing to release."""


@dataclass(frozen=True)
class Remembering(Sampler):
    """There are few contexts, and each is asked about hundreds of thousands of times."""

    known: dict[bytes, Dense] = field(default_factory=dict)

    def dense(self, logits: Logits) -> Dense:
        key = logits.tobytes()
        if key not in self.known:
            self.known[key] = super().dense(logits)
        return self.known[key]


@dataclass
class Setting:
    """How atoms are drawn from a model: what must hold of ``p`` and of ``q`` alike."""

    sampler: Sampler = field(default_factory=Remembering)
    processors: tuple[Processor, ...] = ()
    known: dict[tuple[int, tuple[int, ...]], Dense] = field(default_factory=dict)

    def law(self, model: Markov, prefix: tuple[int, ...]) -> Dense:
        """Of the atom after ``prefix``, with no draft anywhere."""
        key = (id(model), prefix)
        if key not in self.known:
            logits = model.table[tuple((*PROMPT, *prefix)[-2:])][None].copy()
            for process in self.processors:
                logits = process(logits, prefix, DraftTree.empty())
            self.known[key] = self.sampler.dense(logits[0])
        return self.known[key]

    def sequences(self, model: Markov) -> NDArray[np.float64]:
        """The chance of each of `SEQUENCES`."""
        return np.array(
            [
                np.prod([self.law(model, s[:i]).probabilities[s[i]] for i in range(LENGTH)])
                for s in SEQUENCES
            ]
        )


class Drawn:
    """Draws trees of ``width`` children a node from ``model``, and states the laws."""

    def __init__(
        self,
        model: Markov,
        setting: Setting,
        rng: np.random.Generator,
        width: int = 1,
        replace: bool = True,
    ) -> None:
        self.model = model
        self.setting = setting
        self.rng = rng
        self.width = width
        self.replace = replace

    def propose(self, output: Sequence[int], budget: Budget) -> DraftTree[int]:
        atoms: list[int] = []
        parents: list[int] = []
        laws: list[Law | None] = []
        level = [(-1, tuple(output))]
        for _ in range(budget.depth):
            below = []
            for parent, prefix in level:
                q = self.setting.law(self.model, prefix)
                for _ in range(self.width):
                    atom = q.sample(self.rng)
                    below.append((len(atoms), (*prefix, atom)))
                    atoms.append(atom)
                    parents.append(parent)
                    laws.append(q)
                    if not self.replace:
                        left = q.probabilities.copy()
                        left[atom] = 0
                        if left.sum() == 0:
                            break
                        q = Dense(left / left.sum())
            level = below
        return DraftTree(atoms, parents, laws)

    def observe(self, outcome: Outcome[int]) -> None:
        """It draws from what has been emitted, and from nothing else."""
