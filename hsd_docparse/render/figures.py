"""Figures of a page, cut out of its picture."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from hsd_docparse.document import Page

if TYPE_CHECKING:
    from PIL import Image


def cut_figures(image: Image.Image, page: Page) -> dict[int, Image.Image]:
    """The pictures of a page's figures by index of their region. ``image`` shows the whole page at
    any scale; a figure that is off the page has none."""
    cut: dict[int, Image.Image] = {}
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
        if pixels[0] < pixels[2] and pixels[1] < pixels[3]:
            cut[index] = image.crop(pixels)
    return cut


def save_figures(image: Image.Image, page: Page, folder: Path) -> dict[int, Path]:
    """Write what `cut_figures` gives as ``page-N-fig-K.png`` (K from 1) into ``folder``, which is
    made if needed. Returns the files by index of their region."""
    saved: dict[int, Path] = {}
    for index, figure in cut_figures(image, page).items():
        folder.mkdir(parents=True, exist_ok=True)
        saved[index] = folder / f"page-{page.number}-fig-{len(saved) + 1}.png"
        figure.save(saved[index])
    return saved
