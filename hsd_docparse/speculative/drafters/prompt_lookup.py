"""Prompt lookup: what followed the same n-gram before (Saxena 2023; transformers has it too)."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from hsd_docparse.speculative.interfaces import Budget, Outcome
from hsd_docparse.speculative.tree import DraftTree


class PromptLookup:
    """Looks the last ``longest`` to ``shortest`` tokens up in the prompt and the output, and
    proposes what followed at the latest earlier place of the longest that is found and has a whole
    draft behind it (in a repetition the latest place of all is followed by next to nothing), or
    else at the first place."""

    def __init__(self, prompt: Sequence[int] = (), longest: int = 3, shortest: int = 1) -> None:
        self.text = list(prompt)
        self.prompt = len(self.text)
        self.lengths = range(longest, shortest - 1, -1)
        self.places: dict[tuple[int, ...], list[int]] = defaultdict(list)
        """Where the text goes on behind an n-gram, earliest first."""
        self.known = 0

    def propose(self, output: Sequence[int], budget: Budget) -> DraftTree[int]:
        self.text += output[len(self.text) - self.prompt :]
        # The n-grams that end the text are left out: they would only find themselves.
        for end in range(max(1, self.known), len(self.text)):
            for length in self.lengths:
                if length <= end:
                    self.places[tuple(self.text[end - length : end])].append(end)
        self.known = len(self.text)
        for length in self.lengths:
            places = self.places.get(tuple(self.text[-length:]))
            if places and length <= len(self.text):
                whole = bisect_right(places, self.known - budget.chain)
                place = places[max(0, whole - 1)]
                return DraftTree.chain(self.text[place : place + budget.chain])
        return DraftTree.empty()

    def observe(self, outcome: Outcome[Any]) -> None:
        """The output says it all."""
