"""A drafter whose draft is finished text, aligned anew after every commit.

The decoupled speculative verification of HSD (arXiv 2602.12957): the draft is not a model
that follows the target but a set of fixed texts, so after each commit the end of the output
is looked for in them. What follows a unique match is proposed as a chain; several matches
become a prefix tree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from hsd_docparse.speculative.interfaces import Budget, Outcome
from hsd_docparse.speculative.tree import DraftTree

MIN_WINDOW = 3
MAX_WINDOW = 10
SKIPS = (1, 0, 2, 3)
"""Where to go on in the draft after a rejected token: substituted (skip it), inserted
(stay), or several draft tokens replaced by one."""


class AlignedText:
    """Drafts from ``texts``, an unordered set of token sequences.

    The window starts at 3 tokens and grows to 10 while more than one place matches. No
    match of 3 tokens means that the target has just departed from the draft: the places
    behind the departure and those that follow the last token become a tree.
    """

    def __init__(self, texts: Sequence[Sequence[int]]) -> None:
        self.text: list[int] = []
        """All texts, each ended by a separator (-1) that no output can match."""
        self.starts: list[int] = []
        for text in texts:
            if text:
                self.starts.append(len(self.text))
                self.text += [*text, -1]
        self.places: dict[int, list[int]] = defaultdict(list)
        for place, token in enumerate(self.text):
            self.places[token].append(place)
        self.cursor: int | None = None
        """Where the first draft token stands that the target did not accept."""
        self.candidates: list[int] = self.starts

    def propose(self, output: Sequence[int], budget: Budget) -> DraftTree[int]:
        if not output:
            self.candidates = self.starts
            return self._branches(budget)
        matches, length = self._longest_matches(output)
        if len(matches) == 1 and length >= MIN_WINDOW:
            self.candidates = matches
            return DraftTree.chain(self._after(matches[0], budget.chain))
        near = self.cursor or 0
        matches.sort(key=lambda place: abs(place - near))
        if length < MIN_WINDOW and self.cursor is not None:
            # A wrong token may stand, even once only, anywhere else in the draft.
            matches = [self.cursor + skip for skip in SKIPS] + matches
        self.candidates = matches
        return self._branches(budget)

    def observe(self, outcome: Outcome[Any]) -> None:
        accepted = [outcome.tree.atoms[node] for node in outcome.verdict.path]
        for place in self.candidates:
            if self.text[place : place + len(accepted)] == accepted:
                self.cursor = place + len(accepted)
                return

    def _longest_matches(self, output: Sequence[int]) -> tuple[list[int], int]:
        """Places that follow the longest match of the end of ``output``, and its length."""
        found: list[int] = []
        longest = 1
        for end in self.places.get(output[-1], ()):
            length = 1
            while (
                length < MAX_WINDOW
                and length < len(output)
                and length <= end
                and self.text[end - length] == output[-1 - length]
            ):
                length += 1
            if length > longest:
                found, longest = [], length
            if length == longest:
                found.append(end + 1)
        return found, longest if found else 0

    def _branches(self, budget: Budget) -> DraftTree[int]:
        branches = [self._after(place, budget.depth) for place in dict.fromkeys(self.candidates)]
        return DraftTree.merge(branches, nodes=budget.nodes, depth=budget.depth)

    def _after(self, place: int, limit: int) -> list[int]:
        if not 0 <= place < len(self.text):
            return []
        end = place
        while end < len(self.text) and end - place < limit and self.text[end] != -1:
            end += 1
        return self.text[place:end]
