from __future__ import annotations

import pytest

from hsd_docparse.wording import counted


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 lines"), (1, "1 line"), (2, "2 lines"), (12_000, "12,000 lines")]
)
def test_one_is_singular(number: int, said: str) -> None:
    assert counted(number, "line") == said
