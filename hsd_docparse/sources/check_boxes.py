"""Check boxes and radio buttons of a form as characters beside their labels: the text layer has
nothing for an empty one, and some digit of a symbol font for a ticked one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import pymupdf

from hsd_docparse.document import Box, Line

TICKED, EMPTY = "☑", "☐"
_BUTTONS = [
    pymupdf.mupdf.PDF_WIDGET_TYPE_CHECKBOX,
    pymupdf.mupdf.PDF_WIDGET_TYPE_RADIOBUTTON,
]
_UNSEEN = (1, 3)  # Hidden and NoView of MuPDF's pdf_field_display
_GAP = 2.0
"""Font sizes between a box and its label, at most."""


class _CheckBox(NamedTuple):
    box: Box
    mark: str


def with_check_boxes(page: pymupdf.Page, lines: Sequence[Line]) -> list[Line]:
    """``lines`` with a mark for every check box of ``page``: in front of the label to its right,
    behind the one to its left where that is nearer, or on its own where there is none."""
    boxes = _check_boxes(page)
    # What the marks are drawn with.
    labels = [line for line in lines if not any(_holds(each.box, line) for each in boxes)]
    alone: list[Line] = []
    for box, mark in boxes:
        at = min(range(len(labels)), key=lambda i: _distance(box, labels[i]), default=-1)
        if at < 0 or _distance(box, labels[at]) > _GAP:
            alone.append(Line(mark, box, size=0.75 * box.height))
            continue
        label = labels[at]
        behind = label.box.center[0] < box.center[0]
        text = f"{label.text} {mark}" if behind else f"{mark} {label.text}"
        labels[at] = replace(label, text=text, box=label.box.union(box))
    return [*labels, *alone]


def _check_boxes(page: pymupdf.Page) -> list[_CheckBox]:
    found = []
    for widget in page.widgets(types=_BUTTONS):
        if widget.field_display in _UNSEEN:
            continue
        box = Box(*(widget.rect * page.rotation_matrix).normalize())
        _, state = page.parent.xref_get_key(widget.xref, "AS")
        found.append(_CheckBox(box, EMPTY if state in ("null", "/Off") else TICKED))
    return found


def _holds(box: Box, line: Line) -> bool:
    return len(line.text) <= 2 and box.overlap(line.box) > 0.5 * line.box.area


def _distance(box: Box, line: Line) -> float:
    """From a box to the text beside it, in font sizes."""
    shared = min(box.y1, line.box.y1) - max(box.y0, line.box.y0)
    if shared < 0.5 * min(box.height, line.box.height):
        return float("inf")
    gap = max(line.box.x0 - box.x1, box.x0 - line.box.x1)
    size = line.size or line.box.height
    return float("inf") if gap < -0.5 * size else max(0.0, gap / size)
