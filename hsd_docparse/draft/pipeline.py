"""From an open page to its draft: lines, layout, tables, order."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, partial
from statistics import median
from typing import TYPE_CHECKING

from hsd_docparse.confidence import of_regions
from hsd_docparse.document import FLOWING, FURNITURE, Box, Kind, Line, Page, Region
from hsd_docparse.draft.formula import to_latex
from hsd_docparse.draft.inline_formulas import is_maths, with_formulas
from hsd_docparse.draft.joining import join_lines, join_texts
from hsd_docparse.draft.layout import find_blocks
from hsd_docparse.draft.line_breaks import join_paragraph
from hsd_docparse.draft.lists import complete_lists
from hsd_docparse.draft.notes import with_notes
from hsd_docparse.draft.orientation import turned
from hsd_docparse.draft.paragraphs import font_size
from hsd_docparse.draft.pictures import find_picture_blocks, scaled, with_pictures
from hsd_docparse.draft.reading_order import reading_order
from hsd_docparse.draft.structure import build_regions

if TYPE_CHECKING:
    from PIL import Image

    from hsd_docparse.draft.ocr import PageReading
    from hsd_docparse.sources import SourcePage, TextLayer

_PROSE: frozenset[Kind] = FLOWING | {"title", "heading", "caption", "footnote"}
"""What may have formulas within its lines. In tables they stay as they are."""
_RULE = 2.5
"""Points; the bar of a fraction is thinner and longer."""


def draft_page(page: SourcePage, *, dpi: float = 150) -> Page:
    """What the layout pipeline reads on ``page``: its text layer where that is sane, and else
    what OCR sees at ``dpi``. Regions are in reading order. Raises `PageError`."""
    from hsd_docparse.draft.ocr import read_page

    draft = Page(page.number, page.width, page.height, rotation=page.turn)
    reading: PageReading | None = None
    latex = rules = None
    layer = page.text_layer()
    if layer is not None and layer.lines and layer.problem is None and layer.page is not None:
        twice = any(glyph.doubled for run in layer.runs for glyph in run.glyphs)
        blocks = find_blocks(layer.page, with_cells=True, printed_twice=twice)
        rules = cache(partial(_rules, layer))
        latex = _latex_writer(layer, rules)
        lines, blocks = with_pictures(page, layer, blocks, dpi)
    else:
        if layer is not None and layer.problem is not None:
            draft.warnings.append(f"Text layer ignored: {layer.problem}; the page was read by OCR.")
        picture = page.render(dpi)
        factor = page.width / picture.width
        reading = read_page(picture)
        blocks = [b.scaled(factor) for b in find_picture_blocks(reading.image, reading.lines)]
        lines = [scaled(line, factor) for line in reading.lines]
        if reading.rotation:
            draft.rotation = (page.turn + reading.rotation) % 360
            draft.width, draft.height = (side * factor for side in reading.image.size)
        draft.warnings += reading.warnings
    regions = build_regions(lines, blocks, draft.width, draft.height, latex)
    draft.regions = _ordered(regions, draft.height)
    complete_lists(draft.regions)
    if layer is not None and rules is not None:
        _write_inline(draft.regions, layer, rules)
    if layer is not None and draft.rotation == page.turn:
        draft.regions = with_notes(draft.regions, layer.notes)
    draft.confidence = of_regions(draft.regions)
    if reading is not None and reading.vertical:
        _stand_up(draft)
        draft.rotation = page.turn
    return draft


def upright_picture(page: SourcePage, draft: Page, *, dpi: float = 150) -> Image.Image:
    """The picture of ``page`` that the boxes of ``draft`` are on. Raises `PageError`."""
    image = page.render(dpi)
    turn = (draft.rotation - page.turn) % 360
    return turned(image, turn) if turn else image


def _latex_writer(
    layer: TextLayer, rules: Callable[[], Sequence[Box]]
) -> Callable[[Sequence[Line]], str]:
    """Writes the formula in some lines of a page from its glyphs and the rules that it draws;
    nothing where not every letter and digit of the lines is among those glyphs."""

    def write(lines: Sequence[Line]) -> str:
        text = "".join(line.text for line in lines)
        latex, characters = to_latex(layer.runs, [line.box for line in lines], rules())
        return latex if _letters(characters) == _letters(text) else ""

    return write


def _write_inline(
    regions: Sequence[Region], layer: TextLayer, rules: Callable[[], Sequence[Box]]
) -> None:
    """Write the formulas within the text of ``regions`` as LaTeX between dollars. Lines that are
    not what their glyphs say keep their text, and so do regions that are not their lines."""
    from hsd_docparse.sources.text_layer import clean_text

    written = {id(line): row for line, row in layer.written}
    for region in regions:
        rows = [written.get(id(line), ()) for line in region.lines]
        fonts = {glyph.style.font for row in rows for glyph in row}
        if region.kind not in _PROSE or not any(map(is_maths, fonts)):
            continue
        broken = "\n" in region.text
        if region.text != (join_paragraph if broken else join_lines)(region.lines):
            continue
        plain = [clean_text("".join(glyph.char for glyph in row)) for row in rows]
        same = [line.text == text for line, text in zip(region.lines, plain, strict=True)]
        rows = [row if known else () for row, known in zip(rows, same, strict=True)]
        texts = [
            clean_text(text) if known else line.text
            for line, text, known in zip(
                region.lines, with_formulas(rows, rules), same, strict=True
            )
        ]
        for line, text in zip(region.lines, texts, strict=True):
            line.latex = text if text != line.text else None
        region.text = join_paragraph(region.lines, texts) if broken else join_texts(texts)


def _rules(layer: TextLayer) -> list[Box]:
    """Thin horizontal lines that the page draws."""
    return [
        entry.box
        for entry in layer.painted
        if entry.operator in ("fill-path", "stroke-path")
        and entry.box.height < _RULE < entry.box.width
    ]


def _letters(text: str) -> list[str]:
    return sorted(filter(str.isalnum, unicodedata.normalize("NFKD", text)))


def _stand_up(draft: Page) -> None:
    """Boxes of a page that was laid down for its vertical lines, on the page as it stands."""
    width = draft.height

    def standing(box: Box) -> Box:
        return Box(width - box.y1, box.x0, width - box.y0, box.x1)

    for region in draft.regions:
        region.box = standing(region.box)
        for line in region.lines:
            line.box = standing(line.box)
    draft.width, draft.height = draft.height, draft.width


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
