"""docparse-mini: the target that is always there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hsd_docparse.targets.mini.target import MiniTarget


def open_mini(folder: str | None = None) -> MiniTarget:
    """Open the weights that ship with docparse, or those in ``folder``. Raises `TargetError`."""
    from importlib.resources import files
    from pathlib import Path

    from transformers import AutoModelForImageTextToText

    from hsd_docparse.errors import TargetError
    from hsd_docparse.targets.mini.dialect import Dialect
    from hsd_docparse.targets.mini.modeling import DocparseMiniForConditionalGeneration
    from hsd_docparse.targets.mini.target import MiniTarget

    path = Path(folder) if folder else Path(str(files("hsd_docparse.models"))) / "docparse-mini"
    try:
        model = AutoModelForImageTextToText.from_pretrained(path, dtype="float32")
    except (OSError, ValueError) as error:
        raise TargetError(f"The weights of docparse-mini are not in {path}: {error}") from error
    assert isinstance(model, DocparseMiniForConditionalGeneration)
    return MiniTarget(model, Dialect.load(path))
