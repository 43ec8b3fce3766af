"""How much is proposed, after what has been accepted and what it cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import toy

from hsd_docparse.speculative import (
    AlignedText,
    Budget,
    Controller,
    CostModel,
    Dense,
    Doubling,
    DraftTree,
    EntropyStop,
    Fixed,
    MaxLength,
    ModelDrafter,
    Outcome,
    Point,
    RejectionThreshold,
    Request,
    Scores,
    Seconds,
    Verdict,
    run,
    step,
)

LENGTH = 60


def outcome(tree: DraftTree[int], accepted: int, seconds: Seconds | None = None) -> Outcome[int]:
    """A chain of which the first ``accepted`` atoms were right."""
    tested = min(accepted + 1, len(tree))
    verdict = Verdict(list(range(accepted)), 0, tested)
    return Outcome(tree, verdict, [*tree.atoms[:accepted], 0], Scores(), seconds or Seconds())


def law(*weights: float) -> Dense:
    return Dense(np.array(weights) / sum(weights))


def test_chains_double_while_the_draft_is_right_and_shrink_where_it_is_not() -> None:
    (prompt,) = toy.prompts([5], seed=3)
    truth = toy.greedy(prompt, 200)
    draft = [*truth[:100], *([truth[100] + 1] * 60)]
    target = toy.ToyTarget()
    (state,) = target.open([prompt])
    controller = Doubling(Budget(chain=8, nodes=8, depth=8), least=4, most=32)
    request = Request(state, AlignedText([draft]), [MaxLength(120)], controller=controller)
    lengths = []
    while request.finished is None:
        lengths.append(controller.plan().chain)
        step(target, [request])
    assert lengths[:4] == [8, 16, 32, 32]
    assert lengths[-1] <= 8
    assert request.output == truth[:120]


CONTROLLERS: dict[str, Controller[int]] = {
    "fixed": Fixed(Budget(chain=5)),
    "doubling": Doubling(Budget(chain=4), least=2, most=16),
    "entropy stop": EntropyStop(Budget(chain=8)),
    "rejection threshold": RejectionThreshold(Budget(chain=8)),
    "cost model": CostModel(),
}


@pytest.mark.parametrize("name", CONTROLLERS)
def test_no_controller_changes_the_output(name: str) -> None:
    (prompt,) = toy.prompts([6], seed=11)
    for model in (toy.MODEL, toy.Transformer(5)):
        target = toy.ToyTarget()
        (state,) = target.open([prompt])
        drafter = ModelDrafter(toy.ToyTarget(model), prompt, beliefs=True)
        request = Request(state, drafter, [MaxLength(LENGTH)], controller=CONTROLLERS[name])
        run(target, [request])
        assert request.output == toy.greedy(prompt, LENGTH)


# --- The entropy stop ---


def test_the_entropy_stop_follows_its_bound() -> None:
    controller = EntropyStop(scale=0.2, threshold=0.4)
    enough = controller.plan().enough
    assert enough is not None
    sure, unsure = law(98, 1, 1), law(*[1] * 30)
    assert not enough([0], [sure])
    assert enough([0], [unsure])
    assert enough([0, 0], [sure, unsure])
    assert not enough([0, 0], [unsure, sure])
    for atom in range(3):
        assert enough([atom], [sure]) == enough([0], [sure]), "it must not depend on the atom"
    edge = (0.6**2) / 0.2
    assert 1 - np.sqrt(0.2 * edge) == pytest.approx(0.4)
    assert unsure.entropy() > edge > sure.entropy()
    assert not enough([0], [None])
    assert not enough([0], [Point(0)])


def test_the_entropy_stop_drafts_longer_where_more_is_accepted() -> None:
    chain = DraftTree.chain([1, 2, 3, 4])
    good, bad = EntropyStop(), EntropyStop()
    for _ in range(10):
        good.update(outcome(chain, 4))
        bad.update(outcome(chain, 0))
    assert good.threshold < 0.4 < bad.threshold
    for _ in range(200):
        good.update(outcome(chain, 4))
        bad.update(outcome(chain, 0))
    assert (good.threshold, bad.threshold) == (0, 1)
    before = EntropyStop()
    before.update(outcome(DraftTree.empty(), 0))
    assert before.threshold == 0.4, "a step without a draft says nothing"


# --- The threshold on the chance of a rejection ---


def test_a_draft_ends_when_a_rejection_has_become_likely() -> None:
    controller = RejectionThreshold(Budget(chain=20), threshold=0.7)
    for _ in range(2):
        enough = controller.plan().enough
        assert enough is not None
        # 0.8 each before anything was seen: 1 - 0.8 ** 6 = 0.74
        assert [enough([0] * n, [None] * n) for n in range(1, 7)] == [False] * 5 + [True]


def test_chances_are_learned_by_the_drafts_own_probability() -> None:
    controller = RejectionThreshold()
    likely, unlikely = law(95, 5), law(5, 95)
    for i in range(200):
        tree = DraftTree([0, 0], range(-1, 1), [likely, unlikely])
        controller.update(outcome(tree, 2 if i % 4 == 0 else 1))
    assert controller.chance(0, likely) == pytest.approx(1, abs=0.01)
    assert controller.chance(0, unlikely) == pytest.approx(0.25, abs=0.02)
    assert controller.chance(1, unlikely) == controller.chance(0, likely), "one kind, one chance"
    assert controller.chance(0, None) == 0.8


def test_beliefs_are_read_where_drafts_are_greedy() -> None:
    controller = RejectionThreshold()
    for _ in range(50):
        controller.update(outcome(DraftTree([0], [-1], beliefs=[law(55, 45)]), 0))
    assert controller.chance(0, law(55, 45)) < 0.1


# --- The cost model ---


def simulated(
    costs: CostModel, acceptance: float, seconds: Sequence[float], steps: int, seed: int = 0
) -> list[int]:
    """Chain lengths chosen where a call costs ``a + b * inputs`` and a drafted atom ``c``."""
    rng = np.random.default_rng(seed)
    first, each, drafting = seconds
    lengths = []
    for _ in range(steps):
        length = costs.plan().chain
        lengths.append(length)
        accepted = 0
        while accepted < length and rng.random() < acceptance:
            accepted += 1
        spent = Seconds(drafting * length, (first + each * (1 + length)) * rng.uniform(0.9, 1.1))
        costs.update(outcome(DraftTree.chain([0] * length), accepted, spent))
    return lengths


def speed(lengths: Sequence[int], acceptance: float, seconds: Sequence[float]) -> float:
    """Expected atoms a second of chains of ``lengths``."""
    atoms = sum(acceptance**i for length in lengths for i in range(length + 1))
    first, each, drafting = seconds
    return atoms / sum(first + each * (1 + length) + drafting * length for length in lengths)


@pytest.mark.parametrize("acceptance", [0.1, 0.5, 0.8, 0.95])
@pytest.mark.parametrize(
    "seconds", [(1, 0.01, 0), (1, 0.1, 0.05), (0.1, 1, 0), (1, 0.02, 0.8)], ids=str
)
def test_the_cost_model_is_nearly_as_fast_as_the_best_length(
    acceptance: float, seconds: tuple[float, float, float]
) -> None:
    costs = CostModel()
    lengths = simulated(costs, acceptance, seconds, 300)[150:]
    speeds = {length: speed([length], acceptance, seconds) for length in costs.lengths}
    assert speed(lengths, acceptance, seconds) > 0.9 * max(speeds.values())
    assert min(speeds.values()) < 0.8 * max(speeds.values()), "any length would do"


def test_speculation_goes_off_where_it_does_not_pay_and_comes_back() -> None:
    """A draft of which nothing is accepted, then one of which nearly everything is."""
    costs = CostModel()
    seconds = (1.0, 0.2, 0.1)
    lengths = simulated(costs, 0.02, seconds, 200)
    assert lengths[100:].count(0) > 80
    assert any(lengths[100:]), "it never looked again"
    again = simulated(costs, 0.95, seconds, 600, seed=1)
    assert min(again[-20:]) >= 2


def test_no_chain_is_longer_than_the_budget() -> None:
    costs = CostModel(Budget(chain=5))
    lengths = simulated(costs, 0.99, (1, 0.01, 0), 100)
    assert max(lengths) == 5


def test_predicted_speed_is_measured_speed() -> None:
    costs = CostModel(memory=0.995)
    seconds = (1.0, 0.1, 0.05)
    simulated(costs, 0.8, seconds, 400)
    length = costs.best
    assert costs.speed(length) == pytest.approx(speed([length], 0.8, seconds), rel=0.1)
