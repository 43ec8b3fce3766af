"""All tests run with the invariants of the speculative core asserted."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from hsd_docparse.speculative import invariants


@pytest.fixture(autouse=True, scope="session")
def every_step_is_checked() -> Iterator[None]:
    with invariants.checked():
        yield


@pytest.fixture(autouse=True, scope="session")
def interrupts_arrive() -> None:
    """Shells start jobs in the background deaf to SIGINT, and commands under test inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
