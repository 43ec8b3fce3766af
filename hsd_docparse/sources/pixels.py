"""How many pixels a page may become."""

from __future__ import annotations

PIXEL_CAP = 16_000_000
"""Largest picture of a page. A poster is rendered at a lower resolution instead of filling
the memory; an A4 page reaches the cap at about 410 dpi."""


def capped_scale(width: float, height: float, scale: float) -> float:
    """``scale``, lowered so that ``width`` x ``height`` page units stay under `PIXEL_CAP`."""
    return min(scale, (PIXEL_CAP / max(width * height, 1e-9)) ** 0.5)
