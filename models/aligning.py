"""What docparse-mini should write of a page whose every word is known: the lines that the layout
pipeline found get the words that stand in them, the marks of their blocks and the right order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from rapidfuzz.distance import Levenshtein

from hsd_docparse.document import Box
from hsd_docparse.targets.mini.dialect import TABLE, TD, TR, P
from hsd_docparse.targets.mini.pages import SPELLING
from models.layouts import LOST
from models.layouts import MARKS as RUNNING
from models.printing import Block, Word

MARKS = RUNNING | {"figure": P}
"""Marks by kind of block. What stands in a figure is read as the pipeline drafts it: as text."""
WRONG = 0.3
"""Share of a line's characters from which what was read there is another text."""


@dataclass
class Truth:
    """A line of the page: ``rank`` is its place in the output, -1 where it has none; ``opening``
    the mark that it has behind a line other than the one that goes before it on the page.

    ``text`` is as printed; ``hyphen``: it ends with one that is the line end's alone. ``clear``:
    what the eye reads there is much like the text, which else is not learned."""

    rank: int = -1
    mark: int = 0
    opening: int = 0
    text: str = ""
    hyphen: bool = False
    glued: bool = False
    clear: bool = True


def line_of_words(words: Sequence[Word], boxes: Sequence[Box]) -> list[int]:
    """For every word the line, of those whose boxes hold its centre, that is most level with it;
    -1 where there is none. Both are in the same units."""
    if not boxes:
        return [-1] * len(words)
    x0, y0, x1, y1 = np.asarray(boxes, np.float64).T
    found = []
    for word in words:
        x, y = word.box.center
        inside = (x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)
        away = np.where(inside, np.abs((y0 + y1) / 2 - y), np.inf)
        best = int(away.argmin())
        found.append(best if inside[best] else -1)
    return found


def align(
    words: Sequence[Word], blocks: Sequence[Block], boxes: Sequence[Box], readings: Sequence[str]
) -> list[Truth]:
    """The truth about the lines with these ``boxes``, of which the eye reads ``readings``."""
    held: list[list[int]] = [[] for _ in boxes]
    for index, line in enumerate(line_of_words(words, boxes)):
        if line >= 0:
            held[line].append(index)
    spoken: dict[int, list[int]] = {}
    for line, own in enumerate(held):
        said = [i for i in own if blocks[words[i].block].kind != "furniture"]
        # Else it is a running header that has a word of text in its box, or holds nothing.
        if 2 * _letters(said, words) > _letters(own, words):
            spoken[line] = _from_left(said, words)
    truths = [Truth() for _ in boxes]
    last = -2
    for rank, line in enumerate(sorted(spoken, key=lambda line: min(spoken[line]))):
        own, truth = spoken[line], truths[line]
        first, end = own[0], own[-1]
        before = words[last].block if last >= 0 else None
        opened = blocks[before] if before is not None else Block("")
        if words[first].block != before:
            truth.mark = _mark(blocks[words[first].block], opened)
        truth.opening = _mark(blocks[words[first].block], Block(""))
        truth.rank = rank
        truth.glued = words[first].glued and first == last + 1 and words[first].block == before
        truth.hyphen = words[end].hyphen
        truth.text = (_text(own, words) + "-" * truth.hyphen).translate(SPELLING)
        truth.clear = is_clear(truth.text, readings[line])
        last = end
    return truths


def is_clear(text: str, reading: str) -> bool:
    """Whether a reading is of this text, and not of so little of it that a reader would guess."""
    lost = len(reading) < LOST * len(text) - 1
    return not lost and Levenshtein.normalized_distance(text, reading) <= WRONG


def _mark(block: Block, before: Block) -> int:
    """Of a line that begins ``block`` after a line of another one."""
    if block.kind != "td":
        return MARKS[block.kind]
    if block.table != before.table:
        return TABLE
    return TD if block.row == before.row else TR


def _letters(own: Sequence[int], words: Sequence[Word]) -> int:
    return sum(len(words[i].text) for i in own)


def _from_left(said: Sequence[int], words: Sequence[Word]) -> list[int]:
    """Blocks from left to right, and the words of each in its own order."""
    left = {words[i].block: words[i].box.x0 for i in reversed(said)}
    return sorted(said, key=lambda i: (left[words[i].block], i))


def _text(own: Sequence[int], words: Sequence[Word]) -> str:
    text = words[own[0]].text
    for before, index in pairwise(own):
        goes_on = before == index - 1 and words[index].glued
        text += words[index].text if goes_on else f" {words[index].text}"
    return text
