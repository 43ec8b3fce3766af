"""Bullets that a PDF draws as shapes, as browsers do when they print: the text layer knows
nothing of them, and without them a list is a row of short paragraphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from hsd_docparse.document import Box, Line
from hsd_docparse.sources.painting import Painted

_SIZE = (0.12, 0.6)
"""Width and height of a bullet in font sizes."""
_GAP = 2.0
"""Font sizes between a bullet and its text, at most."""


def with_drawn_bullets(lines: Sequence[Line], painted: Sequence[Painted]) -> list[Line]:
    """``lines``, those begun by a ``painted`` dot or square with a bullet before their text. One
    alone is taken for a mark of another kind: a list has at least two, below each other."""
    shapes = [
        entry.box for entry in painted if entry.operator == "fill-path" and entry.box.width < 20
    ]
    found = {
        at: shape
        for at, line in enumerate(lines)
        if (shape := next((s for s in shapes if _is_bullet(s, line)), None))
    }
    columns = Counter(round(shape.x0) for shape in found.values())
    return [
        replace(line, text=f"• {line.text}", box=line.box.union(found[at]))
        if at in found and columns[round(found[at].x0)] > 1
        else line
        for at, line in enumerate(lines)
    ]


def _is_bullet(shape: Box, line: Line) -> bool:
    size = line.size or line.box.height
    least, most = _SIZE[0] * size, _SIZE[1] * size
    return (
        least < shape.width < most
        and least < shape.height < most
        and 0.7 * shape.width < shape.height < 1.4 * shape.width
        and 0 <= line.box.x0 - shape.x1 < _GAP * size
        and line.box.y0 < shape.center[1] < line.box.y1
    )
