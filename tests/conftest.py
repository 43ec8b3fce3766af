"""All tests run with the invariants of the speculative core asserted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hsd_docparse.speculative import invariants


@pytest.fixture(autouse=True, scope="session")
def every_step_is_checked() -> Iterator[None]:
    with invariants.checked():
        yield
