"""Coupling: the atom has the target's law, and is the draft's as often as it can be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.stats import chisquare, kstest, norm

from hsd_docparse.speculative import (
    Budget,
    Dense,
    Density,
    DraftTree,
    Gaussian,
    Law,
    MaxLength,
    Outcome,
    Point,
    Request,
    Sampling,
    Scores,
    couple,
    run,
)
from hsd_docparse.speculative import laws as laws_module

Floats = NDArray[np.float64]
MANY = 40_000


def dense(*weights: float) -> Dense:
    return Dense(np.array(weights) / sum(weights))


PAIRS = {
    "apart": (dense(1, 2, 3, 4), dense(4, 3, 2, 1)),
    "equal": (dense(1, 2, 3, 4), dense(1, 2, 3, 4)),
    "disjoint": (dense(1, 1, 0, 0), dense(0, 0, 1, 1)),
    "one-hot draft": (dense(1, 2, 3, 4), dense(0, 0, 1, 0)),
    "one-hot target": (dense(0, 1, 0, 0), dense(1, 2, 3, 4)),
    "zeros in the draft": (dense(1, 2, 3, 4), dense(0, 3, 0, 1)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_dense_laws_are_coupled_exactly_and_as_closely_as_possible(name: str) -> None:
    p, q = PAIRS[name]
    rng = np.random.default_rng(0)
    drawn = [couple(p, q, q.sample(rng), rng) for _ in range(MANY)]
    counts = np.bincount([atom for _, atom in drawn], minlength=4)
    possible = p.probabilities > 0
    assert counts[~possible].sum() == 0
    if possible.sum() > 1:
        assert chisquare(counts[possible], MANY * p.probabilities[possible]).pvalue > 0.01
    overlap = np.minimum(p.probabilities, q.probabilities).sum()
    assert np.mean([kept for kept, _ in drawn]) == pytest.approx(overlap, abs=0.01)


@pytest.mark.parametrize("q", [None, Point(2)])
def test_fixed_text_is_coupled_by_sample_and_match(q: Law | None) -> None:
    p = dense(1, 2, 3, 4)
    rng = np.random.default_rng(0)
    drawn = [couple(p, q, 2, rng) for _ in range(MANY)]
    counts = np.bincount([atom for _, atom in drawn], minlength=4)
    assert chisquare(counts, MANY * p.probabilities).pvalue > 0.01
    assert np.mean([kept for kept, _ in drawn]) == pytest.approx(0.3, abs=0.01)
    assert all(kept == (atom == 2) for kept, atom in drawn)


def test_a_target_that_is_a_point_takes_nothing_else() -> None:
    rng = np.random.default_rng(0)
    assert couple(Point(3), None, 3, rng) == (True, 3)
    assert couple(Point(3), Point(1), 1, rng) == (False, 3)


def test_a_token_of_probability_zero_is_never_drawn() -> None:
    class Always:
        def __init__(self, value: float) -> None:
            self.value = value

        def random(self) -> float:
            return self.value

    law = dense(0, 1, 0, 1, 0)
    for value in (0.0, 0.5, np.nextafter(1, 0)):
        assert law.probabilities[law.sample(Always(value))] > 0  # type: ignore[arg-type]


# --- Continuous laws. A control that is biased on purpose must fail each of these tests. ---


def coupled(p: Law, q: Law, seed: int = 0, many: int = MANY) -> tuple[Floats, Floats]:
    """Atoms, and whether each is the draft's."""
    rng = np.random.default_rng(seed)
    drawn = [couple(p, q, q.sample(rng), rng) for _ in range(many)]
    return np.array([atom for _, atom in drawn]), np.array([kept for kept, _ in drawn], float)


def gaussians(size: int) -> tuple[Gaussian, Gaussian]:
    rng = np.random.default_rng(size)
    away = rng.standard_normal(size)
    return Gaussian(np.ones(size), 0.7), Gaussian(1 + 0.8 * away / np.linalg.norm(away), 0.7)


def along(atoms: Floats, p: Gaussian, q: Gaussian) -> Floats:
    """Standardised coordinates on the line through both means, where all the bias would be."""
    direction = (q.mean - p.mean) / np.linalg.norm(q.mean - p.mean)
    line: Floats = (atoms - p.mean) @ direction / p.deviation
    return line


@pytest.mark.parametrize("size", [1, 8, 16])
def test_reflected_gaussians_have_the_law_of_the_target(size: int) -> None:
    p, q = gaussians(size)
    atoms, kept = coupled(p, q)
    assert kstest(along(atoms, p, q), "norm").pvalue > 0.01
    assert kstest(((atoms - p.mean) / p.deviation).ravel()[::size], "norm").pvalue > 0.01
    direct = np.random.default_rng(9).standard_normal(atoms.shape) * p.deviation + p.mean
    assert energy_test(atoms, direct) > 0.01
    apart = np.linalg.norm(p.mean - q.mean) / p.deviation
    assert kept.mean() == pytest.approx(2 * norm.cdf(-apart / 2), abs=0.01)


def the_draft_stays(p: Law, q: Law, atom: Floats) -> Law:
    return Point(atom)


def the_noise_is_kept(p: Gaussian, q: Gaussian, atom: Floats) -> Law:
    """The draft's noise around the target's mean, not mirrored."""
    return Point(p.mean + atom - q.mean)


def the_target_is_drawn_anew(p: Law, q: Law, atom: Floats) -> Law:
    return p


@pytest.mark.parametrize("wrong", [the_draft_stays, the_noise_is_kept, the_target_is_drawn_anew])
@pytest.mark.parametrize("size", [1, 8])
def test_biased_gaussians_fail(
    wrong: Callable[..., Law], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(laws_module, "residual", wrong)
    p, q = gaussians(size)
    atoms, _ = coupled(p, q)
    assert kstest(along(atoms, p, q), "norm").pvalue < 1e-6
    direct = np.random.default_rng(9).standard_normal(atoms.shape) * p.deviation + p.mean
    assert energy_test(atoms, direct) < 0.01


def gaussian_mixture(means: list[float], deviations: list[float], weights: list[float]) -> Density:
    parts = list(zip(means, deviations, weights, strict=True))

    def log_density(atom: Floats) -> float:
        return float(np.log(sum(w * norm.pdf(atom[0], m, d) for m, d, w in parts)))

    def draw(rng: np.random.Generator) -> Floats:
        mean, deviation, _ = parts[rng.choice(len(parts), p=weights)]
        return np.array([rng.normal(mean, deviation)])

    return Density(log_density, draw)


class Counted:
    """How often ``p`` was drawn from."""

    def __init__(self, p: Density) -> None:
        self.draws = 0
        self.law = Density(p.log_density, self.draw)
        self.inner = p.sample

    def draw(self, rng: np.random.Generator) -> Floats:
        self.draws += 1
        atom: Floats = self.inner(rng)
        return atom


def p_cumulated(x: Floats) -> Floats:
    total: Floats = 0.4 * norm.cdf(x, -1, 0.5) + 0.6 * norm.cdf(x, 2, 0.8)
    return total


P = gaussian_mixture([-1, 2], [0.5, 0.8], [0.4, 0.6])
Q = gaussian_mixture([0, 2.5], [0.7, 0.5], [0.5, 0.5])
TRIED = 8_000


def direct(law: Density, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    return np.array([law.sample(rng) for _ in range(TRIED)])


def test_densities_are_thinned_exactly_with_one_more_draw_a_position() -> None:
    counted = Counted(P)
    atoms, kept = coupled(counted.law, Q, many=TRIED)
    assert kstest(atoms[:, 0], p_cumulated).pvalue > 0.01
    assert energy_test(atoms, direct(P, 7)) > 0.01
    assert 0.3 < kept.mean() < 0.9
    assert counted.draws / TRIED == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("tries", [0, 1, 2])
def test_a_cap_on_tries_is_a_bias(tries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many tries zeros are emitted, as one released system does after a hundred."""

    def capped(p: Density, q: Density, atom: Floats) -> Law:
        def draw(rng: np.random.Generator) -> Floats:
            for _ in range(tries):
                found: Floats = p.sample(rng)
                if np.log(rng.random()) > q.log_density(found) - p.log_density(found):
                    return found
            return np.zeros(1)

        return Density(p.log_density, draw)

    monkeypatch.setattr(laws_module, "residual", capped)
    atoms, _ = coupled(P, Q, many=TRIED)
    assert kstest(atoms[:, 0], p_cumulated).pvalue < 1e-6
    assert energy_test(atoms, direct(P, 7)) < 0.01


def test_gaussians_of_different_deviations_are_thinned() -> None:
    p, q = Gaussian(np.zeros(2), 1.0), Gaussian(np.full(2, 0.4), 1.3)
    atoms, _ = coupled(p, q, many=TRIED)
    for axis in range(2):
        assert kstest(atoms[:, axis], "norm").pvalue > 0.01


def energy_test(a: Floats, b: Floats, permutations: int = 199, most: int = 1000) -> float:
    """P value of the energy distance between two samples (Székely and Rizzo), by permutation."""
    rng = np.random.default_rng(3)
    a, b = (side[rng.permutation(len(side))[:most]] for side in (a, b))
    both = np.concatenate([a, b])
    distances = cdist(both, both)
    split = (np.arange(len(both)) < len(a)).astype(float)
    splits = np.stack([split, *(rng.permutation(split) for _ in range(permutations))], 1)
    others = 1 - splits
    near, far = distances @ splits, distances @ others
    energies = (
        2 * (others * near).sum(0) / (len(a) * len(b))
        - (splits * near).sum(0) / len(a) ** 2
        - (others * far).sum(0) / len(b) ** 2
    )
    return float((energies >= energies[0]).mean())


class Vectors:
    """A `Target` of vectors: each is normal around half of the one before."""

    def open(self, inputs: list[Floats]) -> list[list[Floats]]:
        return [[start] for start in inputs]

    def score(self, states: list[list[Floats]], trees: list[DraftTree[Floats]]) -> list[Scores]:
        scores = []
        for state, tree in zip(states, trees, strict=True):
            before = [state[-1], *tree.atoms]
            scores.append(Scores(laws=[Gaussian(atom / 2, 1.0) for atom in before]))
            state[1:] = [state[0], *tree.atoms]
        return scores

    def keep(self, state: list[Floats], path: list[int], pending: Floats) -> None:
        state[:] = [pending]

    def close(self, states: list[list[Floats]]) -> None:
        """There is nothing to release."""


class Chains:
    """Drafts two vectors around a third of the one before."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def propose(self, output: list[Floats], budget: Budget) -> DraftTree[Floats]:
        atom = output[-1] if output else np.zeros(2)
        atoms: list[Floats] = []
        laws: list[Law | None] = []
        for _ in range(2):
            law = Gaussian(atom / 3 + 0.3, 1.0)
            atom = law.sample(self.rng)
            atoms.append(atom)
            laws.append(law)
        return DraftTree(atoms, range(-1, 1), laws)

    def observe(self, outcome: Outcome[Floats]) -> None:
        """It draws from what has been emitted, and from nothing else."""


def test_the_same_loop_generates_vectors() -> None:
    rng = np.random.default_rng(0)
    outputs, accepted = [], 0
    for _ in range(6_000):
        target = Vectors()
        (state,) = target.open([np.zeros(2)])
        request = Request(state, Chains(rng), [MaxLength(4)], Sampling(), rng=rng)
        run(target, [request])
        outputs.append(request.output)
        accepted += request.statistics.accepted
    sequences = np.array(outputs)
    noise = sequences.copy()
    noise[:, 1:] -= sequences[:, :-1] / 2
    for at in range(4):
        assert kstest(noise[:, at].ravel(), "norm").pvalue > 0.01
    flat = noise.reshape(len(noise), -1)
    assert energy_test(flat, np.random.default_rng(1).standard_normal(flat.shape)) > 0.01
    assert accepted > len(outputs)


def test_several_continuous_siblings_are_refused_in_a_sentence() -> None:
    p, q = Gaussian(np.zeros(1), 1.0), Gaussian(np.ones(1), 2.0)
    left = laws_module.residual(p, q, np.ones(1))
    with pytest.raises(ValueError, match="one continuous atom a position"):
        laws_module.accepts(left, q, np.ones(1), np.random.default_rng(0))
    with pytest.raises(ValueError, match="no density"):
        couple(p, None, np.ones(1), np.random.default_rng(0))
