"""``docparse ui`` as a command: it serves, ends cleanly, and says what is wrong in a sentence."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[2]


def ui(*arguments: str, temporary: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "hsd_docparse", "ui", *arguments],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary), "GRADIO_TEMP_DIR": str(temporary / "gradio")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_it_serves_on_this_machine_until_interrupted(tmp_path: Path) -> None:
    port = free_port()
    process = ui("--port", str(port), temporary=tmp_path)
    assert process.stdout
    try:
        assert f"http://127.0.0.1:{port}" in process.stdout.readline()
        assert "docparse" in httpx.get(f"http://127.0.0.1:{port}/").text
        assert list(tmp_path.glob("docparse-*"))
    finally:
        process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    assert (process.returncode, out, errors) == (0, "", "")
    assert not list(tmp_path.glob("docparse-*"))


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        process = ui("--port", str(taken.getsockname()[1]), temporary=tmp_path)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert re.fullmatch(r"docparse: The page cannot be served: .+\n", errors)


def test_half_a_login_is_refused(tmp_path: Path) -> None:
    process = ui("--auth", "me", temporary=tmp_path)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (2, "docparse: --auth is USER:PASSWORD.\n")
