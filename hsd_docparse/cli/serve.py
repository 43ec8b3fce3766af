"""``docparse serve``: the HTTP service."""

from __future__ import annotations

import signal
import sys
import warnings
from typing import Annotated, Optional

import typer

from hsd_docparse.cli.command import command, refuse
from hsd_docparse.cli.server import (
    LIMITS,
    Deadline,
    Keep,
    MaxDiskMb,
    MaxMb,
    MaxPages,
    MaxWaiting,
    is_loopback,
)
from hsd_docparse.cli.tally import FILE_FAILED
from hsd_docparse.convert import DEADLINE, Mode, Settings, kept_target
from hsd_docparse.errors import DocparseError
from hsd_docparse.jobs import Jobs, Limits

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""Names of this machine. Any other that leads to it was made up by a page of the web, to have its
visitor's browser ask this server."""
CLOSING = 5
"""Seconds that answers may take to be sent once the server has been stopped."""

app = command()


@app.command(epilog="Exit codes: 0, stopped; 1, it could not be started; 2, the command is wrong.")
def serve(
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; 0.0.0.0 is everywhere.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535)] = 8000,
    auth: Annotated[
        Optional[str],  # noqa: UP045  (typer evaluates it, on Python 3.10 too)
        typer.Option(
            metavar="USER:PASSWORD",
            envvar="DOCPARSE_AUTH",
            show_envvar=False,
            help="Who may use it. Better given in DOCPARSE_AUTH: others see what commands say.",
        ),
    ] = None,
    target: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What verifies the draft: mini, none, a Hugging Face hub id or a model folder. "
            "Clients may choose between it and none.",
        ),
    ] = "mini",
    mode: Annotated[
        Mode, typer.Option(help="What is done for clients that do not say.")
    ] = "lossless",
    max_mb: MaxMb = LIMITS.bytes >> 20,
    max_pages: MaxPages = LIMITS.pages,
    max_waiting: MaxWaiting = LIMITS.waiting,
    max_disk_mb: MaxDiskMb = LIMITS.disk >> 20,
    max_connections: Annotated[
        int, typer.Option(metavar="N", min=1, help="Most clients that are served at a time.")
    ] = 200,
    keep: Keep = LIMITS.kept,
    deadline: Deadline = DEADLINE,
) -> None:
    """Convert documents for other programs, over HTTP; docs/service.md is the manual."""
    login = _login(auth) if auth is not None else None
    try:
        import uvicorn

        from hsd_docparse.service import create_app
    except ImportError as error:
        refuse(
            f'The service needs {error.name}: pip install "hsd-docparse[serve]"', code=FILE_FAILED
        )
    warnings.simplefilter("ignore")  # libraries warn their callers, not who runs a command
    defaults = Settings(target=target, mode=mode, deadline=deadline)
    try:
        if target != "none":
            kept_target(target)  # a wrong one is told now, and not to the first client
    except DocparseError as error:
        refuse(str(error), code=FILE_FAILED)
    local = is_loopback(host)
    if not local and login is None:
        print(
            f"docparse: anybody who can reach {host} may upload documents; set DOCPARSE_AUTH.",
            file=sys.stderr,
        )
    limits = Limits(max_mb << 20, max_pages, max_waiting, kept=keep, disk=max_disk_mb << 20)
    # Both end the block below, which removes the folder.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with Jobs(limits) as jobs:
            service = create_app(jobs, defaults, auth=login, hosts=LOOPBACK if local else None)
            uvicorn.run(
                service,
                host=host,
                port=port,
                server_header=False,
                timeout_graceful_shutdown=CLOSING,
                limit_concurrency=max_connections + 1,  # from that many on it refuses
            )
    except KeyboardInterrupt:
        pass
    except SystemExit:  # uvicorn has said why it cannot listen there
        raise typer.Exit(FILE_FAILED) from None


def _login(auth: str) -> tuple[str, str]:
    user, _, password = auth.partition(":")
    if not (user and password and auth.isascii()):
        refuse("--auth takes USER:PASSWORD, in ASCII.")
    return user, password
