"""Puts readers' notes behind what they are attached to."""

from __future__ import annotations

from collections.abc import Sequence

from hsd_docparse.document import FURNITURE, Region
from hsd_docparse.sources.annotations import Note


def with_notes(regions: Sequence[Region], notes: Sequence[Note]) -> list[Region]:
    """``regions``, which are in reading order, with a region a note. None comes between the items
    of a list."""
    behind: dict[int, list[Region]] = {}
    for note in notes:
        region = Region("note", note.box, note.text)
        behind.setdefault(_place(regions, note), []).append(region)
    placed = list(behind.get(-1, ()))
    for place, region in enumerate(regions):
        placed += [region, *behind.get(place, ())]
    return placed


def _place(regions: Sequence[Region], note: Note) -> int:
    """The region behind which ``note`` comes, -1 where there is none."""
    body = [i for i, region in enumerate(regions) if region.kind not in FURNITURE]
    place = min(body, key=lambda i: _distance(regions[i], note), default=-1)
    while (
        place >= 0
        and place + 1 < len(regions)
        and regions[place].kind == regions[place + 1].kind == "list_item"
    ):
        place += 1
    return place


def _distance(region: Region, note: Note) -> float:
    """Between the middle of ``note`` and ``region``, squared."""
    (x, y), box = note.box.center, region.box
    return max(box.x0 - x, 0, x - box.x1) ** 2 + max(box.y0 - y, 0, y - box.y1) ** 2
