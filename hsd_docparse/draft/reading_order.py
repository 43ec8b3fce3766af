"""The order in which a reader takes the regions of a page.

Recursive XY cuts (Nagy and Seth, 1984) with one change: neighbouring rows that one and the
same gutter divides stay together, so that columns are read down and not across.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from hsd_docparse.document import Box

_TOUCH = 0.4
"""Font sizes by which columns may overlap: detected boxes are wider than their text."""
_SLACK = 0.25
"""Share of the median box height by which boxes may run into one another."""


def reading_order(boxes: Sequence[Box], font_size: float) -> list[int]:
    """Indices of ``boxes`` in reading order; ``font_size`` is that of the page's body, in the
    units of the boxes."""
    return _order(list(range(len(boxes))), boxes, -_TOUCH * font_size)


def _order(items: list[int], boxes: Sequence[Box], gutter: float) -> list[int]:
    if len(items) < 2:
        return items
    columns = _columns(items, boxes, gutter)
    if len(columns) > 1:
        return [i for column in columns for i in _order(column, boxes, gutter)]
    bands = _bands(items, boxes)
    if len(bands) == 1:
        return _by_neighbours(items, boxes)
    return _stacked(bands, boxes, gutter)


def _stacked(bands: list[list[int]], boxes: Sequence[Box], gutter: float) -> list[int]:
    start, end = _divided_run(bands, boxes, gutter)
    if start == end:
        return [i for band in bands for i in _order(band, boxes, gutter)]
    return [
        *_stacked(bands[:start], boxes, gutter),
        *_order([i for band in bands[start:end] for i in band], boxes, gutter),
        *_stacked(bands[end:], boxes, gutter),
    ]


def _divided_run(bands: list[list[int]], boxes: Sequence[Box], gutter: float) -> tuple[int, int]:
    """The first run of bands that one gutter divides: from a band that stands in columns itself
    as far down as they go, and only then up, so that a title above is not torn into columns
    which end right below it. If there is no such run, one band alone, as authors side by side are;
    an empty one at the end where nothing stands side by side."""

    def divided(start: int, end: int, by: int) -> bool:
        """Whether a gutter of bands[by] is free in all others."""
        union = [i for band in bands[start:end] for i in band]
        columns = [set(column) for column in _columns(union, boxes, gutter)]
        return sum(not column.isdisjoint(bands[by]) for column in columns) > 1

    lone: tuple[int, int] | None = None
    for first in range(len(bands)):
        if not divided(first, first + 1, first):
            continue
        start, end = first, first + 1
        while end < len(bands) and divided(start, end + 1, first):
            end += 1
        if end == first + 1:
            lone = lone or (first, end)
            continue
        while start > 0 and divided(start - 1, end, first):
            start -= 1
        return start, end
    return lone or (len(bands), len(bands))


def _columns(items: list[int], boxes: Sequence[Box], gutter: float) -> list[list[int]]:
    """``items`` cut at every vertical strip that no box covers, left to right; ``gutter`` is
    its least width, negative where columns may overlap."""
    return _cut(items, [(boxes[i].x0, boxes[i].x1) for i in items], gutter)


def _bands(items: list[int], boxes: Sequence[Box]) -> list[list[int]]:
    """``items`` cut at every empty horizontal strip, top to bottom."""
    slack = _SLACK * median(boxes[i].height for i in items)
    spans = []
    for i in items:
        shrink = min(slack, boxes[i].height / 3)
        spans.append((boxes[i].y0 + shrink, boxes[i].y1 - shrink))
    return _cut(items, spans, 0)


def _cut(items: list[int], spans: list[tuple[float, float]], gap: float) -> list[list[int]]:
    groups: list[list[int]] = []
    reach = float("-inf")
    for (start, end), item in sorted(zip(spans, items, strict=True)):
        if groups and start - reach < gap:
            groups[-1].append(item)
        else:
            groups.append([item])
        reach = max(reach, end)
    return groups


def _by_neighbours(items: list[int], boxes: Sequence[Box]) -> list[int]:
    """Order of boxes that no straight cut divides: above comes before below where they share
    width, left before right where they share height (a topological sort)."""
    ordered: list[int] = []
    waiting = sorted(items, key=lambda i: (boxes[i].y0, boxes[i].x0))
    while waiting:
        free = (i for i in waiting if not any(_precedes(boxes[j], boxes[i]) for j in waiting))
        following = next(free, waiting[0])
        waiting.remove(following)
        ordered.append(following)
    return ordered


def _precedes(first: Box, second: Box) -> bool:
    shared_width = min(first.x1, second.x1) - max(first.x0, second.x0)
    if shared_width > 0.1 * min(first.width, second.width):
        return first.center[1] < second.center[1]
    shared_height = min(first.y1, second.y1) - max(first.y0, second.y0)
    return shared_height > 0 and first.center[0] < second.center[0]
