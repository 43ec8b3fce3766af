"""How sure one may be of a text: the expected share of its words that are right.

A word is as sure as its least probable character. What that says of the chance that the word is
right was fitted to pages of our own making whose every word is known, and is measured on others
(`python -m benchmarks.confidence`, docs/confidence.md).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from hsd_docparse.document import Line, Region

CERTAINTY = [
    0.2533, 0.3492, 0.4583, 0.5478, 0.654, 0.7542, 0.8559, 0.9266, 0.9665, 0.9891, 0.9977, 0.9995,
    0.9999,
]  # fmt: skip
RIGHT = [
    0.097, 0.191, 0.331, 0.422, 0.504, 0.612, 0.744, 0.819, 0.879, 0.952, 0.965, 0.972, 0.992,
]  # fmt: skip
"""Chance that a word is right, by the probability of its least probable character; straight lines
between and none beyond. From `python -m benchmarks.confidence --fit`: 6,840 words of 37 pages."""
TEXT_LAYER = 0.9991
"""The same of a word of a text layer, likewise."""

_IDEOGRAPH = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
WORD = re.compile(rf"[{_IDEOGRAPH}]|[^\s{_IDEOGRAPH}]+")
"""A Chinese, Japanese or Korean character counts as a word."""


class Word(NamedTuple):
    """``certainty`` is 0..1; None where nobody had to guess."""

    text: str
    certainty: float | None

    @property
    def chance(self) -> float:
        """That it is right, 0..1."""
        if self.certainty is not None:
            return float(np.interp(self.certainty, CERTAINTY, RIGHT))
        return 0.0 if any(map(is_meaningless, self.text)) else TEXT_LAYER


def words_of(line: Line) -> list[Word]:
    known = line.probabilities
    found = WORD.finditer(line.text)
    if not known:
        return [Word(word[0], None) for word in found]
    if len(known) != len(line.text):
        # A target read something else there than the characters that these are of.
        return [Word(word[0], min(known)) for word in found]
    return [Word(word[0], min(known[word.start() : word.end()])) for word in found]


def of_lines(lines: Iterable[Line]) -> float:
    """Expected share of the words of ``lines`` that are right, 1 where there are none. It says
    nothing of words that nobody found."""
    chances = [word.chance for line in lines for word in words_of(line)]
    return sum(chances) / len(chances) if chances else 1.0


def of_regions(regions: Sequence[Region]) -> float:
    """The same over all words of ``regions``, from their confidence."""
    counts = [sum(len(words_of(line)) for line in region.lines) for region in regions]
    total = sum(counts)
    known = zip(regions, counts, strict=True)
    return sum(region.confidence * count for region, count in known) / total if total else 1.0


def is_meaningless(char: str) -> bool:
    """Replacement, private-use, unassigned or control character."""
    return char == "\ufffd" or (
        # Symbol fonts keep their codes at U+F020..U+F0FF: bullets, arrows, ticks.
        unicodedata.category(char) in ("Cc", "Cn", "Co", "Cs") and not "\uf020" <= char <= "\uf0ff"
    )
