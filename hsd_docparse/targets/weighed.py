"""A page's draft, with what the pipeline that made it knows of its own certainty."""

from __future__ import annotations

from dataclasses import dataclass

from hsd_docparse.document import Kind
from hsd_docparse.speculative import Resume

TEXT_LAYER = 0.999
"""Probability of a character that the file itself states."""
EXACT: frozenset[Kind] = frozenset({"table", "formula"})
"""Kinds of regions of which a nearly right text is a wrong one."""


@dataclass(frozen=True)
class WeighedDraft:
    """For each of ``tokens`` the probability, in 0..1, that it is right (0 leaves it to the
    target), and whether it stands in a region of a kind in `EXACT`. ``resume`` knows where the
    draft goes on, if anything does."""

    tokens: list[int]
    probabilities: list[float]
    exact: list[bool]
    resume: Resume | None = None
