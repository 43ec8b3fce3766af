"""The ``docparse`` command: ``docparse FILE``, ``docparse ui`` and ``docparse serve``."""

from __future__ import annotations

import sys
from importlib import import_module

COMMANDS = ("ui", "serve")
"""Commands beside conversion; a file named like one of them is ``./ui``."""


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in COMMANDS:
        command = import_module(f"hsd_docparse.cli.{name}").app
        command(sys.argv[2:], prog_name=f"docparse {name}")
    else:
        from hsd_docparse.cli.convert import app

        app()
