"""Sampling emits every sequence exactly as often as the target would on its own."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from distribution import CASES, FAULTS, FOUND_BY, TARGET, chi_square, sample
from markov import SEQUENCES, Setting

from hsd_docparse.speculative import invariants

PIECES = 4
CONTROL = 12_000
"""Sequences that show a bias as large as those of the faults beyond doubt."""


@pytest.fixture(scope="module")
def workers() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        yield pool


def tally(
    workers: ProcessPoolExecutor, name: str, count: int, fault: str | None = None
) -> tuple[Counter[tuple[int, ...]], float]:
    """What was seen, and the share of steps in which a drafted atom was rejected."""
    jobs = [workers.submit(sample, name, i, count // PIECES, fault) for i in range(PIECES)]
    pieces = [job.result() for job in jobs]
    seen = sum((piece[0] for piece in pieces), Counter[tuple[int, ...]]())
    return seen, sum(piece[2] for piece in pieces) / sum(piece[1] for piece in pieces)


@pytest.mark.parametrize("name", CASES)
def test_sequences_have_the_exact_law(name: str, workers: ProcessPoolExecutor) -> None:
    case = CASES[name]
    seen, rejected = tally(workers, name, case.count)
    assert sum(seen.values()) == case.count
    assert rejected > 0.3, "too few steps went through the residual"
    assert chi_square(seen, case.exact()) > 0.01


@pytest.mark.parametrize(
    ("fault", "name"), [(fault, name) for fault, names in FOUND_BY.items() for name in names]
)
def test_a_biased_control_fails(fault: str, name: str, workers: ProcessPoolExecutor) -> None:
    seen, _ = tally(workers, name, CONTROL, fault)
    assert chi_square(seen, CASES[name].exact()) < 1e-6


def test_every_case_has_a_control_and_every_fault_a_case() -> None:
    assert {name for names in FOUND_BY.values() for name in names} == set(CASES)
    assert set(FOUND_BY) == set(FAULTS)


def test_the_mixture_is_not_the_target() -> None:
    seen, _, _ = sample("mixture", 0, 5_000)
    assert chi_square(seen, Setting().sequences(TARGET)) < 1e-6


@pytest.mark.parametrize("name", CASES)
def test_every_step_keeps_the_invariants(name: str) -> None:
    with invariants.checked():
        sample(name, 5, 150)


def test_settings_make_different_laws() -> None:
    laws = [case.exact() for case in CASES.values()]
    assert all(abs(law.sum() - 1) < 1e-12 for law in laws)
    assert len({tuple(np.round(law, 9)) for law in laws}) == 4
    assert min((law > 0).sum() for law in laws) < len(SEQUENCES), "nothing was truncated"
