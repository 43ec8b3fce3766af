"""Blocks of pictures: of a whole page, and of what was pasted into a page with a text layer, such
as the scan of a table, a chart, a poster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hsd_docparse.document import Box, Line
from hsd_docparse.draft.layout import Block, as_pdf_page, find_blocks
from hsd_docparse.draft.paragraphs import bounds
from hsd_docparse.draft.tables import is_table

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL import Image

    from hsd_docparse.sources import SourcePage, TextLayer
    from hsd_docparse.sources.painting import Painted

_LEAST = 0.03
"""Share of the page that a picture covers at least to be looked at: logos are smaller."""
_SIDE = 40.0
"""Points; the shorter side of such a picture, at least."""
_BACKGROUND = 0.5
"""Share of the page from which a picture lies behind its text."""
_COVERED = 0.2
"""Share of a line seen that the text layer covers where it is the same text."""
_LINES = 4
"""Lines of a scan of text, at least."""
_DENSE = 0.08
"""Share of a picture under its lines from which it may be such a scan: charts have less."""
_INK = 60
"""Levels by which ink differs from paper in a channel, and the channels of a colour."""
_DRAWN = 0.08
"""Share of a scan that is ink outside its lines, at most: rules have less, drawings more."""
_COLOURED = 0.005
"""Share of a scanned table that has a colour, at most: the curves of a chart have one."""
_SPARSE = 200
"""Characters of text below which pictures are what a page says, as on a poster."""
_RUNNING = 0.7
"""Share of the lines of such a scan that stand in other blocks than figures."""


def find_picture_blocks(image: Image.Image, lines: Sequence[Line]) -> list[Block]:
    """Blocks of a picture of a page or a part of one; ``lines`` and they are in its pixels."""
    from hsd_docparse.draft.table_structure import read_cells

    if not lines:
        return []
    with as_pdf_page(image, lines) as (pdf, scale):
        blocks = [block.scaled(1 / scale) for block in find_blocks(pdf, with_cells=False)]
    if all(block.kind != "table" for block in blocks) and is_table(lines):
        # The network knows tables on pages; a picture of nothing but a table escapes it.
        blocks = [Block("table", bounds(lines), [])]
    pixels = np.asarray(image)
    for block in blocks:
        if block.kind == "table":
            block.cells = read_cells(pixels, block.box)
    return blocks


def scaled(line: Line, factor: float) -> Line:
    return replace(line, box=line.box.scaled(factor), size=line.size * factor)


def with_pictures(
    page: SourcePage, layer: TextLayer, blocks: list[Block], dpi: float
) -> tuple[list[Line], list[Block]]:
    """The lines of the text ``layer`` of ``page`` and its ``blocks``, with what OCR sees at ``dpi``
    in large pictures. A picture of running text or a table is taken apart into blocks;
    the lines of another one are in a block of its own. Raises `PageError`."""
    from hsd_docparse.draft.ocr import read_lines

    lines = layer.lines
    pictures = _pictures(layer.painted, Box(0, 0, page.width, page.height))
    if not pictures:
        return lines, blocks
    image = page.render(dpi)
    factor = page.width / image.width

    def is_wanted(box: Box) -> bool:
        seen = box.scaled(factor)
        covered = sum(seen.overlap(line.box) for line in lines)
        return any(_inside(seen, each) for each in pictures) and covered < _COVERED * seen.area

    sparse = sum(len(line.text) for line in lines) < _SPARSE
    found = [scaled(line, factor) for line in read_lines(image, is_wanted)]
    for picture in pictures:
        own = [line for line in found if _inside(line.box, picture)]
        if not own or picture.area > _BACKGROUND * page.width * page.height:
            continue
        figures = [
            block for block in blocks if block.kind == "figure" and _inside(block.box, picture)
        ]
        if scanned := _scanned_blocks(image, own, picture, factor):
            blocks = [block for block in blocks if block not in figures] + scanned
        elif sparse:
            blocks = [block for block in blocks if block not in figures]
        elif not figures:
            blocks = [*blocks, Block("figure", picture, [picture])]
    return [*lines, *found], blocks


def _pictures(painted: Sequence[Painted], sheet: Box) -> list[Box]:
    """Where large pictures show on a page, which is ``sheet``, in points; each place once."""
    found: list[Box] = []
    for operator, box in painted:
        shown = Box(
            max(box.x0, sheet.x0),
            max(box.y0, sheet.y0),
            min(box.x1, sheet.x1),
            min(box.y1, sheet.y1),
        )
        if operator == "fill-image" and min(shown.width, shown.height) > _SIDE:
            found.append(shown)
    return [
        box
        for at, box in enumerate(found)
        if box.area > _LEAST * sheet.area
        and not any(_inside(box, other) and other.area > box.area for other in found[at + 1 :])
        and box not in found[:at]
    ]


def _scanned_blocks(
    image: Image.Image, lines: Sequence[Line], picture: Box, factor: float
) -> list[Block]:
    """Blocks of a ``picture`` that shows running text or a table, none where it shows something
    else; ``factor`` is points a pixel of ``image``."""
    dense = sum(line.box.area for line in lines) > _DENSE * picture.area
    if len(lines) < _LINES or not dense:
        return []
    x0, y0, x1, y1 = map(round, picture.scaled(1 / factor))
    own = [scaled(line, 1 / factor) for line in lines]
    own = [replace(line, box=line.box.moved(-x0, -y0)) for line in own]
    crop = image.crop((x0, y0, x1, y1))
    drawn, coloured = _drawing(np.asarray(crop, np.int16), own)
    if drawn > _DRAWN:
        return []
    blocks = find_picture_blocks(crop, own)
    if coloured > _COLOURED and any(block.kind == "table" for block in blocks):
        return []
    read = [block for block in blocks if block.kind != "figure"]
    running = sum(any(_inside(line.box, block.box) for block in read) for line in own)
    if running < _RUNNING * len(own):
        return []
    return [block.moved(x0, y0).scaled(factor) for block in read]


def _drawing(pixels: NDArray[np.int16], lines: Sequence[Line]) -> tuple[float, float]:
    """Shares of a picture ``[height, width, 3]`` that are ink outside its ``lines``, and that have
    a colour."""
    inked = np.abs(pixels - np.median(pixels, axis=(0, 1))).max(axis=2) > _INK
    for line in lines:
        x0, y0, x1, y1 = (max(0, round(edge)) for edge in line.box.expanded(2))
        inked[y0:y1, x0:x1] = False
    return float(inked.mean()), float((np.ptp(pixels, axis=2) > _INK).mean())


def _inside(box: Box, other: Box) -> bool:
    return other.overlap(box) > 0.5 * box.area
