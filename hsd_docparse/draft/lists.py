"""Lists: items that the layout took for paragraphs, and how deep items are nested, by their
indents, and by their markers where a list goes on in the next column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from hsd_docparse.document import Region
from hsd_docparse.draft.joining import is_right_to_left
from hsd_docparse.draft.paragraphs import MARKER, font_size

_STEP = 0.8
"""Font sizes by which an item is indented at least; numbers of unlike length that end at one
place begin up to half a size apart."""
_NEXT = 1.2
"""Font sizes between an item and a paragraph with a marker that is one too, at most."""
_NUMBERING = re.compile(r"\d{1,2}(\.\d{1,2})+")
_STYLES = (r"\d", r"[a-z]", r"[A-Z]", r"\S")


class _Open(NamedTuple):
    """An item that others may be nested in: where it begins and what its marker looks like."""

    start: float
    style: str


def complete_lists(regions: Sequence[Region]) -> None:
    """Make items of the paragraphs with a marker that touch one, and set ``level`` of every item
    among ``regions``, which are in reading order: from 1, anew for every list."""
    neighbours = list(pairwise(regions))
    for above, below in [*neighbours, *reversed(neighbours)]:
        gap = below.box.y0 - above.box.y1
        if above.box.y1 < below.box.y1 and gap < _gap(above, below):
            if above.kind == "list_item" and _has_marker(below):
                below.kind = "list_item"
            elif below.kind == "list_item" and _has_marker(above):
                above.kind = "list_item"
    for is_list, items in groupby(regions, key=lambda region: region.kind == "list_item"):
        if is_list:
            _set_levels(list(items))


def _gap(above: Region, below: Region) -> float:
    lines = [*above.lines, *below.lines]
    return _NEXT * min(map(font_size, lines)) if lines else 0.0


def _has_marker(region: Region) -> bool:
    return region.kind == "text" and bool(MARKER.match(region.text))


def _set_levels(items: Sequence[Region]) -> None:
    nested: list[_Open] = []
    above: Region | None = None
    for item in items:
        first = item.lines[0]
        start = -first.box.x1 if is_right_to_left(item.text) else first.box.x0
        style = _style(item.text)
        if above is not None and item.box.y0 < above.box.y0:
            nested = _moved(nested, start, style)
        step = _STEP * font_size(first)
        if numbering := _NUMBERING.match(item.text):
            # As if it were indented, which entries of a table of contents need not be.
            start += 2 * step * numbering[0].count(".")
        while nested and start < nested[-1].start - step:
            nested.pop()
        if not nested or start > nested[-1].start + step:
            nested.append(_Open(start, style))
        item.level = len(nested)
        above = item


def _moved(nested: Sequence[_Open], start: float, style: str) -> list[_Open]:
    """``nested`` as it stands in the next column, which begins with an item like one of them."""
    alike = next((each for each in nested if each.style == style), None)
    if alike is None:
        return []
    return [_Open(each.start + start - alike.start, each.style) for each in nested]


def _style(text: str) -> str:
    """A marker less what changes from item to item: ``"1)"`` and ``"2)"`` are alike."""
    kind = next((style for style in _STYLES if re.match(rf"\(?{style}", text)), "")
    marker = text.split(maxsplit=1)[0] if text else ""
    return marker if kind == r"\S" else f"{kind}{marker[-1:]}"
