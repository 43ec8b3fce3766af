"""Where the blocks of a page are and what they are, by the networks inside PyMuPDF.

A graph network looks at the lines, rulings and pictures of a PDF page, helped by a small
convolutional one that sees the page at 72 dots an inch. A picture with OCR lines is shown
to it as a PDF page of its own: the picture, and the lines as invisible text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from io import BytesIO
from math import log2
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from hsd_docparse.document import Box, Kind, Line
from hsd_docparse.draft.analyzer import PRINTED_TWICE, tune_layout
from hsd_docparse.draft.joining import join_texts
from hsd_docparse.draft.tables import Cell, below, columns_of

if TYPE_CHECKING:
    import pymupdf
    from PIL import Image

KINDS: dict[str, Kind] = {
    "text": "text",
    "title": "title",
    "section-header": "heading",
    "list-item": "list_item",
    "table": "table",
    "picture": "figure",
    "caption": "caption",
    "formula": "formula",
    "footnote": "footnote",
    "page-header": "header",
    "page-footer": "footer",
}
BODY = 10.0
"""Points; a picture becomes a page on which its median line is set in this size."""
SIDES = (200.0, 1500.0)
"""Points; bounds of the longer side of such a page."""
_DETAIL = 1.5
"""Pixels a point that such a page keeps of the picture; the network looks at one."""

_TOUCHING = 2.0
"""Points between parts of one table, at most."""
_HEAVY = 200_000
"""Pixels above which a picture of a page is shown to the analyses smaller than it is."""
_PACKED = frozenset({"DCTDecode", "JPXDecode"})
"""Codings of pictures that are copied out as they are."""


@dataclass
class Block:
    """A block of the layout, in the units of the lines it was found by. ``parts`` are the boxes
    of what belongs to it, ``cells`` those of a table whose grid is known."""

    kind: Kind
    box: Box
    parts: list[Box]
    cells: list[Cell] = field(default_factory=list)

    def scaled(self, factor: float) -> Block:
        cells = [replace(cell, box=cell.box.scaled(factor)) for cell in self.cells]
        parts = [part.scaled(factor) for part in self.parts]
        return Block(self.kind, self.box.scaled(factor), parts, cells)

    def moved(self, right: float, down: float) -> Block:
        cells = [replace(cell, box=cell.box.moved(right, down)) for cell in self.cells]
        parts = [part.moved(right, down) for part in self.parts]
        return Block(self.kind, self.box.moved(right, down), parts, cells)


def find_blocks(
    page: pymupdf.Page, *, with_cells: bool, printed_twice: bool = False
) -> list[Block]:
    """Blocks of a PDF page, in points. ``with_cells`` looks for the grid of each table too, by
    its rulings and by how its text is aligned; ``printed_twice``: there are letters that look bold
    because they are on top of each other."""
    tune_layout()
    # The features of boxes without height are logarithms of zero.
    with np.errstate(divide="ignore", invalid="ignore"), _prepared(page) as upright:
        setattr(upright, PRINTED_TWICE, printed_twice)
        upright.get_layout(return_raw=True)
        groups: list[dict[str, Any]] = upright.layout_information or []
        blocks = [
            Block(
                KINDS[group["class_name"]],
                Box(*map(float, group["group_bbox"][:4])),
                [Box(*map(float, box[:4])) for box in group.get("bboxes", ())],
            )
            for group in groups
        ]
        if not with_cells or all(block.kind != "table" for block in blocks):
            return blocks
        found = upright.find_tables(use_layout=True, union=True, refine=True)
        tables = _joined(
            Block("table", Box(*map(float, table.bbox)), [], _cells(table))
            for table in (found.tables if found else ())
            if table.placements
        )
    # A grid stands for every layout table that it touches.
    rest = [
        block
        for block in blocks
        if block.kind != "table"
        or all(block.box.overlap(table.box) < 0.1 * block.box.area for table in tables)
    ]
    return [*rest, *tables]


def _joined(tables: Iterable[Block]) -> list[Block]:
    """Tables in their order, those that touch and have the same columns as one: a grid is taken
    apart wherever its header returns."""
    joined: list[Block] = []
    for table in tables:
        last = joined[-1] if joined else None
        if (
            last is not None
            and abs(last.box.y1 - table.box.y0) < _TOUCHING
            and abs(last.box.x0 - table.box.x0) < _TOUCHING
            and abs(last.box.x1 - table.box.x1) < _TOUCHING
            and columns_of(last.cells) == columns_of(table.cells)
        ):
            last.box = last.box.union(table.box)
            last.cells = below(last.cells, table.cells)
        else:
            joined.append(table)
    return joined


@contextmanager
def as_pdf_page(image: Image.Image, lines: Sequence[Line]) -> Iterator[tuple[pymupdf.Page, float]]:
    """A PDF page that looks like ``image`` and holds ``lines`` (in its pixels) as invisible
    text, and its scale: points a pixel."""
    import pymupdf

    longer = max(image.size)
    scale = BODY / median(line.size for line in lines) if lines else SIDES[1] / longer
    scale = min(max(scale, SIDES[0] / longer), SIDES[1] / longer)
    width, height = (side * scale for side in image.size)
    detail = min(1.0, scale * _DETAIL)
    size = [max(1, round(side * detail)) for side in image.size]
    stream = BytesIO()
    image.resize(size, reducing_gap=2.0).save(stream, "JPEG", quality=85)
    with pymupdf.open() as document:
        page = document.new_page(width=width, height=height)
        page.insert_image(page.rect, stream=stream.getvalue())
        font = _font()
        for line in lines:
            box = line.box.scaled(scale)
            height = 0.9 * box.height
            length = font.text_length(line.text, height)
            if length <= 0:
                continue
            writer = pymupdf.TextWriter(page.rect)
            writer.append((box.x0, box.y1 - 0.2 * box.height), line.text, font, height)
            stretch = pymupdf.Matrix(box.width / length, 1)
            writer.write_text(page, render_mode=3, morph=(pymupdf.Point(box.x0, box.y1), stretch))
        yield page, scale


@cache
def _font() -> pymupdf.Font:
    import pymupdf

    return pymupdf.Font("cjk")


@contextmanager
def _prepared(page: pymupdf.Page) -> Iterator[pymupdf.Page]:
    """``page`` as the analyses want it: its rotation made part of its content, since they work
    in its space, and its pictures small, since they copy out and pack every one."""
    import pymupdf

    if not page.rotation and not _heavy_pictures(page):
        yield page
        return
    with pymupdf.open() as document:
        document.insert_pdf(page.parent, from_page=page.number, to_page=page.number)
        copy = document[0]
        if page.rotation:
            copy.set_rotation(page.rotation)
            copy.remove_rotation()
        for xref, pixels in _heavy_pictures(copy).items():
            small = pymupdf.Pixmap(document, xref)
            small.shrink(int(log2(pixels / _HEAVY) / 2 + 1))
            copy.replace_image(xref, pixmap=small)
        yield copy


def _heavy_pictures(page: pymupdf.Page) -> dict[int, int]:
    """Pixels of every picture that costs much to pack, by its number in the file."""
    return {
        xref: width * height
        for xref, _, width, height, *_, coding, _ in page.get_images(full=True)
        if width * height > _HEAVY and coding not in _PACKED
    }


def _cells(table: Any) -> list[Cell]:
    """Cells of a PyMuPDF table, whose rows leave out what a span from above or left covers."""
    from hsd_docparse.sources.text_layer import clean_text

    cells: list[Cell] = []
    taken: set[tuple[int, int]] = set()
    for row, placed in enumerate(table.placements):
        column = 0
        for span in placed:
            while (row, column) in taken:
                column += 1
            text = clean_text(join_texts((span.text or "").splitlines()))
            box = Box(*map(float, span.bbox or (0, 0, 0, 0)))
            cells.append(Cell(row, column, box, span.rowspan, span.colspan, text))
            taken |= cells[-1].slots()
    return cells
