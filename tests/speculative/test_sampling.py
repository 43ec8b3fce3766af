"""Temperature and truncation against transformers' own warpers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers.generation.logits_process import (
    LogitsProcessorList,
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from hsd_docparse.speculative import Dense, Point, Sampler, Scores


def warped(sampler: Sampler, logits: torch.Tensor) -> np.ndarray:
    warpers = LogitsProcessorList([TemperatureLogitsWarper(float(sampler.temperature))])
    if sampler.top_k:
        warpers.append(TopKLogitsWarper(sampler.top_k))
    if sampler.top_p < 1:
        warpers.append(TopPLogitsWarper(sampler.top_p))
    if sampler.min_p > 0:
        warpers.append(MinPLogitsWarper(sampler.min_p))
    no_ids = torch.zeros(1, 0, dtype=torch.long)
    return warpers(no_ids, logits[None])[0].softmax(-1).numpy()


@pytest.mark.parametrize("sampler", [
    Sampler(),
    Sampler(0.3),
    Sampler(1.7, top_k=5),
    Sampler(top_p=0.8),
    Sampler(min_p=0.1),
    Sampler(0.8, top_k=9, top_p=0.9, min_p=0.05),
    Sampler(top_k=1),
    Sampler(top_p=1e-9),
    Sampler(top_k=1000),
], ids=str)  # fmt: skip
def test_laws_are_those_of_transformers(sampler: Sampler) -> None:
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        logits = 3 * torch.randn(40, generator=generator, dtype=torch.float64)
        right = warped(sampler, logits)
        for own in (logits, logits.numpy()):
            law = sampler.dense(own).probabilities
            np.testing.assert_allclose(law, right, atol=1e-12)
            assert ((law > 0) == (right > 0)).all()


def test_at_temperature_zero_all_mass_is_on_the_best() -> None:
    law = Sampler(0.0).dense(np.array([0.1, 2.0, 1.9]))
    assert law.probabilities.tolist() == [0, 1, 0]
    assert Sampler(0.0).dense(torch.tensor([0.1, 2.0, 1.9])).probabilities.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "wrong", [{"temperature": -1}, {"top_k": -1}, {"top_p": 0}, {"top_p": 1.1}, {"min_p": 1.5}]
)
def test_settings_that_leave_no_law_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"(0 or more|from 0 to 1)\.$"):
        Sampler(**wrong)  # type: ignore[arg-type]


def test_masked_tokens_stay_masked() -> None:
    law = Sampler(0.5, top_p=0.9).dense(np.array([1.0, -np.inf, 0.5]))
    assert law.probabilities[1] == 0
    assert law.probabilities.sum() == pytest.approx(1)


def test_laws_that_the_target_states_are_taken_as_they_are() -> None:
    laws = [Point(1), Dense(np.array([0.5, 0.5]))]
    assert Sampler(0.1).law(Scores(laws=laws), 1) is laws[1]


def test_entropy_is_in_nats() -> None:
    assert Dense(np.full(8, 1 / 8)).entropy() == pytest.approx(np.log(8))
    assert Dense(np.array([0.0, 1.0])).entropy() == 0
