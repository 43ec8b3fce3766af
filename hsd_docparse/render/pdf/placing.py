"""Where on the page the words of a text stand, found by aligning it with the lines it was read
from: a target may have corrected, joined or ordered them anew."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

from hsd_docparse.document import Box, Line
from hsd_docparse.draft.joining import is_right_to_left

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese and Japanese
)
_TOKEN = re.compile(rf"[{_UNSPACED}]+|[^\s{_UNSPACED}]+")
_VERTICAL = 1.5
"""Height over width from which a line that is longer than high runs down the page, or up."""
_HEIGHT = 1.2
"""Height of a line, descenders and all, over the font size."""
_TALL = 1.6
"""Height of a line over the width of an em up to which poppler sees that its words are apart."""
_GAP = 0.28
"""Width of a space over the font size."""


class Word(NamedTuple):
    """A word, or a piece of one that goes on in the next line: ``box`` is its part of the line
    ``line`` (a number), ``gap`` the width of the space behind it, in reading direction, also at the
    end of a line, where not every extractor sees that another begins; 0 where none belongs.
    ``span`` is the number of the text that it is from. ``right_to_left`` is the line's."""

    text: str
    span: int
    line: int
    box: Box
    gap: float
    vertical: bool
    right_to_left: bool


class _Token(NamedTuple):
    text: str
    span: int
    spaced: bool
    """Whether a space follows, or the end of its text."""


class _Item(NamedTuple):
    """What stands in a line from ``start`` on, and whether a space follows; without a token it
    belongs to a word elsewhere."""

    start: int
    text: str
    spaced: bool
    token: int | None = None


def place_words(texts: Sequence[str], lines: Sequence[Line], *, ordered: bool) -> list[Word]:
    """The words of ``texts``, in their order, where ``lines`` show them. Unless ``ordered``, the
    lines may follow each other otherwise than the texts do."""
    lines = [line for line in lines if line.text.strip()]
    tokens = [token for span, text in enumerate(texts) for token in _tokens(text, span)]
    if not lines or not tokens:
        return []
    if not ordered:
        lines = _in_order_of(lines, "".join(token.text for token in tokens))
    words: dict[tuple[int, int], Word] = {}
    for number, items in _lines_of(tokens, lines).items():
        for token, word in _laid_out(items, tokens, lines[number], number):
            words[token, number] = word
    return [words[key] for key in sorted(words)]


def _tokens(text: str, span: int) -> Iterator[_Token]:
    for found in _TOKEN.finditer(text):
        after = text[found.end() : found.end() + 1]
        yield _Token(found[0], span, not after or after.isspace())


def _in_order_of(lines: Sequence[Line], text: str) -> list[Line]:
    """``lines`` as they follow each other in ``text``, which has no spaces. The longest are looked
    for first, for short ones stand in many places; what is not found stays behind its neighbour."""
    places: dict[int, int] = {}
    free = text
    for number in sorted(range(len(lines)), key=lambda n: -len(lines[n].text)):
        own = _letters(lines[number].text)
        at = free.find(own)
        if at >= 0:
            places[number] = at
            free = free[:at] + "\0" * len(own) + free[at + len(own) :]
    for number in range(len(lines)):
        places.setdefault(number, places.get(number - 1, 0))
    return [lines[number] for number in sorted(range(len(lines)), key=lambda n: places[n])]


