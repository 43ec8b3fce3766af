"""What the drafter saw, for people and for tools: a `layoutparser` layout and its overlay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hsd_docparse.document import Kind, Page

if TYPE_CHECKING:
    import layoutparser
    from PIL import Image

COLORS: dict[Kind, str] = {
    "title": "#7b1fa2",
    "heading": "#ab47bc",
    "text": "#1976d2",
    "list_item": "#0097a7",
    "table": "#d32f2f",
    "figure": "#388e3c",
    "caption": "#f57c00",
    "formula": "#c2185b",
    "code": "#5d4037",
    "footnote": "#827717",
    "note": "#fbc02d",
    "header": "#757575",
    "footer": "#757575",
    "page_number": "#757575",
}
"""Outline of each kind of region."""


def to_layout(page: Page) -> layoutparser.Layout:
    """Regions of ``page`` as text blocks in reading order, boxes in page units."""
    import layoutparser

    return layoutparser.Layout(
        [
            layoutparser.TextBlock(
                layoutparser.Rectangle(*region.box),
                text=region.text,
                id=number,
                type=region.kind,
                score=region.confidence,
            )
            for number, region in enumerate(page.regions, 1)
        ]
    )


def draw_layout(image: Image.Image, page: Page) -> Image.Image:
    """``image`` of the whole ``page`` with every region outlined in the colour of its kind and
    named, beside it, by its number in reading order and its kind."""
    import layoutparser
    from PIL import ImageDraw, ImageFont

    layout = to_layout(page).scale((image.width / page.width, image.height / page.height))
    width = max(2, image.width // 500)
    drawn = layoutparser.draw_box(image, layout, box_width=width, color_map=dict(COLORS))
    pen = ImageDraw.Draw(drawn)
    font = ImageFont.load_default(max(11, image.width // 90))
    for number, block in enumerate(layout, 1):
        label = f"{number} {block.type}"
        left, top, *_ = block.coordinates
        # In the margin, so that nothing is covered; above the region where there is none.
        room = font.getlength(label) < left - width
        at = (left - width, top) if room else (left, top - width)
        pen.text(at, label, COLORS[block.type], font, anchor="ra" if room else "ld")
    return drawn
