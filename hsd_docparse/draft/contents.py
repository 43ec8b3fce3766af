"""Tables of contents: a line an entry, each with the number of a page at its end.

The layout takes them for tables or for prose; as prose their lines would run on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from hsd_docparse.document import Line
from hsd_docparse.draft.joining import join_lines
from hsd_docparse.draft.paragraphs import bounds, font_size, rows_of

LEADERS = " ... "

_PAGE = re.compile(r"\d{1,4}|[ivxlc]{1,7}")
_DOT = r"(?:[.…·‥]\s?)"
_LEADING = re.compile(_DOT + "{3}")
_LED = re.compile(rf"(.*?\w.*?)\s*{_DOT}{{3,}}\s*({_PAGE.pattern})")
"""An entry whose leaders tie its parts together."""
_DOTS = re.compile(rf"\s*{_DOT}+$")
"""What is left of leaders in a line of its own: OCR sees fewer dots than there are."""
_LEAST = 3
_SHARE = 0.8
"""Share of rows that end in a page number, or go on in the next row, at least."""
_GAP = 2.0
"""Font sizes between an entry without leaders and its page number, at least."""
_WIDE = 0.6
"""Share of the width from which a row without a number goes on in the next."""


class Entry(NamedTuple):
    """``text`` has `LEADERS` where the page has a dotted line."""

    text: str
    lines: list[Line]


def entries_of(lines: Sequence[Line]) -> list[Entry]:
    """The entries of the table of contents that ``lines`` of one block are; none where they are
    something else, such as a table of numbers, which do not rise from row to row."""
    rows = rows_of(lines)
    if len(rows) < _LEAST:
        return []
    width = bounds(lines).width
    separators = [parts[1] for row in rows if (parts := _parts(row))]
    led = 2 * separators.count(LEADERS) > len(separators)
    entries: list[Entry] = []
    numbers: list[int] = []
    waiting: list[Line] = []
    whole = 0
    for row in rows:
        parts = _parts(row)
        if parts is None and bounds(row).width > _WIDE * width and not waiting:
            waiting = row
            continue
        own, waiting = [*waiting, *row], []
        if parts is None:
            entries.append(Entry(join_lines(own), own))
            continue
        title, separator, number = parts
        if led:
            # Where OCR sees no dot at all.
            separator = LEADERS
        title = join_lines([*own[: -len(row)], Line(title, row[0].box)])
        entries.append(Entry(f"{title}{separator}{number}", own))
        whole += 1
        if number.isdigit():
            numbers.append(int(number))
    rise = all(above <= below for above, below in pairwise(numbers))
    if waiting or not rise or whole < max(_LEAST, _SHARE * len(entries)):
        return []
    return entries


def _parts(row: Sequence[Line]) -> tuple[str, str, str] | None:
    """Title, leaders and number of an entry on a row of its own."""
    text = " ".join(line.text for line in row)
    # The pattern of whole entries is dear, and rows without three dots are many.
    if _LEADING.search(text) and (led := _LED.fullmatch(text)):
        return led[1], LEADERS, led[2]
    *before, last = row
    if not before or not _PAGE.fullmatch(last.text):
        return None
    title = " ".join(line.text for line in before)
    if leaders := _DOTS.search(title):
        return title[: leaders.start()], LEADERS, last.text
    if len(before) < 3 and last.box.x0 - before[-1].box.x1 > _GAP * font_size(last):
        return title, " ", last.text
    return None
