"""Lines that belong together: paragraphs and list items, by gaps, indents and markers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from hsd_docparse.document import Box, Line
from hsd_docparse.draft.joining import in_rows

MARKER = re.compile(
    r"([•▪●◦‣■□○◆◇➢✓☐☑☒◻*·]|[-–—](?=\s)|\(?\d{1,2}[.)](?=[\s\D])|\(?(?:[a-zA-Z]|[ivx]{2,4})[.)](?=\s)"
    r"|[①-⑳]|[（(][\d一二三四五六七八九十]{1,2}[）)]|[一二三四五六七八九十]{1,2}、)"
)
"""What a list item begins with."""
BULLET = re.compile(r"[•▪●◦‣■□◆◇➢✓☑◻]\s")
"""What nothing else begins with."""
_COLUMN_ROWS = 3
_CROSSING = 0.2
"""Share of lines that may cross a gutter: detection sometimes takes two for one."""
_COLUMN_WIDTH = 8.0
"""Font sizes; lines of prose are longer."""
_PARAGRAPH_GAP = 0.9
"""White space between lines, in line heights beyond the usual, that ends a paragraph."""
_INDENT = (0.8, 5.0)
"""Indent of a first line, in font sizes."""


def bounds(lines: Sequence[Line]) -> Box:
    """The smallest box around ``lines``, of which there is at least one."""
    box = lines[0].box
    for line in lines[1:]:
        box = box.union(line.box)
    return box


def font_size(line: Line) -> float:
    """Size of the line's font in page units, estimated from its box where it is not known."""
    return line.size or 0.75 * min(line.box.height, line.box.width)


def group_loose(lines: Sequence[Line]) -> list[list[Line]]:
    """Group lines that no layout block holds: each joins the group whose last line is right
    above it, of like size, and shares most of the narrower width."""
    groups: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (line.box.y0, line.box.x0)):
        best = None
        for group in groups:
            last = group[-1]
            size = min(font_size(last), font_size(line))
            alike = max(font_size(last), font_size(line)) < 1.3 * size
            gap = line.box.y0 - last.box.y1
            shared = min(last.box.x1, line.box.x1) - max(last.box.x0, line.box.x0)
            narrow = min(last.box.width, line.box.width)
            if alike and -0.5 * size < gap < 0.7 * size and shared > 0.6 * narrow:
                best = group
        if best is None:
            groups.append([line])
        else:
            best.append(line)
    return groups


def strips(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines cut at every empty vertical strip between them, left to right."""
    groups: list[list[Line]] = []
    reach = float("-inf")
    for line in sorted(lines, key=lambda line: line.box.x0):
        if groups and line.box.x0 <= reach:
            groups[-1].append(line)
        else:
            groups.append([line])
        reach = max(reach, line.box.x1)
    return groups


def split_columns(lines: Sequence[Line]) -> list[list[Line]]:
    """Cut a block of prose that runs over several columns, left to right: at a gutter with
    several rows on either side that next to no line crosses. Labels and their values, whose
    lines are short, stay together."""
    for edge in sorted({line.box.x0 for line in lines})[1:]:
        # Detected boxes are wider than their text and close narrow gutters.
        right = [line for line in lines if line.box.x0 + 0.5 * font_size(line) >= edge]
        left = [line for line in lines if line.box.x1 - 0.5 * font_size(line) <= edge]
        crossing = [line for line in lines if line not in left and line not in right]
        if len(crossing) <= _CROSSING * len(lines) and _is_column(left) and _is_column(right):
            return [*split_columns([*left, *crossing]), *split_columns(right)]
    return [list(lines)]


def _is_column(lines: list[Line]) -> bool:
    if len(rows_of(lines)) < _COLUMN_ROWS:
        return False
    return median(line.box.width / font_size(line) for line in lines) > _COLUMN_WIDTH


def fullness(lines: Sequence[Line]) -> float:
    """Share of the width of ``lines`` together that most of them fill: near 1 for prose."""
    return median(line.box.width for line in lines) / max(bounds(lines).width, 1e-6)


def split_paragraphs(lines: Sequence[Line]) -> list[list[Line]]:
    """Cut the lines of a text block where a new paragraph begins: at a wide gap, or at an
    indented line after a line that is not."""
    rows = rows_of(lines)
    if len(rows) < 2:
        return [list(lines)] if lines else []
    boxes = [bounds(row) for row in rows]
    size = median(font_size(line) for line in lines)
    left = _common_left(boxes, size)
    gaps = [below.y0 - above.y1 for above, below in pairwise(boxes)]
    usual = median(gaps)
    paragraphs = [list(rows[0])]
    for i in range(1, len(rows)):
        indent = boxes[i].x0 - left
        above = boxes[i - 1].x0 - left
        indented = (
            _INDENT[0] * size < indent < _INDENT[1] * size
            and above < 0.5 * size
            and (i + 1 == len(rows) or boxes[i + 1].x0 - left < 0.5 * size)
        )
        if gaps[i - 1] > max(usual, 0) + _PARAGRAPH_GAP * size or indented:
            paragraphs.append([])
        paragraphs[-1] += rows[i]
    return paragraphs


def split_items(lines: Sequence[Line]) -> list[list[Line]]:
    """Cut the lines of a list at every row that begins with a marker."""
    items: list[list[Line]] = []
    for row in rows_of(lines):
        if not items or MARKER.match(row[0].text):
            items.append([])
        items[-1] += row
    return items


def rows_of(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines from top to bottom; those that stand side by side share a row."""
    rows: list[list[Line]] = []
    for line in in_rows(lines):
        if rows and beside(rows[-1][-1], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def beside(first: Line, second: Line) -> bool:
    """Whether two lines stand in one row."""
    shared = min(first.box.y1, second.box.y1) - max(first.box.y0, second.box.y0)
    return shared > 0.5 * min(first.box.height, second.box.height)


def _common_left(boxes: Sequence[Box], size: float) -> float:
    """Where most rows begin: the leftmost edge that at least a third of them share."""
    for box in sorted(boxes, key=lambda box: box.x0):
        if sum(abs(other.x0 - box.x0) < 0.5 * size for other in boxes) * 3 >= len(boxes):
            return box.x0
    return min(box.x0 for box in boxes)
