"""``report.json``: what became of a folder, for programs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hsd_docparse import __version__
from hsd_docparse.state import State
from hsd_docparse.tree import Look


def write_report(
    path: Path,
    state: State,
    settings: Mapping[str, Any],
    files: Callable[[str], list[Path]],
    look: Look,
) -> None:
    """Write the report to ``path``, which is there whole or not at all. ``files`` gives the outputs
    of a name."""
    documents = []
    for row in state.documents():
        failed = state.failed_pages(row["path"])
        outputs = files(row["name"]) if row["state"] == "done" else []
        documents.append(
            {
                "path": row["path"],
                "state": row["state"],
                "outputs": [file.relative_to(path.parent).as_posix() for file in outputs],
                "pages": row["pages"],
                "failed_pages": [{"page": number, "error": error} for number, error in failed],
                "warnings": state.warnings(row["path"]),
                "seconds": round(row["seconds"], 3),
                "attempts": row["attempts"],
                "error": row["error"],
            }
        )
    totals = state.counts()._asdict() | {
        "documents": len(documents),
        "seconds": round(sum(document["seconds"] for document in documents), 3),
        "skipped": look.skipped,
    }
    report = {
        "docparse": __version__,
        "settings": settings,
        "totals": totals,
        "unreadable": look.unreadable,
        "documents": documents,
    }
    part = path.with_name(f"{path.name}.part")
    with state.alone():
        try:
            part.write_text(
                json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
            )
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
