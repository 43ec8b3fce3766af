"""Pages that lie on their side, stand on their head or were scanned crooked: found out from their
lines of text, and turned.

The detector finds lines at any angle. Lines that are taller than wide say that the page lies on
its side, or that its script runs down the page; reading a few of them each way tells which. A
page on its head has level lines that read badly, and well when they are turned around.
"""

from __future__ import annotations

from math import cos, radians, sin
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL import Image


UPRIGHT = 1.5
"""Height over width from which a line runs up or down the page."""
_LEAST_SKEW = 0.3
"""Degrees up to which a page is left as it is."""
_MOST_SKEW = 15.0
"""Degrees from which lines are set at an angle, and no page is crooked."""


def turned(image: Image.Image, degrees: float) -> Image.Image:
    """``image`` turned clockwise; what the turn uncovers is white."""
    from PIL import Image

    return image.rotate(-degrees, Image.Resampling.BICUBIC, expand=True, fillcolor="white")


def turned_quads(
    quads: NDArray[np.float32], degrees: float, size: tuple[int, int], turned_size: tuple[int, int]
) -> NDArray[np.float32]:
    """Quadrilaterals ``[n, 4, 2]`` where `turned` moves them, from their new top left corners on;
    both sizes are width and height."""
    angle = radians(degrees)
    turn = np.array([[cos(angle), sin(angle)], [-sin(angle), cos(angle)]])
    moved = (quads - np.array(size) / 2) @ turn + np.array(turned_size) / 2
    first = moved.sum(axis=2).argmin(axis=1)
    order = (first[:, None] + np.arange(4)) % 4
    return np.take_along_axis(moved, order[:, :, None], axis=1).astype(np.float32)


def skew(quads: NDArray[np.float32]) -> float:
    """Degrees by which level lines fall to the right, 0 where they are level or do not agree."""
    along = quads[:, 1] - quads[:, 0]
    widths = np.hypot(*along.T)
    heights = np.hypot(*(quads[:, 3] - quads[:, 0]).T)
    long = widths > 4 * heights
    if not long.any():
        return 0.0
    angles = np.degrees(np.arctan2(along[long, 1], along[long, 0]))
    order = np.argsort(angles)
    angles, weights = angles[order], widths[long][order]
    middle = float(angles[np.searchsorted(weights.cumsum(), weights.sum() / 2)])
    agree = weights[np.abs(angles - middle) < 1.0].sum() > 0.6 * weights.sum()
    return middle if agree and _LEAST_SKEW < abs(middle) < _MOST_SKEW else 0.0


def is_sideways(quads: NDArray[np.float32]) -> bool:
    """Whether most of the text, by length, runs up or down the page."""
    if not len(quads):
        return False
    widths = np.hypot(*(quads[:, 1] - quads[:, 0]).T)
    heights = np.hypot(*(quads[:, 3] - quads[:, 0]).T)
    tall = heights > UPRIGHT * widths
    return bool(heights[tall].sum() > widths[~tall].sum())
