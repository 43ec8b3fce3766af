"""Figures of a page, cut out of its picture and saved as PNG files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from hsd_docparse.document import Page

if TYPE_CHECKING:
    from PIL import Image


def save_figures(image: Image.Image, page: Page, folder: Path) -> dict[int, Path]:
    """Write ``page-N-fig-K.png`` (K from 1) into ``folder``, which is made if needed.

    ``image`` shows the whole page at any scale. Returns the files by index of their region;
    a figure that is off the page has none.
    """
    saved: dict[int, Path] = {}
    for index, region in enumerate(page.regions):
        if region.kind != "figure":
            continue
        left, top, right, bottom = region.box.scaled(image.width / page.width)
        pixels = (
            max(0, math.floor(left)),
            max(0, math.floor(top)),
            min(image.width, math.ceil(right)),
            min(image.height, math.ceil(bottom)),
        )
        if pixels[0] >= pixels[2] or pixels[1] >= pixels[3]:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        saved[index] = folder / f"page-{page.number}-fig-{len(saved) + 1}.png"
        image.crop(pixels).save(saved[index])
    return saved
