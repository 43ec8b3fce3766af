"""Notes in the margin: small short lines beyond the edge that a column of prose has.

The layout often takes them for a part of the paragraph beside them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from hsd_docparse.document import Line
from hsd_docparse.draft.paragraphs import font_size

_PROSE = 8.0
"""Font sizes; lines of prose are longer."""
_WITNESSES = 5
"""Lines of prose that end at an edge, at least."""
_REACH = 0.5
"""Font sizes by which they may miss it."""
_SMALLER = 0.9
"""Size of notes over that of prose, at most: labels and prices beside a line are as large."""
_NARROW = 0.35
"""Width of notes over that of the column, at most."""
_GAP = 0.5
"""White space between lines of one note, in font sizes."""
_LETTERS = re.compile(r"[^\W\d_].*[^\W\d_]")
"""Two letters; line numbers, prices and markers of list items have none."""
_LEADERS = re.compile(r"[.…·_‥]{3,}$")


def margin_notes(lines: Sequence[Line]) -> list[list[Line]]:
    """Notes among the ``lines`` of a page, each from top to bottom."""
    return [*_notes_beyond(lines, right=True), *_notes_beyond(lines, right=False)]


def _notes_beyond(lines: Sequence[Line], *, right: bool) -> list[list[Line]]:
    def end(line: Line) -> float:
        return line.box.x1 if right else -line.box.x0

    def start(line: Line) -> float:
        return line.box.x0 if right else -line.box.x1

    prose = [
        line
        for line in lines
        if line.box.width > _PROSE * font_size(line) and not _LEADERS.search(line.text)
    ]
    if len(prose) < _WITNESSES:
        return []
    size = median(map(font_size, prose))
    # Outermost first.
    ends = sorted(map(end, prose), reverse=True)
    shared = (
        e for e in ends if sum(abs(e - other) < _REACH * size for other in ends) >= _WITNESSES
    )
    edge = next(shared, None)
    if edge is None:
        return []
    column = [line for line in prose if abs(end(line) - edge) < _REACH * size]
    top, bottom = min(line.box.y0 for line in column), max(line.box.y1 for line in column)
    beyond = [
        line
        for line in lines
        if start(line) > edge + _REACH * size / 2 and top - size < line.box.center[1] < bottom
    ]
    width = _NARROW * median(line.box.width for line in column)
    if not beyond or 2 * len(beyond) > len(column) or max(b.box.width for b in beyond) > width:
        return []
    if median(map(font_size, beyond)) > _SMALLER * median(map(font_size, column)):
        return []
    return [
        note for note in _groups(beyond) if _LETTERS.search(" ".join(line.text for line in note))
    ]


def _groups(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines of one strip of the page, cut where the next is not right below."""
    groups: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.box.center[1]):
        if groups and line.box.y0 - groups[-1][-1].box.y1 < _GAP * font_size(line):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups
