"""Rules of the verifiers that are not lossless, against their formulas."""

from __future__ import annotations

import numpy as np
import pytest
import toy
from markov import Drawn, Markov, Setting

from hsd_docparse.speculative import (
    Budget,
    Dense,
    DraftTree,
    Ensemble,
    EntropyAware,
    Fixed,
    Greedy,
    HeldBack,
    KlJudge,
    Margin,
    MaxLength,
    Mixture,
    ModelDrafter,
    Peaked,
    Request,
    Sampling,
    Scores,
    Tolerance,
    TopK,
    Verdict,
    Verifier,
    run,
)
from hsd_docparse.speculative.verifiers.lenient import divergence

RNG = np.random.default_rng(0)
LENGTH = 40


def judged(verifier: Verifier[int], tree: DraftTree[int], *probabilities: list[float]) -> Verdict:
    with np.errstate(divide="ignore"):
        logits = np.log(np.array(probabilities))
    return verifier.verify(tree, Scores(logits), np.random.default_rng(0))


def test_every_verifier_says_whether_it_is_lossless() -> None:
    assert Greedy().lossless
    assert Sampling().lossless
    assert Mixture(1.0).lossless
    assert Ensemble(1.0).lossless
    assert HeldBack(Greedy()).lossless
    assert EntropyAware(np.inf, 1.0).lossless
    lossy: list[Verifier[int]] = [
        Tolerance(0.75), TopK(3), Margin(2.0), KlJudge(0.3), Mixture(0.9),
        Mixture(lambda p, q: 1.0), EntropyAware(1.0, 1.0), Ensemble(0.9), HeldBack(TopK(3)),
    ]  # fmt: skip
    assert not any(verifier.lossless for verifier in lossy)


@pytest.mark.parametrize(
    ("verifier", "accepted"),
    [
        (Tolerance(1.0), {0}),
        (Tolerance(0.75), {0, 1}),
        (Tolerance(0.5), {0, 1, 2}),
        (TopK(1), {0}),
        (TopK(2), {0, 1}),
        (TopK(3), {0, 1, 2}),
        (Margin(0.1), {0}),
        (Margin(0.3), {0, 1}),
        (Margin(1.0), {0, 1, 2}),
        (KlJudge(9.0), {0}),
    ],
)
def test_what_a_lenient_verifier_accepts(verifier: Verifier[int], accepted: set[int]) -> None:
    p = [0.4, 0.32, 0.2, 0.08]
    for atom in range(4):
        verdict = judged(verifier, DraftTree.chain([atom]), p, [0.1, 0.1, 0.1, 0.7])
        expected = Verdict([0], 3, 1) if atom in accepted else Verdict([], 0, 1)
        assert verdict == expected, atom


def test_the_best_is_taken_before_what_is_only_good_enough() -> None:
    tree = DraftTree([2, 1, 0], [-1, -1, -1])
    row = [0.4, 0.32, 0.2, 0.08]
    assert judged(Tolerance(0.5), tree, row, row, row, row).path == [2]
    tree = DraftTree([2, 1], [-1, -1])
    assert judged(Tolerance(0.5), tree, row, row, row).path == [1]


def lenient_output(verifier: Verifier[int], seed: int) -> tuple[list[int], float]:
    (prompt,) = toy.prompts([6], seed)
    target, drafts = toy.ToyTarget(), toy.ToyTarget(toy.Transformer(5))
    (state,) = target.open([prompt])
    drafter = ModelDrafter(drafts, prompt, beliefs=True)
    controller = Fixed(Budget(chain=4))
    request = Request(state, drafter, [MaxLength(LENGTH)], verifier, controller=controller)
    run(target, [request])
    assert request.lossless == verifier.lossless
    return request.output, request.statistics.mean_accepted


@pytest.mark.parametrize("strict", [KlJudge(0.0), KlJudge(9.0, sure=0.0), TopK(1), Margin(0.0)])
def test_the_strictest_setting_is_greedy(strict: Verifier[int]) -> None:
    for seed in range(3):
        (prompt,) = toy.prompts([6], seed)
        assert lenient_output(strict, seed)[0] == toy.greedy(prompt, LENGTH)


def test_more_is_accepted_the_more_lenient_the_judge_is() -> None:
    for seed in range(3):
        taken = [lenient_output(KlJudge(tau, sure=1.0), seed)[1] for tau in (0, 2, 8, 1e9)]
        assert taken[0] < taken[-1]
        assert taken[-1] == pytest.approx(4, abs=0.4)


def test_the_judge_follows_its_formula() -> None:
    rng = np.random.default_rng(4)
    decided = set()
    for _ in range(1000):
        p, q = rng.dirichlet(np.full(6, 0.25)), rng.dirichlet(np.full(6, 0.4))
        q = 0.7 * p + 0.3 * q
        atom = int(rng.integers(6))
        tree = DraftTree([atom], [-1], beliefs=[Dense(q)])
        verdict = judged(KlJudge(0.2), tree, list(p), list(p))
        agree = float((p[p > 0] * np.log(p[p > 0] / q[p > 0])).sum()) < 0.2
        right = atom == p.argmax() or (p.max() <= 0.9 and agree)
        assert bool(verdict.path) == right
        decided.add((bool(right), bool(atom == p.argmax()), bool(agree)))
    assert len(decided) == 5


@pytest.mark.parametrize("w", [0.2, 0.5, 0.8])
def test_an_ensemble_takes_the_argmax_of_its_mixture(w: float) -> None:
    rng = np.random.default_rng(5)
    taken = 0
    for _ in range(500):
        p = rng.dirichlet(np.full(6, 0.4))
        atom, mass = int(rng.integers(6)), float(rng.uniform(1 / 6, 1))
        q = np.full(6, (1 - mass) / 5)
        q[atom] = mass
        tree = DraftTree([atom], [-1], beliefs=[Peaked(atom, mass)])
        verdict = judged(Ensemble(w), tree, list(p), list(p))
        best = int((w * p + (1 - w) * q).argmax())
        assert (atom if verdict.path else verdict.correction) == best
        taken += best == atom != p.argmax()
    assert 20 < taken < 480


def test_an_ensemble_takes_nothing_that_the_grammar_forbids() -> None:
    tree = DraftTree([2], [-1], beliefs=[Peaked(2, 1.0)])
    p = [0.6, 0.4, 0.0]
    assert judged(Ensemble(0.0), tree, p, p) == Verdict([], 0, 1)


def test_what_is_behind_an_accepted_draft_is_held_back() -> None:
    row = [0.1, 0.2, 0.7]
    assert judged(HeldBack(Greedy()), DraftTree.chain([2, 2]), row, row, row) == Verdict([0], 2, 2)
    assert judged(HeldBack(Greedy()), DraftTree.chain([2, 1]), row, row, row) == Verdict([0], 2, 2)
    assert judged(HeldBack(Greedy()), DraftTree.empty(), row) == Verdict([], 2, 0)


def test_divergence_is_infinite_where_the_draft_leaves_out_what_the_target_has() -> None:
    assert divergence(np.array([0.5, 0.5]), np.array([1.0, 0.0])) == np.inf
    assert divergence(np.array([1.0, 0.0]), np.array([0.5, 0.5])) == pytest.approx(np.log(2))


WAVERING = [0.26, 0.25, 0.25, 0.24]


@pytest.mark.parametrize(
    ("p", "q", "fires"),
    [
        (WAVERING, [0.24, 0.26, 0.25, 0.25], True),
        ([0.94, 0.02, 0.02, 0.02], [0.24, 0.26, 0.25, 0.25], False),  # the target is sure
        (WAVERING, [0.02, 0.94, 0.02, 0.02], False),  # the draft is sure
        ([0.3, 0.3, 0.2, 0.2], [0.2, 0.2, 0.3, 0.3], False),  # they waver between others
    ],
)
def test_entropy_aware_rejects_where_all_three_conditions_hold(
    p: list[float], q: list[float], fires: bool
) -> None:
    verifier = EntropyAware(1.2, 1.2, overlap=0.4, top=2)
    assert verifier.wavers(Dense(np.array(p)), Dense(np.array(q))) == fires


@pytest.mark.parametrize("exclude", [True, False])
def test_entropy_aware_shifts_the_law_as_its_closed_form_says(exclude: bool) -> None:
    """Fired everywhere: an accepted token is drawn anew. So from ``accepted(x) = min(p, q)`` and
    the residual, the law of what comes out can be written down."""
    p, q = np.array(WAVERING), np.array([0.1, 0.2, 0.3, 0.4])
    accepted = np.minimum(p, q)
    again = np.array([np.where(np.arange(4) == x, 0, p) for x in range(4)]) if exclude else p
    again = again / np.sum(again, axis=-1, keepdims=True) * np.ones((4, 1))
    expected = accepted @ again + np.maximum(p - q, 0)
    verifier = EntropyAware(0.0, 0.0, overlap=0.0, top=4, exclude_rejected=exclude)
    rng = np.random.default_rng(0)
    law, counts = Dense(q), np.zeros(4)
    scores = Scores(np.log(np.array([p, p])))
    for _ in range(40_000):
        tree = DraftTree([law.sample(rng)], [-1], [law])
        verdict = verifier.verify(tree, scores, rng)
        assert verdict.path == []
        counts[verdict.correction] += 1
    assert np.abs(counts / counts.sum() - expected).max() < 0.01
    assert np.abs(expected - p).sum() > 0.02, "there was no shift to see"


def test_thresholds_are_quantiles_of_what_was_seen() -> None:
    rng = np.random.default_rng(0)
    pairs = [
        (Dense(rng.dirichlet(np.ones(8))), Dense(rng.dirichlet(np.ones(8)))) for _ in range(99)
    ]
    verifier = EntropyAware.calibrated(pairs, 0.8, top=4)
    assert verifier.top == 4
    assert sum(p.entropy() > verifier.target for p, _ in pairs) == 20
    assert sum(q.entropy() > verifier.draft for _, q in pairs) == 20


@pytest.mark.parametrize("verifier", [Mixture(0.5), EntropyAware(1.0, 1.0)])
def test_chains_only_is_said(verifier: Verifier[int]) -> None:
    tree = Drawn(Markov(1), Setting(), RNG, width=2).propose([], Budget(depth=1))
    row = [0.25] * 4
    with pytest.raises(ValueError, match="chain"):
        judged(verifier, tree, row, row, row)


def test_the_weight_of_a_mixture_may_depend_on_both_laws() -> None:
    """A weight of 0 takes whatever was drafted, a weight of 1 what the target says."""
    p, q = [1.0, 0.0, 0.0, 0.0], np.array([0.0, 0.0, 1.0, 0.0])
    tree = DraftTree([2], [-1], [Dense(q)])
    seen = []

    def weight(own: Dense, drafted: Dense) -> float:
        seen.append((own.probabilities.tolist(), drafted.probabilities.tolist()))
        return 0.0

    assert judged(Mixture(weight), tree, p, p).path == [0]
    assert seen == [(p, q.tolist())]
    assert judged(Mixture(lambda own, drafted: 1.0), tree, p, p) == Verdict([], 0, 1)
    assert judged(Mixture(0.0), DraftTree.chain([2]), p, p).path == [0]
