"""The draft length that measured costs make best, and none at all where none pays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from hsd_docparse.speculative.interfaces import Budget, Outcome


@dataclass
class _Line:
    """A straight line through points that come one by one, old ones fading."""

    memory: float = 0.98
    sums: list[float] = field(default_factory=lambda: [0.0] * 5)

    def learn(self, x: float, y: float) -> None:
        new = (1.0, x, y, x * x, x * y)
        self.sums = [self.memory * s + n for s, n in zip(self.sums, new, strict=True)]

    def at(self, x: float) -> float:
        n, sx, sy, sxx, sxy = self.sums
        if n == 0:
            return 0.0
        spread = n * sxx - sx * sx
        slope = max(0.0, (n * sxy - sx * sy) / spread) if spread > 1e-9 * n * sxx else 0.0
        return max(0.0, (sy - slope * sx) / n) + slope * x


@dataclass
class CostModel:
    """Speculation is on only where it is predicted to pay, with the chain that pays most: the
    profile of TIDE (arXiv 2602.05145), measured while decoding instead of at start-up.

    With acceptance ``a`` an atom, a chain of ``g`` gives ``(1 - a^(g+1)) / (1 - a)`` atoms and
    costs the drafting of ``g`` and one call of ``1 + g``. Both costs are straight lines fitted
    to what calls took; ``a`` is accepted over tested atoms, old steps fading by ``memory``.
    ``lengths`` are the chains to choose from (0: no speculation), cut where the ``budget`` ends.
    Every ``retry``-th step takes the next shorter or longer one, so that the costs stay known and
    a switched-off draft gets another chance.
    """

    budget: Budget = field(default_factory=Budget)
    lengths: tuple[int, ...] = (0, 2, 4, 8, 16, 32, 64)
    memory: float = 0.95
    retry: int = 16
    steps: int = field(default=0, init=False)
    accepted: float = field(default=0.8, init=False)
    tested: float = field(default=1.0, init=False)
    drafting: _Line = field(default_factory=_Line, init=False)
    scoring: _Line = field(default_factory=_Line, init=False)

    def plan(self) -> Budget:
        self.steps += 1
        at = self.lengths.index(self.best)
        if self.steps <= 2 * len(self.lengths):
            # Everything is measured twice before anything is believed.
            at = self.steps % len(self.lengths)
        elif self.steps % self.retry == 0:
            at += 1 if self.steps // self.retry % 2 else -1
            at = min(max(at, 0), len(self.lengths) - 1)
        chain = min(self.budget.chain, self.lengths[at])
        return replace(
            self.budget,
            chain=chain,
            nodes=min(self.budget.nodes, chain),
            depth=min(self.budget.depth, chain),
        )

    def update(self, outcome: Outcome[Any]) -> None:
        size = len(outcome.tree)
        # The first call of a process pays for what later ones find done.
        if self.steps > 1:
            self.scoring.learn(1 + size, outcome.seconds.scoring)
            if size:
                self.drafting.learn(size, outcome.seconds.drafting)
        if outcome.verdict.tested:
            self.accepted = self.memory * self.accepted + len(outcome.verdict.path)
            self.tested = self.memory * self.tested + outcome.verdict.tested

    @property
    def acceptance(self) -> float:
        return min(0.999, self.accepted / self.tested)

    @property
    def best(self) -> int:
        """The length with the highest predicted speed."""
        return max(self.lengths, key=self.speed)

    def speed(self, length: int) -> float:
        """Predicted atoms a second."""
        a = self.acceptance
        atoms = (1 - a ** (length + 1)) / (1 - a)
        seconds = self.scoring.at(1 + length) + (self.drafting.at(length) if length else 0.0)
        return atoms / seconds if seconds else atoms
