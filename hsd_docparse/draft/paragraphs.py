"""Lines that belong together: paragraphs and list items, by gaps, indents and markers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from hsd_docparse.document import Box, Line
from hsd_docparse.draft.joining import in_rows

MARKER = re.compile(
    r"([•▪●◦‣■□○◆◇➢✓☑◻*·]|[-–—](?=\s)|\(?\d{1,2}[.)](?=[\s\D])|\(?[a-zA-Z][.)](?=\s)"
    r"|[①-⑳]|[（(][\d一二三四五六七八九十]{1,2}[）)]|[一二三四五六七八九十]{1,2}、)"
)
"""What a list item begins with."""
_COLUMN_ROWS = 3
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


def split_columns(lines: Sequence[Line]) -> list[list[Line]]:
    """Cut a block of text that runs over several columns: at empty vertical strips with at
    least `_COLUMN_ROWS` rows on either side."""
    if len(lines) < 2 * _COLUMN_ROWS:
        return [list(lines)]
    columns: list[list[Line]] = []
    reach = float("-inf")
    for line in sorted(lines, key=lambda line: line.box.x0):
        if not columns or line.box.x0 - reach > 0.5 * font_size(line):
            columns.append([])
        columns[-1].append(line)
        reach = max(reach, line.box.x1)
    if min(len(_rows(column)) for column in columns) < _COLUMN_ROWS:
        return [list(lines)]
    return columns


def split_paragraphs(lines: Sequence[Line]) -> list[list[Line]]:
    """Cut the lines of a text block where a new paragraph begins: at a wide gap, or at an
    indented line after a line that is not."""
    rows = _rows(lines)
    if len(rows) < 2:
        return [list(lines)] if lines else []
    boxes = [bounds(row) for row in rows]
    size = median(font_size(line) for line in lines)
    left = _common_left(boxes, size)
    gaps = [below.y0 - above.y1 for above, below in zip(boxes, boxes[1:], strict=False)]
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
    for row in _rows(lines):
        if not items or MARKER.match(row[0].text):
            items.append([])
        items[-1] += row
    return items


def _rows(lines: Sequence[Line]) -> list[list[Line]]:
    rows: list[list[Line]] = []
    for line in in_rows(lines):
        if rows and line.box.x0 >= rows[-1][-1].box.x0 and _beside(rows[-1][-1], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _beside(left: Line, right: Line) -> bool:
    shared = min(left.box.y1, right.box.y1) - max(left.box.y0, right.box.y0)
    return shared > 0.5 * min(left.box.height, right.box.height)


def _common_left(boxes: Sequence[Box], size: float) -> float:
    """Where most rows begin: the leftmost edge that at least a third of them share."""
    for box in sorted(boxes, key=lambda box: box.x0):
        if sum(abs(other.x0 - box.x0) < 0.5 * size for other in boxes) * 3 >= len(boxes):
            return box.x0
    return min(box.x0 for box in boxes)
