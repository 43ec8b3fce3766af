"""A drafter whose draft is one finished text that says how sure it is of itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hsd_docparse.speculative.drafters.aligned_text import MAX_WINDOW, MIN_WINDOW, AlignedText
from hsd_docparse.speculative.interfaces import Budget, Outcome
from hsd_docparse.speculative.laws import Belief
from hsd_docparse.speculative.tree import ROOT, DraftTree

REACH = 16
"""Tokens of the draft within which a match of the least window is no chance."""

Resume = Callable[[int | None, Sequence[int]], int | None]
"""``resume(place, output)``: where a text goes on after ``output``, of which the last token is not
the text's at ``place``, or which has left the text before (None); None where that is not known."""


class WeighedText(AlignedText):
    """``text``, of each token of which ``beliefs`` say what the draft thought.

    While the output follows the text, its continuation is proposed with its beliefs. Where the
    output departs from it, ``resume`` may know where the text goes on. Otherwise guesses without
    any belief are proposed until that is known again, or until the end of the output is found
    again: by 3 tokens behind the one that departed, in the nearest place at most `REACH` further in
    the text, or by 10 in one place anywhere. A belief at a wrong place would write the text of
    another line. Guesses end where the output might be back, so that it is so at the same token
    whatever the budget.
    """

    def __init__(
        self,
        text: Sequence[int],
        beliefs: Sequence[Belief | None],
        resume: Resume | None = None,
    ) -> None:
        super().__init__([text])
        self.beliefs = beliefs
        self.resume = resume or (lambda place, output: None)
        self.output: list[int] = []
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
            guesses = super().propose(output, replace(budget, chain=chain, depth=depth))
            return self._until_known(guesses)
        self.candidates = [self.place]
        atoms = self._after(self.place, budget.chain)
        beliefs = self.beliefs[self.place : self.place + len(atoms)]
        return replace(DraftTree.chain(atoms), beliefs=beliefs)

    def observe(self, outcome: Outcome[Any]) -> None:
        super().observe(outcome)
        for token in outcome.emitted:
            self.output.append(token)
            place = self.place
            if place is not None:
                self.left, self.strayed = place, 0
            if place is not None and self._after(place, 1) == [token]:
                self.place = place + 1
            else:
                self.strayed += 1
                self.place = self.resume(place, self.output)

    def _until_known(self, guesses: DraftTree[int]) -> DraftTree[int]:
        """``guesses`` without what stands behind a token that says where the text goes on."""
        kept = {ROOT: ROOT}
        ends = set()
        for node, parent in enumerate(guesses.parents):
            if parent in kept and parent not in ends:
                kept[node] = len(kept) - 1
                path = [guesses.atoms[i] for i in guesses.path(node)]
                if self.resume(None, [*self.output, *path]) is not None:
                    ends.add(node)
        nodes = list(kept)[1:]
        atoms = [guesses.atoms[node] for node in nodes]
        return DraftTree(atoms, [kept[guesses.parents[node]] for node in nodes])

    def _near(self, output: Sequence[int]) -> int | None:
        if self.strayed <= MIN_WINDOW:
            return None
        end = list(output[-MIN_WINDOW:])
        for place in range(max(self.left, MIN_WINDOW), self.left + REACH + 1):
            if self.text[place - MIN_WINDOW : place] == end:
                return place
        return None