def _lines_of(tokens: Sequence[_Token], lines: Sequence[Line]) -> dict[int, list[_Item]]:
    """What stands in each line that has something, from its start on."""
    from rapidfuzz.distance import Levenshtein

    shown = [
        (number, at)
        for number, line in enumerate(lines)
        for at, char in enumerate(line.text)
        if not char.isspace()
    ]
    wanted = "".join(token.text for token in tokens)
    read = "".join(_letters(line.text) for line in lines)
    places: list[tuple[int, int]] = []
    """Of every wanted character: its line, and where in it."""
    taken: set[int] = set()
    for edit in Levenshtein.opcodes(wanted, read):
        for n in range(edit.src_end - edit.src_start):
            # What nothing was read for stands with what precedes it.
            at = edit.dest_start + n if edit.dest_end > edit.dest_start else edit.dest_start - 1
            places.append(shown[max(at, 0)])
            taken.add(max(at, 0))
    items: dict[int, list[_Item]] = {}
    start = 0
    for index, token in enumerate(tokens):
        own = places[start : start + len(token.text)]
        start += len(token.text)
        if re.match(f"[{_UNSPACED}]", token.text):
            for number, group in groupby(range(len(own)), key=lambda n: own[n][0]):
                piece = list(group)
                end = piece[-1] + 1
                spaced = token.spaced and end == len(own)
                item = _Item(own[piece[0]][1], token.text[piece[0] : end], spaced, index)
                items.setdefault(number, []).append(item)
            continue
        number, _ = Counter(line for line, _ in own).most_common(1)[0]
        first = next(at for line, at in own if line == number)
        items.setdefault(number, []).append(_Item(first, token.text, token.spaced, index))
        # The other half of a hyphenated word keeps its place, and stays empty.
        for other in {line for line, _ in own} - {number}:
            ats = [at for line, at in own if line == other]
            items.setdefault(other, []).append(_rest(lines[other], ats[0], ats[-1] + 1))
    for index, (number, at) in enumerate(shown):
        if index not in taken and number in items:
            items[number].append(_rest(lines[number], at, at + 1))
    for own_items in items.values():
        own_items.sort(key=lambda item: item.start)
    return items


def _rest(line: Line, start: int, end: int) -> _Item:
    return _Item(start, line.text[start:end], not line.text[end : end + 1].strip())


def _laid_out(
    items: Sequence[_Item], tokens: Sequence[_Token], line: Line, number: int
) -> Iterator[tuple[int, Word]]:
    """The words of a line side by side on the whole of it, as wide as their letters make them."""
    long = _width(line.text) > _HEIGHT  # the boxes of two digits are often high
    vertical = long and line.box.height > _VERTICAL * line.box.width
    backwards = is_right_to_left(line.text)
    widths = [max(_width(item.text), 0.1) for item in items]
    total = sum(widths) + _GAP * sum(item.spaced for item in items[:-1])
    scale = (line.box.height if vertical else line.box.width) / total
    box = _thinned(line, vertical, scale)
    at = 0.0
    for item, width in zip(items, widths, strict=True):
        gap = _GAP * scale * item.spaced
        start, end = at, at + width * scale
        at = end + gap
        if item.token is None:
            continue
        if vertical:
            part = Box(box.x0, box.y0 + start, box.x1, box.y0 + end)
        elif backwards:
            part = Box(box.x1 - end, box.y0, box.x1 - start, box.y1)
        else:
            part = Box(box.x0 + start, box.y0, box.x0 + end, box.y1)
        span = tokens[item.token].span
        yield item.token, Word(item.text, span, number, part, gap, vertical, backwards)


def _thinned(line: Line, vertical: bool, em: float) -> Box:
    """The middle of the line's box, as high as its letters, which are ``em`` wide: boxes of lines
    that slope or bend overlap, and extractors take close words that are high for one."""
    box = line.box
    high = min(_HEIGHT * line.size or _TALL * em, _TALL * em)
    room = max(0.0, (box.width if vertical else box.height) - high) / 2
    if vertical:
        return box._replace(x0=box.x0 + room, x1=box.x1 - room)
    return box._replace(y0=box.y0 + room, y1=box.y1 - room)


def _letters(text: str) -> str:
    return "".join(text.split())


def _width(text: str) -> float:
    return sum(map(_advance, text))


@cache
def _advance(char: str) -> float:
    """About how wide a character is, over the font size."""
    import pymupdf

    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in ("W", "F"):
        return 1.0
    font = pymupdf.Font("helv")
    return float(font.glyph_advance(ord(char))) if font.has_glyph(ord(char)) else 0.5
