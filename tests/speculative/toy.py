"""A tiny transformer in float64: as a target, and as plain greedy decoding without a cache.

The plain side uses nothing of the package, so that no fault in it can hide in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import gelu, layer_norm, pad
from transformers.generation.logits_process import RepetitionPenaltyLogitsProcessor

from hsd_docparse.speculative import Budget, DraftTree, Outcome, Scores
from hsd_docparse.speculative.cache import SlotCache

VOCABULARY = 17
SIZE = 16
HEADS = 2
LONGEST = 1024
PAD = 0
"""What fills short rows. It is an ordinary token too, in prompts, drafts and outputs."""


class Transformer:
    """Two layers and absolute positions. The random weights are large enough for the next
    token to depend on every token and on every position before it."""

    def __init__(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)

        def random(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        self.tokens = random(VOCABULARY, SIZE)
        self.layers = [
            (random(3, SIZE, SIZE) / 3, random(SIZE, SIZE) / 2, random(2, SIZE, SIZE) / 3)
            for _ in range(2)
        ]
        self.head = random(SIZE, VOCABULARY)
        self.places = random(LONGEST, SIZE)

    def __call__(
        self, ids: Tensor, position: Tensor, sees: Tensor, slots: SlotCache | None = None
    ) -> Tensor:
        """Logits ``[rows, width, VOCABULARY]``; ``sees`` is bool ``[rows, 1, width, slots]``."""
        x = self.tokens[ids] + self.places[position]
        rows, width = ids.shape
        for i, (attention, out, feed) in enumerate(self.layers):
            q, k, v = (
                (layer_norm(x, (SIZE,)) @ weight)
                .view(rows, width, HEADS, SIZE // HEADS)
                .transpose(1, 2)
                for weight in attention
            )
            if slots is not None:
                k, v = slots.update(k, v, i)
            weights = (q @ k.mT).masked_fill(~sees, -torch.inf).softmax(-1)
            x = x + (weights @ v).transpose(1, 2).reshape(rows, width, SIZE) @ out
            x = x + gelu(layer_norm(x, (SIZE,)) @ feed[0]) @ feed[1]
        return layer_norm(x, (SIZE,)) @ self.head

    def plain(self, sequence: Sequence[int], slots: SlotCache | None = None) -> Tensor:
        """Logits ``[length, VOCABULARY]`` of one causal pass over ``sequence``."""
        at = torch.arange(len(sequence))
        return self(torch.tensor([sequence]), at[None], at[None, :] <= at[:, None], slots)[0]


MODEL = Transformer(8)
"""Its outputs vary, and hold the stops and the padding token (see `test_engine`)."""


@cache
def greedy(prompt: tuple[int, ...], length: int, penalty: float = 1.0) -> list[int]:
    """What decoding says: a whole forward pass for every token, and the next one's argmax."""
    sequence = list(prompt)
    for _ in range(length):
        logits = MODEL.plain(sequence)[-1:]
        if penalty != 1.0:
            ids = torch.tensor([sequence])
            logits = RepetitionPenaltyLogitsProcessor(penalty)(ids, logits)
        sequence.append(int(logits.argmax()))
    return sequence[len(prompt) :]


def prompts(lengths: Sequence[int], seed: int = 0) -> list[tuple[int, ...]]:
    rng = np.random.default_rng(seed)
    return [tuple(rng.integers(0, VOCABULARY, length).tolist()) for length in lengths]


@dataclass(eq=False)
class Group:
    slots: SlotCache
    rows: list[Row] = field(default_factory=list)


@dataclass(eq=False)
class Row:
    group: Group
    pending: int
    open: bool = True


