"""CopySpec: a rolling hash of the last tokens finds where to copy from (arXiv 2502.08923)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hsd_docparse.speculative.drafters.no_draft import NoDraft
from hsd_docparse.speculative.interfaces import Budget, Drafter, Outcome
from hsd_docparse.speculative.tree import DraftTree

BASE = 1_000_003
MODULUS = (1 << 61) - 1


class CopySpec:
    """Copies up to ``block`` tokens from behind the first earlier place of the last ``gamma``
    tokens; where there is none, ``otherwise`` drafts (the paper has a draft model there).

    One multiplication and one look-up a token, however long the text. Equal hashes are
    compared token by token before anything is copied.
    """

    def __init__(
        self,
        prompt: Sequence[int] = (),
        gamma: int = 3,
        block: int = 10,
        otherwise: Drafter[int] | None = None,
    ) -> None:
        self.text: list[int] = []
        self.prompt = len(prompt)
        self.gamma = gamma
        self.block = block
        self.otherwise = otherwise or NoDraft()
        self.oldest = pow(BASE, gamma, MODULUS)
        """What the hash gives up for the token that leaves the window."""
        self.hash = 0
        self.places: dict[int, int] = {}
        """Where the text goes on behind the first place of a hash."""
        self.match: int | None = None
        self._read(prompt)

    def propose(self, output: Sequence[int], budget: Budget) -> DraftTree[int]:
        self._read(output[len(self.text) - self.prompt :])
        if self.match is None:
            return self.otherwise.propose(output, budget)
        length = min(self.block, budget.chain)
        return DraftTree.chain(self.text[self.match : self.match + length])

    def observe(self, outcome: Outcome[Any]) -> None:
        self.otherwise.observe(outcome)

    def _read(self, tokens: Sequence[int]) -> None:
        gamma = self.gamma
        for token in tokens:
            self.text.append(token)
            self.hash = (self.hash * BASE + token + 1) % MODULUS
            end = len(self.text)
            if end > gamma:
                leaving = self.text[end - gamma - 1] + 1
                self.hash = (self.hash - leaving * self.oldest) % MODULUS
            if end < gamma:
                continue
            self.match = self.places.setdefault(self.hash, end)
            same = self.text[self.match - gamma : self.match] == self.text[end - gamma :]
            if self.match == end or not same:
                self.match = None
