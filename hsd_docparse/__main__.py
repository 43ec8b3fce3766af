"""``python -m hsd_docparse`` is the ``docparse`` command."""

from hsd_docparse.cli import main

main()
