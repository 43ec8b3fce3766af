"""From an open page to its draft: lines, layout, tables, order."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from hsd_docparse.document import FURNITURE, Line, Page, Region
from hsd_docparse.draft.layout import Block, as_pdf_page, find_blocks
from hsd_docparse.draft.orientation import turned
from hsd_docparse.draft.paragraphs import bounds, font_size
from hsd_docparse.draft.reading_order import reading_order
from hsd_docparse.draft.structure import build_regions
from hsd_docparse.draft.tables import is_table

if TYPE_CHECKING:
    from PIL import Image

    from hsd_docparse.sources import SourcePage


def draft_page(page: SourcePage, *, dpi: float = 150) -> Page:
    """What the layout pipeline reads on ``page``: its text layer where that is sane, and else
    what OCR sees at ``dpi``. Regions are in reading order. Raises `PageError`."""
    draft = Page(page.number, page.width, page.height)
    layer = page.text_layer()
    if layer is not None and layer.lines and layer.problem is None and layer.page is not None:
        lines = layer.lines
        blocks = find_blocks(layer.page, with_cells=True)
    else:
        if layer is not None and layer.problem is not None:
            draft.warnings.append(f"Text layer ignored: {layer.problem}; the page was read by OCR.")
        lines, blocks = _read_picture(page.render(dpi), draft)
    regions = build_regions(lines, blocks, draft.width, draft.height)
    draft.regions = _ordered(regions, draft.height)
    return draft


def upright_picture(page: SourcePage, draft: Page, *, dpi: float = 150) -> Image.Image:
    """The picture of ``page`` that the boxes of ``draft`` are on. Raises `PageError`."""
    image = page.render(dpi)
    return turned(image, draft.rotation) if draft.rotation else image


def _read_picture(image: Image.Image, draft: Page) -> tuple[list[Line], list[Block]]:
    """Lines and blocks of a page picture in page units. The size of ``draft`` becomes that of the
    page turned upright."""
    from hsd_docparse.draft.ocr import read_page
    from hsd_docparse.draft.table_structure import read_cells

    factor = draft.width / image.width
    reading = read_page(image)
    image, lines, draft.rotation = reading.image, reading.lines, reading.rotation
    if draft.rotation:
        draft.width, draft.height = (side * factor for side in image.size)
    if not lines:
        return [], []
    pixels = np.asarray(image)
    with as_pdf_page(image, lines) as (pdf, scale):
        blocks = [block.scaled(1 / scale) for block in find_blocks(pdf, with_cells=False)]
    if all(block.kind != "table" for block in blocks) and is_table(lines):
        # The network knows tables on pages; a picture of nothing but a table escapes it.
        blocks = [Block("table", bounds(lines), [])]
    for block in blocks:
        if block.kind == "table":
            block.cells = read_cells(pixels, block.box)
    for line in lines:
        line.box, line.size = line.box.scaled(factor), line.size * factor
    return lines, [block.scaled(factor) for block in blocks]


def _ordered(regions: list[Region], height: float) -> list[Region]:
    """Running text in reading order, between what stands in the top and the bottom margin."""
    body = [region for region in regions if region.kind not in FURNITURE]
    furniture = sorted(
        (region for region in regions if region.kind in FURNITURE),
        key=lambda region: (region.box.y0, region.box.x0),
    )
    sizes = [font_size(line) for region in body for line in region.lines]
    order = reading_order([region.box for region in body], median(sizes) if sizes else 0.0)
    return [
        *(region for region in furniture if region.box.center[1] < height / 2),
        *(body[i] for i in order),
        *(region for region in furniture if region.box.center[1] >= height / 2),
    ]
