"""Detected lines that run across the gutter between two columns, cut in two.

Where a gutter is narrow the detector takes the lines on either side for one. The picture shows a
gap there, as between words; that it is a gutter is what the lines above and below say, which end
and begin at it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LONG = 10.0
"""Width over height from which a line may hold two."""
_GAP = 0.6
"""Line heights without ink, at least: wide for a space between words."""
_REACH = 0.7
"""Line heights by which lines at a gutter may miss it."""
_NEAR = 12.0
"""Line heights above and below within which lines speak about a gutter."""
_ALIKE = 0.6
"""Octaves by which the heights of such lines may differ."""
_WITNESSES = 3
"""Lines that must end at a gutter, and as many that must begin there."""
_INK = 48
"""Grey levels by which ink differs from paper."""


def split_at_gutters(image: NDArray[np.uint8], quads: NDArray[np.float32]) -> NDArray[np.float32]:
    """``quads`` ``[n, 4, 2]`` of level lines, cut at gutters; ``image``: ``[height, width, 3]``."""
    low, high = quads.min(axis=1), quads.max(axis=1)
    boxes = np.concatenate([low, high], axis=1)
    whole: list[NDArray[np.float32]] = []
    for i, quad in enumerate(quads):
        cuts = [gap for gap in _gaps(image, boxes[i]) if _is_gutter(gap, boxes, i)]
        edges = [boxes[i, 0], *(edge for gap in cuts for edge in gap), boxes[i, 2]]
        if not cuts:
            whole.append(quad)
            continue
        (_, y0), (_, y1) = low[i], high[i]
        for x0, x1 in zip(edges[::2], edges[1::2], strict=True):
            whole.append(np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], np.float32))
    return np.array(whole, np.float32).reshape(-1, 4, 2)


def ink_columns(image: NDArray[np.uint8], box: NDArray[np.float32]) -> list[int]:
    """Columns of pixels with ink on them inside ``box`` ``[x0, y0, x1, y1]``, left to right."""
    x0, y0, x1, y1 = np.maximum(0, np.round(box)).astype(int)
    grey = image[y0:y1, x0:x1].mean(axis=2)
    if not grey.size:
        return []
    inked = (np.abs(grey - np.median(grey)) > _INK).mean(axis=0) > 0.02
    return [x0 + int(at) for at in np.flatnonzero(inked)]


def _gaps(image: NDArray[np.uint8], box: NDArray[np.float32]) -> Iterator[tuple[float, float]]:
    """Left and right edge of every wide strip without ink inside a line, in pixels."""
    x0, y0, x1, y1 = box
    height = y1 - y0
    if x1 - x0 < _LONG * height:
        return
    for left, right in pairwise(ink_columns(image, box)):
        if right - left > _GAP * height:
            yield left + 1.0, float(right)


def _is_gutter(gap: tuple[float, float], boxes: NDArray[np.float32], line: int) -> bool:
    left, right = gap
    x0, y0, x1, y1 = boxes.T
    height = y1[line] - y0[line]
    middle = (y0 + y1) / 2
    alike = np.abs(np.log2((y1 - y0) / height)) < _ALIKE
    near = alike & (np.abs(middle - middle[line]) < _NEAR * height)
    near[line] = False
    reach = _REACH * height
    ends = near & (np.abs(x1 - left) < reach)
    begins = near & (np.abs(x0 - right) < reach)
    crossing = near & (x0 < left - 2 * height) & (x1 > right + 2 * height)
    enough = min(ends.sum(), begins.sum()) >= _WITNESSES
    return bool(enough and crossing.sum() < min(ends.sum(), begins.sum()))
