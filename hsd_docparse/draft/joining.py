"""Lines become running text: words broken at line ends are mended, and scripts that write
without spaces get none."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hsd_docparse.document import Line

_UNSPACED = re.compile(
    "[\u2e80-\u303f\u3040-\u30ff\u3100-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff00-\uff60\uffe0-\uffef]"
)
"""Han, kana, bopomofo and full-width forms. Korean writes spaces."""
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
"""Hebrew, Arabic and their neighbours."""
_HYPHENATED = re.compile(r"[\w$][-\u2010]$")
_COMPOUNDED = re.compile(r"[^\W_]|\$[^\W\d_]")
"""How the other part of a compound begins: a dollar begins a formula."""
BROKEN = re.compile(r"[^\W\d_]{2,}[-\u2010]$")
"""A word cut by a hyphen at the end of a line."""


def join_lines(lines: Iterable[Line]) -> str:
    """Text of ``lines`` as one paragraph."""
    return join_texts(line.text for line in lines)


def join_texts(texts: Iterable[str]) -> str:
    """Texts of consecutive lines as one paragraph.

    A hyphen at a line end goes when the next line continues in lower case and the word's
    first part holds no other hyphen ("state-of-the-" keeps its own).
    """
    whole = ""
    for text in texts:
        text = text.strip()
        if not text:
            continue
        if not whole:
            whole = text
            continue
        end = whole.rsplit(maxsplit=1)[-1]  # patterns look through all that they are given
        if BROKEN.search(end) and text[0].islower() and "-" not in end[:-1]:
            whole = whole[:-1] + text
        else:
            compound = _HYPHENATED.search(end) and _COMPOUNDED.match(text)
            unspaced = is_unspaced(whole[-1]) or is_unspaced(text[0])
            whole += text if compound or unspaced else f" {text}"
    return whole


def in_rows(lines: Iterable[Line]) -> list[Line]:
    """Lines from top to bottom, and in the direction of their script where they stand side by
    side."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.box.center[1]):
        # Half a line is what separates a subscript from the next row.
        if rows and line.box.center[1] < rows[-1][0].box.center[1] + rows[-1][0].box.height / 2:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in _along(row)]


def _along(row: list[Line]) -> list[Line]:
    if is_right_to_left("".join(line.text for line in row)):
        return sorted(row, key=lambda line: -line.box.x1)
    return sorted(row, key=lambda line: line.box.x0)


def is_unspaced(char: str) -> bool:
    """Whether ``char`` is of a script that puts no space between words."""
    return bool(_UNSPACED.match(char))


def is_right_to_left(text: str) -> bool:
    """Whether most letters of ``text`` are written from right to left."""
    if text.isascii():
        return False
    letters = sum(char.isalpha() for char in text)
    return 2 * len(_RIGHT_TO_LEFT.findall(text)) > letters
