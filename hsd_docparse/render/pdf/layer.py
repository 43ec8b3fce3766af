"""The invisible text of a page as a content stream.

Words stand level or upright on the page as its file shows it, each about the middle of its ink,
also where a page was scanned crooked: poppler ends a word where its baseline rises or falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin
from typing import TYPE_CHECKING

from hsd_docparse.document import Box, Line, Page, Region
from hsd_docparse.render.pdf.font import ADVANCE, DESCENT, GlyphlessFont
from hsd_docparse.render.pdf.placing import Word, place_words
from hsd_docparse.render.pdf.sheets import Sheet
from hsd_docparse.render.pdf.tags import Text
from hsd_docparse.sources.glyphs import is_rtl

if TYPE_CHECKING:
    import pikepdf

FONT = "/DocparseText"
_LINE = 0.02
"""Height of a line over that of its page, where nothing says how high it is."""


def write_layer(
    page: Page, said: Sequence[Sequence[Text]], sheet: Sheet, font: GlyphlessFont
) -> bytes:
    """``said`` are the texts of each region of ``page``. Texts with a path become marked content,
    numbered from 0."""
    placed = _placed(page, said)
    slope = page.rotation - _quarter(page)
    skew = _turned_back(slope, (page.width, page.height), _level(page, sheet))
    matrix = to_sheet(page, sheet)
    out = [b"q %s cm BT 3 Tr" % _numbers(*matrix.shorthand)]
    mark = 0
    for region, texts in enumerate(said):
        for number, text in enumerate(texts):
            if text.path:
                out.append(b"/%s <</MCID %d>> BDC" % (text.path[-1][0].encode(), mark))
                mark += 1
            else:
                out.append(b"/Artifact BMC")
            out += (_shown(word, skew, font) for word in placed.get((region, number), ()))
            out.append(b"EMC")
    return b"\n".join([*out, b"ET Q"])


def to_sheet(page: Page, sheet: Sheet) -> pikepdf.Matrix:
    """Places on the page where it is level or upright to those on its sheet."""
    shown = sheet.width, sheet.height
    return _turned_back(_quarter(page), _level(page, sheet), shown) @ sheet.matrix


def _quarter(page: Page) -> int:
    return round(page.rotation / 90) * 90


def _level(page: Page, sheet: Sheet) -> tuple[float, float]:
    """Size of the page where no more than a quarter turn parts it from its sheet."""
    width, height = sheet.width, sheet.height
    return (width, height) if _quarter(page) % 180 == 0 else (height, width)


def _turned_back(
    degrees: float, turned: tuple[float, float], size: tuple[float, float]
) -> pikepdf.Matrix:
    """Undoes a clockwise turn of a page of ``size``, which is ``turned`` now: its centre stays."""
    from pikepdf import Matrix

    c, s = cos(radians(degrees)), sin(radians(degrees))
    centred = Matrix(1, 0, 0, 1, -turned[0] / 2, -turned[1] / 2)
    return centred @ Matrix(c, -s, s, c, size[0] / 2, size[1] / 2)


def _placed(page: Page, said: Sequence[Sequence[Text]]) -> dict[tuple[int, int], list[Word]]:
    """The words of each text, by the number of its region and its own."""
    placed: dict[tuple[int, int], list[Word]] = {}
    for group in _sharing_lines(page.regions):
        owners = [(region, n) for region in group for n in range(len(said[region]))]
        words = [said[region][n].words for region, n in owners]
        first = page.regions[group[0]]
        lines = first.lines or [_line_for(" ".join(words), first.box, page)]
        for word in place_words(words, lines, ordered=first.kind != "table"):
            placed.setdefault(owners[word.span], []).append(word)
    return placed


def _sharing_lines(regions: Sequence[Region]) -> list[list[int]]:
    """Numbers of the regions: those that a target made of one region of the draft together, as
    only the first of them has its lines."""
    groups: list[list[int]] = []
    for number, region in enumerate(regions):
        if not region.lines:
            same = (group for group in groups if regions[group[0]].box == region.box)
            if group := next(same, None):
                group.append(number)
                continue
        groups.append([number])
    return groups


def _line_for(text: str, box: Box, page: Page) -> Line:
    """A line at the top of a box of which nobody knows the lines."""
    return Line(text, box._replace(y1=min(box.y1, box.y0 + _LINE * page.height)))


def _shown(word: Word, skew: pikepdf.Matrix, font: GlyphlessFont) -> bytes:
    """Operators that show ``word``, and the space behind it, as wide as their places."""
    box = _moved(word.box, skew)
    size = max(box.width if word.vertical else box.height, 0.1)
    width = max(box.height if word.vertical else box.width, 0.01)
    text = word.text[::-1] if any(map(is_rtl, word.text)) else word.text
    pieces = [(text, width)]
    x, y = box.x0, box.y1 - DESCENT * size
    turn = "1 0 0 -1"
    if word.vertical:
        turn, x, y = "0 1 1 0", box.x0 + DESCENT * size, box.y0
    if word.gap and word.right_to_left:
        pieces.insert(0, (" ", word.gap))
        x -= word.gap
    elif word.gap:
        pieces.append((" ", word.gap))
    out = b"%s %s Tf %s %s Tm" % (FONT.encode(), _numbers(size), turn.encode(), _numbers(x, y))
    for piece, wide in pieces:
        stretch = 100 * wide / (len(piece) * ADVANCE * size)
        out += b" %s Tz %s Tj" % (_numbers(stretch), font.encode(piece))
    return out


def _moved(box: Box, matrix: pikepdf.Matrix) -> Box:
    """``box`` about where ``matrix`` takes its centre."""
    x, y = matrix.transform(box.center)
    across, down = box.width / 2, box.height / 2
    return Box(x - across, y - down, x + across, y + down)


def _numbers(*values: float) -> bytes:
    return " ".join(f"{value:.4f}".rstrip("0").rstrip(".") for value in values).encode()
