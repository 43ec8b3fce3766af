"""Options that ``docparse ui`` and ``docparse serve`` share."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Annotated

import typer

from hsd_docparse.jobs import Limits

LIMITS = Limits()

MaxMb = Annotated[
    int, typer.Option(metavar="N", min=1, help="Largest upload, in megabytes of 2^20 bytes.")
]
MaxPages = Annotated[int, typer.Option(metavar="N", min=1, help="Most pages of a document.")]
MaxWaiting = Annotated[
    int, typer.Option(metavar="N", min=1, help="Most documents that wait at a time.")
]
MaxDiskMb = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        help="Most that uploads and results take together, in megabytes of 2^20 bytes.",
    ),
]
Keep = Annotated[float, typer.Option(metavar="SECONDS", min=1, help="How long results stay.")]
Deadline = Annotated[
    float,
    typer.Option(metavar="SECONDS", min=1, help="Longest time that drafting a page may take."),
]


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens at ``host``."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
