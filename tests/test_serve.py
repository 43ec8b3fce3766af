"""``docparse serve`` as a command."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from serving import until

COMMAND = [sys.executable, "-m", "hsd_docparse", "serve", "--target", "none"]


def refused(*arguments: str, **environment: str) -> tuple[int, str]:
    run = subprocess.run(
        [*COMMAND, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return run.returncode, run.stderr


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_stopped_and_leaves_nothing(
    tmp_path: Path, stop: signal.Signals
) -> None:
    log = tmp_path / "log"
    folder = tmp_path / "temporary"
    folder.mkdir()
    environment = {**os.environ, "DOCPARSE_AUTH": "me:secret", "TMPDIR": str(folder)}
    with log.open("w") as file:
        command = [*COMMAND, "--port", "0", "--max-connections", "2"]
        server = subprocess.Popen(command, env=environment, stderr=file)
    try:
        until(lambda: "running on" in log.read_text())
        url = log.read_text().split("running on ")[1].split()[0]
        assert httpx.get(f"{url}/version").status_code == 401
        assert httpx.get(f"{url}/version", auth=("me", "secret")).json()["target"] == "none"
        assert httpx.get(f"{url}/health", headers={"Host": "evil.example"}).status_code == 400
        address = ("127.0.0.1", int(url.rpartition(":")[2]))
        with socket.create_connection(address), socket.create_connection(address):
            assert httpx.get(f"{url}/health").status_code == 503
        until(lambda: httpx.get(f"{url}/health").status_code == 200)
        assert list(folder.iterdir())
        code, message = refused("--port", url.rpartition(":")[2])
        assert code == 1
        assert "address already in use" in message
        server.send_signal(stop)
        assert server.wait(20) == 0
    finally:
        server.kill()
    assert list(folder.iterdir()) == []
    assert "Traceback" not in log.read_text()


def test_a_wrong_command_is_refused() -> None:
    code, message = refused(DOCPARSE_AUTH="me")
    assert (code, message) == (2, "docparse: --auth takes USER:PASSWORD, in ASCII.\n")
    code, message = refused("--target", "/no/such/model")
    assert code == 1
    assert message.startswith("docparse: ")


def test_without_its_packages_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "uvicorn.py").write_text("raise ModuleNotFoundError('', name='uvicorn')")
    code, message = refused(PYTHONPATH=os.pathsep.join([str(tmp_path), os.getcwd()]))
    assert code == 1
    assert message == 'docparse: The service needs uvicorn: pip install "hsd-docparse[serve]"\n'


def test_beyond_this_machine_it_asks_for_a_password() -> None:
    code, message = refused("--host", "192.0.2.1")  # an address that no machine has
    assert code == 1
    assert message.startswith("docparse: anybody who can reach 192.0.2.1 may upload documents")
