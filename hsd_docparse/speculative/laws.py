"""Laws of atoms, and how a draft from one law becomes an atom of another.

`couple` is the whole of speculative sampling: given an atom drawn from ``q``, it returns an atom
that has exactly the law ``p``, and equals the draft as often as it can (Leviathan et al.
2211.17192; for laws with a density, De Bortoli et al. 2501.05370). Between siblings of a tree
the same step is repeated with what is left of ``p`` (`accepts`, then `residual`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Dense:
    """Probabilities of all tokens: float64 ``[vocabulary]``, their sum 1."""

    probabilities: Floats

    @classmethod
    def softmax(cls, logits: Any) -> Dense:
        """``logits``: one row, a numpy array or a torch tensor on any device."""
        if hasattr(logits, "detach"):
            logits = logits.detach().double().cpu().numpy()
        weights = np.exp(np.asarray(logits, np.float64) - np.max(logits))
        return cls(weights / weights.sum())

    def sample(self, rng: np.random.Generator) -> int:
        total = self.probabilities.cumsum()
        # From the right, so that a token of probability 0 is never drawn.
        drawn = int(total.searchsorted(rng.random() * total[-1], side="right"))
        return drawn if drawn < len(total) else int(self.probabilities.nonzero()[0][-1])

    def entropy(self) -> float:
        """In nats."""
        positive = self.probabilities[self.probabilities > 0]
        return float(-(positive * np.log(positive)).sum())


@dataclass(frozen=True)
class Point:
    """All mass on one atom: the law of a fixed text, whose probabilities nobody knows."""

    atom: Any

    def sample(self, rng: np.random.Generator) -> Any:
        return self.atom


@dataclass(frozen=True)
class Peaked:
    """``mass`` (0..1) on one atom, what is left even on all others: the belief of a reader that
    knows how sure it is of an atom, and not what else it might be."""

    atom: int
    mass: float


@dataclass(frozen=True)
class Gaussian:
    """Normal law of vectors: ``mean`` float64 ``[size]``, the same ``deviation`` in every
    direction."""

    mean: Floats
    deviation: float

    def sample(self, rng: np.random.Generator) -> Floats:
        return self.mean + self.deviation * rng.standard_normal(self.mean.shape)

    def log_density(self, atom: Floats) -> float:
        distance = (atom - self.mean) / self.deviation
        size = self.mean.size
        return float(
            -0.5 * (distance @ distance) - size * np.log(self.deviation * np.sqrt(2 * np.pi))
        )


@dataclass(frozen=True)
class Density:
    """Any law that can be drawn from and whose normalised log-density can be computed: a
    mixture, or a whole trajectory of denoising steps."""

    log_density: Callable[[Any], float]
    sample: Callable[[np.random.Generator], Any]


Law = Dense | Point | Gaussian | Density
Belief = Law | Peaked
"""What a draft thinks of a place, where its atom need not have been drawn from that."""


def accepts(p: Law, q: Law | None, atom: Any, rng: np.random.Generator) -> bool:
    """Whether ``atom``, drawn from ``q``, is kept as an atom of ``p``: with probability
    ``min(1, p / q)`` at the atom.

    ``None`` stands for a fixed text. Drawing from ``p`` and keeping the atom if it is what was
    drawn (sample and match) is the same law.
    """
    if isinstance(p, Point):
        return bool(np.all(p.atom == atom))
    if isinstance(p, Dense):
        chance = p.probabilities[atom]
        if isinstance(q, Dense):
            return bool(rng.random() * q.probabilities[atom] < chance)
        return bool(rng.random() < chance)
    ratio = p.log_density(atom) - _continuous(q).log_density(atom)
    return bool(rng.random() < np.exp(min(0.0, ratio)))


def residual(p: Law, q: Law | None, atom: Any) -> Law:
    """The law of the atom that replaces ``atom``, drawn from ``q`` and rejected: what ``p`` has
    more than ``q``, ``(p - q)+`` normalised."""
    if isinstance(p, Dense):
        left = p.probabilities.copy()
        if isinstance(q, Dense):
            left = np.maximum(left - q.probabilities, 0.0)
        else:
            left[atom] = 0.0
        total = left.sum()
        # Nothing is left only if both laws are one, up to rounding.
        return Dense(left / total) if total > 0 else p
    if isinstance(p, Point):
        return p
    if isinstance(p, Gaussian) and isinstance(q, Gaussian) and p.deviation == q.deviation:
        return Point(_reflected(p, q, atom))
    return _thinned(p, _continuous(q))


def couple(p: Law, q: Law | None, atom: Any, rng: np.random.Generator) -> tuple[bool, Any]:
    """``(True, atom)``, or ``(False, another atom)``; the atom returned has the law ``p``.

    Two Gaussians of the same deviation are coupled by reflection; other densities by
    thinning, which takes one more draw from ``p`` a position on average and has no cap: a
    cap would be a bias.
    """
    if accepts(p, q, atom, rng):
        return True, atom
    return False, residual(p, q, atom).sample(rng)


def _thinned(p: Gaussian | Density, q: Gaussian | Density) -> Density:
    """``(p - q)+``: drawn from ``p`` until a draw is kept, with probability ``(1 - q / p)+``."""

    def sample(rng: np.random.Generator) -> Any:
        while True:
            atom = p.sample(rng)
            if np.log(rng.random()) > q.log_density(atom) - p.log_density(atom):
                return atom

    return Density(_unknown, sample)


def _unknown(atom: Any) -> float:
    raise ValueError(
        "What is left of a density after a rejection has no density that can be computed: draft "
        "one continuous atom a position, not several."
    )


def _reflected(p: Gaussian, q: Gaussian, atom: Floats) -> Floats:
    """``atom`` with its noise mirrored at the plane half-way between both means."""
    apart = q.mean - p.mean
    noise = (atom - q.mean) / p.deviation
    direction = apart / np.linalg.norm(apart)
    mirrored: Floats = p.mean + p.deviation * (noise - 2 * (noise @ direction) * direction)
    return mirrored


def _continuous(law: Law | None) -> Gaussian | Density:
    if isinstance(law, (Gaussian, Density)):
        return law
    raise ValueError(f"A continuous atom cannot be verified against {law!r}: it has no density.")
