"""Suffix trees over this request and over past ones (SuffixDecoding, arXiv 2411.04975)."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hsd_docparse.speculative.interfaces import Budget, Outcome
from hsd_docparse.speculative.tree import ROOT, DraftTree


@dataclass
class _State:
    """Strings that end at the same places. ``longest`` is the length of the longest, ``shorter``
    the state of its longest suffix that ends at more places, ``count`` how many places."""

    longest: int = 0
    shorter: int = -1
    count: int = 0
    after: dict[int, int] = field(default_factory=dict)
    """By the next token."""


class SuffixTree:
    """All substrings of the texts read so far, with their counts, as a suffix automaton, which
    grows by at most two states a token (Blumer et al. 1985). Texts are read token by token, and
    do not run into each other. A token costs a step for every length of what it repeats."""

    def __init__(self) -> None:
        self.states = [_State()]
        self.last = 0

    def end_text(self) -> None:
        self.last = 0

    def append(self, token: int) -> None:
        states = self.states
        known = states[self.last].after.get(token)
        if known is not None:
            # Another text began in the same way.
            longest = states[self.last].longest + 1
            new = known if states[known].longest == longest else self._split(self.last, token)
        else:
            new = len(states)
            states.append(_State(states[self.last].longest + 1))
            place = self.last
            while place != -1 and token not in states[place].after:
                states[place].after[token] = new
                place = states[place].shorter
            if place == -1:
                states[new].shorter = 0
            else:
                other = states[place].after[token]
                fits = states[other].longest == states[place].longest + 1
                states[new].shorter = other if fits else self._split(place, token)
        self.last = new
        while new > 0:
            states[new].count += 1
            new = states[new].shorter

    def follow(self, state: int, length: int, token: int) -> tuple[int, int]:
        """From the longest match of a text to the longest match of the text and ``token``."""
        while state != -1 and token not in self.states[state].after:
            state = self.states[state].shorter
            length = self.states[state].longest if state != -1 else 0
        return (self.states[state].after[token], length + 1) if state != -1 else (0, 0)

    def best_branches(
        self, state: int, nodes: int, depth: int, least: float
    ) -> tuple[DraftTree[int], float]:
        """The likeliest continuations by count, and how many of their atoms are expected to be
        right. A node's probability is its count among its siblings', times its parent's."""
        atoms: list[int] = []
        parents: list[int] = []
        expected = 0.0
        heap: list[tuple[float, int, int, int, int, int]] = []

        def push(state: int, chance: float, node: int, level: int) -> None:
            after = self.states[state].after
            total = sum(self.states[following].count for following in after.values())
            for token, following in after.items():
                share = chance * self.states[following].count / total
                if share >= least:
                    heapq.heappush(heap, (-share, len(atoms), token, following, node, level))

        push(state, 1.0, ROOT, 1)
        while heap and len(atoms) < nodes:
            negative, _, token, following, parent, level = heapq.heappop(heap)
            node = len(atoms)
            atoms.append(token)
            parents.append(parent)
            expected -= negative
            if level < depth:
                push(following, -negative, node, level + 1)
        return DraftTree(atoms, parents), expected

    def _split(self, place: int, token: int) -> int:
        """A state for the strings of ``place`` and ``token`` alone."""
        states = self.states
        other = states[place].after[token]
        new = len(states)
        states.append(
            _State(
                states[place].longest + 1,
                states[other].shorter,
                states[other].count,
                dict(states[other].after),
            )
        )
        states[other].shorter = new
        while place != -1 and states[place].after.get(token) == other:
            states[place].after[token] = new
            place = states[place].shorter
        return new


class SuffixDecoding:
    """Proposes the continuations that were most frequent behind the longest match of the
    output's end: in this request, or in ``past``, a tree of earlier requests (the pages of the
    same document), whichever expects more right atoms.

    A longer match is trusted further: at most ``factor`` nodes for every matched token.
    ``least`` is the estimated probability below which a node is not worth a place.
    """

    def __init__(
        self,
        prompt: Sequence[int] = (),
        past: SuffixTree | None = None,
        factor: float = 2.0,
        least: float = 0.1,
        longest: int = 64,
    ) -> None:
        self.own = SuffixTree()
        self.past = past
        self.factor = factor
        self.least = least
        self.longest = longest
        self.read = 0
        self.match = (0, 0)
        """State and length of the longest match in ``past``."""
        for token in prompt:
            self._append(token)

    def propose(self, output: Sequence[int], budget: Budget) -> DraftTree[int]:
        for token in output[self.read :]:
            self._append(token)
        self.read = len(output)
        tree, expected = self._branches(self.own, *self._own_match(), budget)
        if self.past is not None:
            other, better = self._branches(self.past, *self.match, budget)
            tree = other if better > expected else tree
        return tree

    def observe(self, outcome: Outcome[Any]) -> None:
        """The output says it all."""

    def _append(self, token: int) -> None:
        self.own.append(token)
        if self.past is not None:
            self.match = self.past.follow(*self.match, token)

    def _own_match(self) -> tuple[int, int]:
        """The longest end of the text that stands in it before."""
        state = max(0, self.own.states[self.own.last].shorter)
        return state, self.own.states[state].longest

    def _branches(
        self, tree: SuffixTree, state: int, length: int, budget: Budget
    ) -> tuple[DraftTree[int], float]:
        if length == 0:
            return DraftTree.empty(), 0.0
        nodes = min(budget.nodes, int(self.factor * min(length, self.longest)) + 1)
        return tree.best_branches(state, nodes, budget.depth, self.least)
