"""The service keeps to the schema that it publishes, whatever is sent to it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fake_parts import fakes
from serving import serving

from hsd_docparse.jobs import Jobs, Limits
from hsd_docparse.service import create_app

__all__ = ["fakes"]


@pytest.mark.parametrize("auth", [None, ("me", "secret")])
def test_every_answer_is_as_documented(
    fakes: None, tmp_path: Path, auth: tuple[str, str] | None
) -> None:
    command = [sys.executable, "-m", "schemathesis.cli", "run", "--seed=1", "--max-examples=20"]
    login = ["--auth", ":".join(auth)] if auth else []
    with Jobs(Limits(waiting=10_000)) as jobs, serving(create_app(jobs, auth=auth)) as served:
        run = subprocess.run(
            [*command, *login, f"{served.url}/openapi.json"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert run.returncode == 0, run.stdout
    assert "Stateful" in run.stdout