class ToyTarget:
    """The `Rewindable` protocol for ``model``. Rows that are opened together share a cache."""

    def __init__(self, model: Transformer | None = None) -> None:
        self.model = model or MODEL

    def open(self, inputs: Sequence[Sequence[int]]) -> list[Row]:
        group = Group(SlotCache(len(inputs)))
        lengths = [len(prompt) - 1 for prompt in inputs]
        if any(lengths):
            sees = group.slots.prompt_mask(lengths)
            ids = padded([prompt[:-1] for prompt in inputs])
            self.model(ids, group.slots.queries, sees, group.slots)
        group.rows = [Row(group, prompt[-1]) for prompt in inputs]
        return list(group.rows)

    def score(self, states: Sequence[Row], trees: Sequence[DraftTree[int]]) -> list[Scores]:
        (group,) = {row.group for row in states}
        if not all(row.open for row in group.rows):
            group.slots.select([i for i, row in enumerate(group.rows) if row.open])
            group.rows = [row for row in group.rows if row.open]
        sees = group.slots.tree_mask(trees, [group.rows.index(row) for row in states])
        ids = padded([[row.pending, *tree.atoms] for row, tree in zip(states, trees, strict=True)])
        logits = self.model(ids, group.slots.queries, sees, group.slots)
        return [Scores(row[: 1 + len(tree)]) for row, tree in zip(logits, trees, strict=True)]

    def keep(self, state: Row, path: Sequence[int], pending: int) -> None:
        state.group.slots.keep(state.group.rows.index(state), path)
        state.pending = pending

    def cached(self, state: Row) -> int:
        return state.group.slots.lengths[state.group.rows.index(state)]

    def rewind(self, state: Row, count: int, pending: int) -> None:
        state.group.slots.rewind(state.group.rows.index(state), count)
        state.pending = pending

    def close(self, states: Sequence[Row]) -> None:
        for state in states:
            state.open = False


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    width = max(len(row) for row in rows)
    return torch.stack(
        [pad(torch.tensor(row, dtype=torch.long), (0, width - len(row)), value=PAD) for row in rows]
    )


class Oracle:
    """A `Target` that writes ``truth`` whatever the draft was: its states count the atoms."""

    def __init__(self, truth: Sequence[int]) -> None:
        self.truth = [*truth, 0]

    def open(self, inputs: Sequence[None]) -> list[list[int]]:
        return [[0] for _ in inputs]

    def score(self, states: Sequence[list[int]], trees: Sequence[DraftTree[int]]) -> list[Scores]:
        return [
            Scores(self._logits([state[0], *(state[0] + tree.depths())]))
            for state, tree in zip(states, trees, strict=True)
        ]

    def keep(self, state: list[int], path: Sequence[int], pending: int) -> None:
        state[0] += len(path) + 1

    def close(self, states: Sequence[list[int]]) -> None:
        """There is nothing to release."""

    def _logits(self, places: Sequence[int]) -> np.ndarray:
        logits = np.zeros((len(places), max(self.truth) + 1))
        for row, place in enumerate(places):
            logits[row, self.truth[min(place, len(self.truth) - 1)]] = 1
        return logits


class Hidden:
    """Draws chains or trees of ``nodes`` atoms in which the truth stands at its depth with
    probability ``right`` and any other atom otherwise. So what follows a wrong atom is often
    right again, and must be rejected all the same."""

    def __init__(
        self,
        truth: Sequence[int],
        seed: int,
        *,
        right: float,
        nodes: int,
        tree: bool = False,
        vocabulary: int = VOCABULARY,
    ) -> None:
        self.truth = truth
        self.rng = np.random.default_rng(seed)
        self.right = right
        self.nodes = nodes
        self.tree = tree
        self.vocabulary = vocabulary

    def propose(self, output: Sequence[int], budget: Budget) -> DraftTree[int]:
        atoms: list[int] = []
        parents: list[int] = []
        depths = {-1: 0}
        for _ in range(self.nodes):
            parent = int(self.rng.integers(-1, len(atoms))) if self.tree else len(atoms) - 1
            place = len(output) + depths[parent]
            truth = self.truth[place] if place < len(self.truth) else PAD
            wrong = (truth + int(self.rng.integers(1, self.vocabulary))) % self.vocabulary
            atom = truth if self.rng.random() < self.right else wrong
            if (parent, atom) not in zip(parents, atoms, strict=True):
                depths[len(atoms)] = depths[parent] + 1
                atoms.append(atom)
                parents.append(parent)
        return DraftTree(atoms, parents)

    def observe(self, outcome: Outcome[int]) -> None:
        """It knows the truth already."""
