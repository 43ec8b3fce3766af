"""How sure the layout pipeline is of the draft that docparse-mini verifies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hsd_docparse.targets.mini.dialect import SPECIAL, Dialect, Gaze
from hsd_docparse.targets.weighed import EXACT, TEXT_LAYER, WeighedDraft

if TYPE_CHECKING:
    from hsd_docparse.targets.mini.pages import PageLines

MARK = 0.9
"""Probability that a block is of the kind that the pipeline says, as in the training pages."""
ORDER = 0.9
"""Probability that a line follows the one that the pipeline says."""


def weigh(tokens: Sequence[int], lines: PageLines, dialect: Dialect) -> WeighedDraft:
    """``tokens`` as `PageLines.drafts` are written. A token of text is as sure as the least sure of
    its characters."""
    draft = WeighedDraft([], [], [])
    gaze = Gaze()
    for token in tokens:
        after = dialect.advance(gaze, token)
        if token >= dialect.vocabulary:
            sure = ORDER
        elif token < len(SPECIAL):
            sure = MARK
        else:
            # A token that ends within a character is as sure as that.
            end = max(after.character, gaze.character + 1)
            known = lines.lines[gaze.line].probabilities[gaze.character : end]
            sure = min(known, default=TEXT_LAYER)
        region = lines.page.regions[lines.owner[after.line]] if after.line >= 0 else None
        draft.tokens.append(token)
        draft.probabilities.append(sure)
        draft.exact.append(region is not None and region.kind in EXACT)
        gaze = after
    return draft
