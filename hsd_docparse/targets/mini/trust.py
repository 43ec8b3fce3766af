"""How sure the layout pipeline is of the draft that docparse-mini verifies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hsd_docparse.targets.mini.dialect import (
    CAP,
    EOS,
    FN,
    H1,
    H2,
    H3,
    JOIN,
    LI,
    SPECIAL,
    Dialect,
    Gaze,
    P,
)
from hsd_docparse.targets.mini.places import Places
from hsd_docparse.targets.weighed import EXACT, TEXT_LAYER, WeighedDraft

if TYPE_CHECKING:
    from hsd_docparse.draft.recognizer import Reading
    from hsd_docparse.targets.mini.pages import PageLines


MARKS: Mapping[int, float] = {
    P: 0.75, H1: 0.69, H2: 0.77, H3: 0.44, LI: 0.98, CAP: 0.99, FN: 0.99,
}  # fmt: skip
"""Probabilities, in 0..1, that a block is of the kind that the pipeline says, and begins there:
what they were on 283 printed pages (`models.draft_accuracy`)."""
OTHER_MARKS = 0.76
"""The same of all kinds, where one was too rare."""


@dataclass(frozen=True)
class Trust:
    """Probabilities, in 0..1, that a line goes on with its block where the pipeline says so, and
    that a line follows the one it says (``order``), or none: what they were on 703 printed pages
    (`models.draft_accuracy`)."""

    goes_on: float = 0.95
    order: float = 0.98


def certainty(
    tokens: Sequence[int], readings: Sequence[Reading], dialect: Dialect, trust: Trust
) -> list[float]:
    """Of each of ``tokens``, as `PageLines.drafts` are written, the probability that it is right. A
    token of text is as sure as the least sure of its characters."""
    result: list[float] = []
    gaze = Gaze()
    before = -1
    for token in tokens:
        after = dialect.advance(gaze, token)
        if token >= dialect.vocabulary or token in (JOIN, EOS):
            sure = trust.order
        elif token < len(SPECIAL):
            sure = MARKS.get(token, OTHER_MARKS)
        else:
            # A token that ends within a character is as sure as that.
            end = max(after.character, gaze.character + 1)
            known = readings[gaze.line].probabilities[gaze.character : end]
            sure = min(known, default=TEXT_LAYER)
            if before >= dialect.vocabulary:
                sure *= trust.goes_on
        result.append(sure)
        gaze, before = after, token
    return result


def weigh(tokens: Sequence[int], lines: PageLines, dialect: Dialect) -> WeighedDraft:
    """``tokens`` as `PageLines.drafts` are written, with how sure they are."""
    exact: list[bool] = []
    kind = None
    for token in tokens:
        if token >= dialect.vocabulary:
            kind = lines.page.regions[lines.owner[token - dialect.vocabulary]].kind
        exact.append(kind in EXACT)
    sure = certainty(tokens, lines.readings, dialect, Trust())
    return WeighedDraft(list(tokens), sure, exact, Places(tokens, dialect))
