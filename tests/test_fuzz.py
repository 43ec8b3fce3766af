"""A few damaged files of each kind; ``python -m benchmarks.fuzz`` tries hundreds."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.fuzz import cases, outcome

SAMPLES = Path(__file__).parents[1] / "samples"
FILES = [SAMPLES / name for name in ("letter.pdf", "invoice.pdf", "receipt.jpg")]


@pytest.mark.parametrize(
    ("name", "data"), [pytest.param(*case, id=case[0]) for case in cases(FILES, 18, seed=1)]
)
def test_a_damaged_file_is_converted_or_refused(name: str, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert outcome(path) in ("converted", "converted, but to no PDF", "page lost", "refused")
