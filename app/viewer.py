"""A page as HTML: its picture with the regions on it, beside the blocks that were read from them.

A region and its block belong together by name: the region's ``href`` leads to the block's ``id``.
``viewer.js`` marks both when one of them is pointed at or chosen.
"""

from __future__ import annotations

from base64 import b64encode
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Literal

from PIL import Image

from hsd_docparse.document import Box, Page, Region
from hsd_docparse.render.figures import cut_figures
from hsd_docparse.render.html import HTML

Colour = Literal["kind", "verdict"]
"""What the colour of a region says: what it is, or what the target made of its draft."""

_LABEL = 80
"""Characters of a region's text that its label has."""


def view(page: Page, picture: Path | None, colour: Colour) -> str:
    """``picture``: of the whole page, at any scale."""
    sheet, links = "", dict[int, str]()
    if picture is not None:
        with Image.open(picture) as image:
            figures = cut_figures(image, page)
        links = {place: _url(_jpeg(figure)) for place, figure in figures.items()}
        regions = "".join(_region(page, place) for place in range(len(page.regions)))
        sheet = (
            f'<div class="sheet"><img src="{_url(picture.read_bytes())}" '
            f'alt="Page {page.number} as it looks">{regions}</div>'
        )
    legend = _legend(page, colour)
    return (
        f'<div class="viewer by-{colour}"><div class="left">{legend}{sheet}</div>'
        f'<div class="reading">{HTML.page(page, links)}</div></div>'
    )


def _region(page: Page, place: int) -> str:
    region = page.regions[place]
    block = f"p{page.number}-b{place}"
    what = region.kind.replace("_", " ")
    label = escape(f"{what}, {region.provenance}: {region.text[:_LABEL]}")
    return (
        f'<a class="region {region.kind} {region.provenance}" href="#{block}" '
        f'style="{_place(page, region.box)}" title="{label}" aria-label="{label}"></a>'
    )


def _place(page: Page, box: Box) -> str:
    """In shares of the page, so that it fits the picture at every size."""
    x, y = 100 / page.width, 100 / page.height
    return (
        f"left:{box.x0 * x:.2f}%;top:{box.y0 * y:.2f}%;"
        f"width:{box.width * x:.2f}%;height:{box.height * y:.2f}%"
    )


def _legend(page: Page, colour: Colour) -> str:
    def key(region: Region) -> str:
        return region.kind if colour == "kind" else region.provenance

    keys = dict.fromkeys(key(region) for region in page.regions)
    return (
        '<ul class="legend">'
        + "".join(f'<li class="{key}">{key.replace("_", " ")}</li>' for key in keys)
        + "</ul>"
    )


def _jpeg(image: Image.Image) -> bytes:
    data = BytesIO()
    image.save(data, "JPEG", quality=80)
    return data.getvalue()


def _url(jpeg: bytes) -> str:
    return f"data:image/jpeg;base64,{b64encode(jpeg).decode()}"
