"""A drafter whose draft is one finished text that says how sure it is of itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from hsd_docparse.speculative.drafters.aligned_text import MAX_WINDOW, MIN_WINDOW, AlignedText
from hsd_docparse.speculative.interfaces import Budget, Outcome
from hsd_docparse.speculative.laws import Belief
from hsd_docparse.speculative.tree import DraftTree

REACH = 16
"""Tokens of the draft within which a match of the least window is no chance."""


class WeighedText(AlignedText):
    """``text``, of each token of which ``beliefs`` say what the draft thought.

    While the output follows the text, its continuation is proposed with its beliefs. Where the
    output has left it, guesses without any are proposed, until the end of the output is found
    again: by 3 tokens behind the one that departed, in the nearest place at most `REACH` further in
    the text, or by 10 in one place anywhere. A belief at a wrong place would write the text of
    another line. Guesses end where the output might be back, so that it is so at the same token
    whatever the budget.
    """

    def __init__(self, text: Sequence[int], beliefs: Sequence[Belief | None]) -> None:
        super().__init__([text])
        self.beliefs = beliefs
        self.place: int | None = 0
        """Of the next token, while the output follows the text."""
        self.left = 0
        """Where the output has left the text, or is now."""
        self.strayed = 0
        """Tokens of the output since then."""

    def propose(self, output: Sequence[int], budget: Budget) -> DraftTree[int]:
        if self.place is None:
            matches, length = self._longest_matches(output)
            self.place = self._near(output)
            if self.place is None and length == MAX_WINDOW and len(matches) == 1:
                (self.place,) = matches
        if self.place is None:
            chain, depth = min(1, budget.chain), min(max(1, MIN_WINDOW - length), budget.depth)
            return super().propose(output, replace(budget, chain=chain, depth=depth))
        self.candidates = [self.place]
        atoms = self._after(self.place, budget.chain)
        beliefs = self.beliefs[self.place : self.place + len(atoms)]
        return replace(DraftTree.chain(atoms), beliefs=beliefs)

    def observe(self, outcome: Outcome[Any]) -> None:
        super().observe(outcome)
        if self.place is None:
            self.strayed += len(outcome.emitted)
            return
        pairs = zip(self._after(self.place, len(outcome.emitted)), outcome.emitted, strict=False)
        same = list(takewhile(lambda pair: pair[0] == pair[1], pairs))
        self.left = self.place + len(same)
        self.strayed = len(outcome.emitted) - len(same)
        self.place = None if self.strayed else self.left

    def _near(self, output: Sequence[int]) -> int | None:
        if self.strayed <= MIN_WINDOW:
            return None
        end = list(output[-MIN_WINDOW:])
        for place in range(max(self.left, MIN_WINDOW), self.left + REACH + 1):
            if self.text[place - MIN_WINDOW : place] == end:
                return place
        return None
