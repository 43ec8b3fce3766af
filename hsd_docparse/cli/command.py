"""How every command looks, and how it ends when it was used wrongly."""

from __future__ import annotations

import sys
from typing import NoReturn

import typer

from hsd_docparse.cli.tally import USAGE


def command() -> typer.Typer:
    return typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def refuse(message: str, code: int = USAGE) -> NoReturn:
    print(f"docparse: {message}", file=sys.stderr)
    raise typer.Exit(code)
