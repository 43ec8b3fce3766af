"""A drafter whose draft is one finished text that says how sure it is of itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hsd_docparse.speculative.drafters.aligned_text import MAX_WINDOW, MIN_WINDOW, AlignedText
from hsd_docparse.speculative.interfaces import Budget, Outcome
from hsd_docparse.speculative.laws import Law
from hsd_docparse.speculative.tree import DraftTree

REACH = 16
"""Tokens of the draft within which a match of the least window is no chance."""


class WeighedText(AlignedText):
    """``text``, of each token of which ``beliefs`` say what the draft thought.

    While the output follows the text, its continuation is proposed with its beliefs. Where the
    output has left it, guesses without any are proposed, until the end of the output is found
    again: in one place only, by 3 tokens at most `REACH` behind the departure, or by 10 anywhere.
    A belief at a wrong place would write the text of another line. Guesses end where the output
    might be back, so that it is so at the same token whatever the budget.
    """

    def __init__(self, text: Sequence[int], beliefs: Sequence[Law | None]) -> None:
        super().__init__([text])
        self.beliefs = beliefs
        self.place: int | None = 0
        """Of the next token, while the output follows the text."""
        self.left = 0
        """Where the output has left the text, or is now."""

    def propose(self, output: Sequence[int], budget: Budget) -> DraftTree[int]:
        if self.place is None:
            matches, length = self._longest_matches(output)
            if len(matches) == 1 and self._is_back(matches[0], length):
                (self.place,) = matches
            else:
                depth = max(1, MIN_WINDOW - length)
                return super().propose(
                    output,
                    replace(budget, chain=min(1, budget.chain), depth=min(depth, budget.depth)),
                )
        self.candidates = [self.place]
        atoms = self._after(self.place, budget.chain)
        beliefs = self.beliefs[self.place : self.place + len(atoms)]
        return replace(DraftTree.chain(atoms), beliefs=beliefs)

    def observe(self, outcome: Outcome[Any]) -> None:
        super().observe(outcome)
        if self.place is None:
            return
        self.left = self.place
        for atom in outcome.emitted:
            if self.text[self.left : self.left + 1] != [atom]:
                self.place = None
                return
            self.left += 1
        self.place = self.left

    def _is_back(self, place: int, length: int) -> bool:
        near = length >= MIN_WINDOW and 0 <= place - self.left <= REACH
        return near or length == MAX_WINDOW
