"""``docparse ui``: the page in the browser."""

from __future__ import annotations

import signal
import sys
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
from hsd_docparse.convert import DEADLINE, Mode
from hsd_docparse.jobs import Limits

app = command()


@app.command()
def ui(
    host: Annotated[
        str, typer.Option(metavar="NAME", help="Where to listen; 0.0.0.0 for every network.")
    ] = "127.0.0.1",
    port: Annotated[
        Optional[int],  # noqa: UP045  (typer evaluates it, on Python 3.10 too)
        typer.Option(metavar="N", help="A free one from 7860 on, if not given."),
    ] = None,
    auth: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="USER:PASSWORD",
            envvar="DOCPARSE_AUTH",
            help="Asks visitors for it. Others see it in the list of processes, unless it "
            "comes by the environment.",
        ),
    ] = None,
    target: Annotated[
        list[str],
        typer.Option(metavar="NAME", help="What visitors may have drafts verified with; repeat."),
    ] = ["mini"],  # noqa: B006
    mode: Annotated[Mode, typer.Option(help="Which mode is chosen at first.")] = "lossless",
    max_mb: MaxMb = LIMITS.bytes >> 20,
    max_pages: MaxPages = LIMITS.pages,
    max_waiting: MaxWaiting = LIMITS.waiting,
    max_disk_mb: MaxDiskMb = LIMITS.disk >> 20,
    keep: Keep = LIMITS.kept,
    deadline: Deadline = DEADLINE,
    browser: Annotated[bool, typer.Option("--browser", help="Open it in a browser.")] = False,
) -> None:
    """Upload PDFs, scans and photos in the browser, and see what becomes of them."""
    user, colon, password = (auth or "").partition(":")
    if auth and not (user and colon and password):
        refuse("--auth is USER:PASSWORD.")
    try:
        from hsd_docparse.app import launch
    except ImportError:
        refuse('The page needs gradio: pip install "hsd-docparse[ui]"', FILE_FAILED)
    if not is_loopback(host) and not auth:
        print("docparse: everyone who reaches this machine can use the page; --auth asks for a "
              "password.", file=sys.stderr)  # fmt: skip
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # both end it cleanly
    try:
        launch(
            host=host,
            port=port,
            auth=(user, password) if auth else None,
            limits=Limits(max_mb << 20, max_pages, max_waiting, kept=keep, disk=max_disk_mb << 20),
            browser=browser,
            targets=target,
            mode=mode,
            deadline=deadline,
        )
    except KeyboardInterrupt:
        return
    except OSError as error:
        refuse(f"The page cannot be served: {error}", FILE_FAILED)
