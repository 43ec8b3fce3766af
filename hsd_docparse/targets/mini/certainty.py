"""How sure the layout pipeline is of the draft that docparse-mini verifies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hsd_docparse.targets.mini.dialect import SPECIAL, Dialect, Gaze
from hsd_docparse.targets.mini.places import Places
from hsd_docparse.targets.weighed import EXACT, TEXT_LAYER, WeighedDraft

if TYPE_CHECKING:
    from hsd_docparse.draft.recognizer import Reading
    from hsd_docparse.targets.mini.pages import PageLines


def certainty(tokens: Sequence[int], readings: Sequence[Reading], dialect: Dialect) -> list[float]:
    """The probability that it is right of each of ``tokens``, as `PageLines.drafts` are written: of
    a token of text that of its least sure character.

    Where structure is decided, 0: at pointers and marks, at the end, and right behind a pointer,
    where a mark might stand. The target knows order, blocks and headings better than the pipeline,
    and a say of the pipeline's only made them worse (`models.held_pages`).
    """
    result: list[float] = []
    gaze = Gaze()
    before = -1
    for token in tokens:
        after = dialect.advance(gaze, token)
        sure = 0.0
        if len(SPECIAL) <= token < dialect.vocabulary > before:
            # A token that ends within a character is as sure as that.
            end = max(after.character, gaze.character + 1)
            known = readings[gaze.line].probabilities[gaze.character : end]
            sure = min(known, default=TEXT_LAYER)
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
    sure = certainty(tokens, lines.readings, dialect)
    return WeighedDraft(list(tokens), sure, exact, Places(tokens, dialect))
