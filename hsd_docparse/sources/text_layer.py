"""The text layer of a PDF page as lines, and a verdict on whether it can be trusted.

PDF knows no lines: it places glyphs. A `Line` here is what a reader would call one: glyphs
on a common baseline with no gap wider than a cell gap, so that the cells of a table row are
separate lines and the words of a justified row are not.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from itertools import groupby

import pymupdf

from hsd_docparse.document import Box, Line
from hsd_docparse.sources import TextLayer
from hsd_docparse.sources.annotations import read_notes
from hsd_docparse.sources.check_boxes import with_check_boxes
from hsd_docparse.sources.drawn_bullets import with_drawn_bullets
from hsd_docparse.sources.glyphs import Frame, Glyph, Run, is_rtl, mark_doubled, read_runs
from hsd_docparse.sources.list_boxes import with_list_boxes
from hsd_docparse.sources.painting import painting_order
from hsd_docparse.sources.text_layer_check import check_text_layer

CELL_GAP = 1.2
"""Gap, in font sizes, from which two pieces of a row are two cells."""
_JUSTIFIED_GAP = 1.8  # the same where every word gap of the row is as wide
_JOIN_GAP = 0.9  # pieces that the file writes one after the other
_STACKED = 1.0  # overlap of what follows a subscript that stands under a superscript
_WORD_GAP = 0.35  # pieces from different places of the file
_SPACE = 0.15  # gap that reads as a space
_TEXT_FIELD = pymupdf.mupdf.PDF_WIDGET_TYPE_TEXT
_COMB_FLAG = 1 << 24  # PDF 1.7, table 228
_TO_THE_RIGHT = Frame(1, 0, vertical=False)
_LEADERS = frozenset(".…·_‥")

_SYMBOL_BULLETS = {
    0xF0B7: "•",
    0xF0A7: "▪",
    0xF0A8: "◻",
    0xF06E: "■",
    0xF06C: "●",
    0xF0D8: "➢",
    0xF0FC: "✓",
    0xF0FE: "☑",
    0xF02D: "-",
    0xF0E0: "→",
    0xF0AE: "→",
}
_UNSEEN = {0x200B: None, 0x2060: None, 0xFEFF: None, 0xFFFE: None, 0xFFFF: None}
_TRANSLATION: dict[int, str | None] = {
    **_SYMBOL_BULLETS,
    **_UNSEEN,
    **{code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if not chr(code).isspace()},
}
_COMPATIBILITY = re.compile("[\ufb00-\ufb4f\ufb50-\ufdff\ufe70-\ufefc\u2f00-\u2fdf]")
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_CHECK_BOX = re.compile(r"([☐☑☒])(?=\w)")
_SOFT_HYPHEN = re.compile("\u00ad(?=.)")


@dataclass(slots=True)
class _Piece:
    """Glyphs of one row without a cell gap, in logical order, without the spaces at the ends."""

    frame: Frame
    glyphs: list[Glyph]
    slanted: Box | None = None
    space_before: bool = False
    space_after: bool = False
    u0: float = field(init=False)
    u1: float = field(init=False)
    v: float = field(init=False)
    size: float = field(init=False)
    rtl: bool = field(init=False)

    def __post_init__(self) -> None:
        self.u0 = min(glyph.u0 for glyph in self.glyphs)
        self.u1 = max(glyph.u1 for glyph in self.glyphs)
        # Superscripts are smaller and stand above the baseline of their line.
        self.size = _most_common([glyph.style.size for glyph in self.glyphs])
        self.v = _most_common([glyph.v for glyph in self.glyphs])
        self.rtl = sum(is_rtl(glyph.char) for glyph in self.glyphs) * 2 > len(self.glyphs)

    def gap(self, other: _Piece) -> float:
        """Distance along the row in font sizes, negative where the two overlap."""
        size = max(self.size, other.size, 1e-6)
        return (max(self.u0, other.u0) - min(self.u1, other.u1)) / size

    def on_row_of(self, other: _Piece) -> bool:
        """Whether both stand on one baseline, or one is a super- or subscript of the other."""
        small, large = sorted((self.size, other.size))
        reach = 0.2 if small > 0.8 * large else 0.5
        return abs(self.v - other.v) < reach * large and small > 0.4 * large

    def absorb(self, other: _Piece) -> None:
        """Join ``other`` at the end of this piece that it touches."""
        first, second = (self, other) if (other.u0 >= self.u0) != self.rtl else (other, self)
        glyphs = list(first.glyphs)
        if first.space_after or second.space_before or self.gap(other) > _SPACE:
            edge = first.u0 if self.rtl else first.u1
            glyphs.append(Glyph(" ", edge, edge, self.v, self.glyphs[0].style))
        self.glyphs = glyphs + second.glyphs
        self.space_before, self.space_after = first.space_before, second.space_after
        self.__post_init__()


def read_text_layer(page: pymupdf.Page, runs: list[Run] | None = None) -> TextLayer:
    """Lines of ``page`` in the order of the file; boxes reach from ascender to descender.

    Text that the reader cannot see (invisible, covered by a picture, outside the page) is
    left out of a sane layer and kept in one that has a problem. ``runs`` are the glyphs of
    `read_runs` where the caller has them already.
    """
    runs = read_runs(page) if runs is None else runs
    mark_doubled(runs)
    pieces = _join([piece for run in runs if run.glyphs for piece in _split(run)])
    found = [(line, piece) for piece in pieces if (line := _line(piece)).text]
    pairs = _join_combs(page, [(line, piece.glyphs) for line, piece in found])
    painted = painting_order(page)
    verdict = check_text_layer(page, pairs, painted)
    lines = [
        line
        for (line, _), hidden in zip(pairs, verdict.hidden, strict=True)
        if verdict.problem is not None or not hidden
    ]
    if verdict.problem is None:
        for line in lines:
            # Icons: glyphs of symbol fonts that stand for no character.
            line.text = _PRIVATE.sub("", line.text).strip()
        lines = with_check_boxes(page, [line for line in lines if line.text])
        lines = with_list_boxes(page, lines)
        lines = with_drawn_bullets(lines, painted)
    written = [
        (line, piece.glyphs)
        for line, piece in found
        if piece.slanted is None and piece.frame == _TO_THE_RIGHT
    ]
    return TextLayer(lines, verdict.problem, runs, written, read_notes(page), painted, page)


def _split(run: Run) -> list[_Piece]:
    """Cut a run at cell gaps; the parts are in reading order."""
    if run.slanted is not None:
        return _pieces(run, [run.glyphs])
    inked = sorted((g for g in run.glyphs if not g.char.isspace()), key=lambda g: g.u0)
    if not inked:
        return []
    gaps: list[tuple[float, float]] = []  # width in font sizes, place
    end, last = inked[0].u1, inked[0]
    for glyph in inked[1:]:
        size = max(min(glyph.style.size, last.style.size), 1e-6)
        # A dotted line leads the eye to the page number: it belongs to both sides.
        leads = glyph.char in _LEADERS or last.char in _LEADERS
        width = (glyph.u0 - end) / size / (4 if leads else 1)
        if width > _SPACE:
            gaps.append((width, (glyph.u0 + end) / 2))
        if glyph.u1 > end:
            end, last = glyph.u1, glyph
    widths = sorted(width for width, _ in gaps)
    limit = CELL_GAP
    if len(widths) >= 4:
        limit = min(max(limit, 1.4 * widths[len(widths) // 2]), _JUSTIFIED_GAP)
    cuts = [place for width, place in gaps if width > limit]
    if not cuts:
        return _pieces(run, [run.glyphs])
    parts: list[list[Glyph]] = [[] for _ in range(len(cuts) + 1)]
    for glyph in run.glyphs:
        middle = (glyph.u0 + glyph.u1) / 2
        parts[sum(place < middle for place in cuts)].append(glyph)
    pieces = _pieces(run, parts)
    if sum(piece.rtl for piece in pieces) * 2 > len(pieces):
        pieces.reverse()
    return pieces


def _pieces(run: Run, parts: list[list[Glyph]]) -> list[_Piece]:
    pieces = []
    for part in parts:
        inked = [index for index, glyph in enumerate(part) if not glyph.char.isspace()]
        if inked:
            first, last = inked[0], inked[-1]
            glyphs = part[first : last + 1]
            spaces = first > 0, last < len(part) - 1
            pieces.append(_Piece(run.frame, glyphs, run.slanted, *spaces))
    return pieces


def _join(pieces: list[_Piece]) -> list[_Piece]:
    """Put together what the file breaks inside a row: at kerns, font changes, jumps."""
    joined: list[_Piece] = []
    rows: dict[tuple[int, int, int], list[_Piece]] = defaultdict(list)
    for piece in pieces:
        if piece.slanted is None:
            target = _neighbour(piece, joined, rows)
            if target is not None:
                target.absorb(piece)
                continue
            rows[_row_key(piece)].append(piece)
        joined.append(piece)
    return joined


def _row_key(piece: _Piece) -> tuple[int, int, int]:
    return piece.frame.dx, piece.frame.dy, round(piece.v / max(piece.size, 1e-6))


def _neighbour(
    piece: _Piece, joined: list[_Piece], rows: dict[tuple[int, int, int], list[_Piece]]
) -> _Piece | None:
    """The piece that ``piece`` continues, or None."""
    if joined:
        last = joined[-1]
        if (
            last.slanted is None
            and last.frame == piece.frame
            and last.on_row_of(piece)
            and -_STACKED < last.gap(piece) < _JOIN_GAP
        ):
            return last
    dx, dy, row = _row_key(piece)
    for key in (row, row - 1, row + 1):
        for other in rows.get((dx, dy, key), ()):
            if other.frame == piece.frame and abs(other.v - piece.v) < 0.1 * piece.size:
                alike = min(other.size, piece.size) > 0.8 * max(other.size, piece.size)
                if alike and -0.1 < other.gap(piece) < _WORD_GAP:
                    return other
    return None


def _logical_words(glyphs: list[Glyph]) -> list[Glyph]:
    """Words of a right-to-left line from right to left, left-to-right phrases inside it from
    left to right. Files that place every word by itself come in any other order."""
    words: list[list[Glyph]] = [[]]
    for glyph in glyphs:
        if glyph.char.isspace():
            words.append([])
        else:
            words[-1].append(glyph)
    placed = [
        ((min(g.u0 for g in word) + max(g.u1 for g in word)) / 2, word) for word in words if word
    ]
    places = [place for place, word in placed if _has_rtl(word)]
    if places == sorted(places, reverse=True):
        return glyphs
    placed.sort(key=lambda item: item[0], reverse=True)
    ordered: list[Glyph] = []
    for rtl, group in groupby((word for _, word in placed), key=_has_rtl):
        phrase = list(group)
        for word in phrase if rtl else reversed(phrase):
            ordered += [*word, replace(word[-1], char=" ")]
    return ordered[:-1]


def _has_rtl(word: list[Glyph]) -> bool:
    return any(is_rtl(glyph.char) for glyph in word)


def _line(piece: _Piece) -> Line:
    glyphs = _logical_words(piece.glyphs) if piece.rtl else piece.glyphs
    inked = [glyph for glyph in glyphs if not glyph.char.isspace()] or glyphs
    if piece.slanted is not None:
        box = piece.slanted
    else:
        if piece.frame.vertical:
            tops = [glyph.v - glyph.style.size / 2 for glyph in inked]
            bottoms = [glyph.v + glyph.style.size / 2 for glyph in inked]
        else:
            tops = [glyph.v - glyph.style.ascent for glyph in inked]
            bottoms = [glyph.v + glyph.style.descent for glyph in inked]
        box = piece.frame.box(piece.u0, min(tops), piece.u1, max(bottoms))
    half = len(inked) / 2
    return Line(
        text=clean_text("".join(glyph.char for glyph in glyphs)),
        box=box,
        size=piece.size,
        bold=sum(glyph.style.bold or glyph.doubled for glyph in inked) > half,
        mono=sum(glyph.style.mono for glyph in inked) > half,
    )


def clean_text(text: str) -> str:
    """One line of text as a reader would type it: compatibility forms and symbol-font bullets
    resolved, white space single, control characters gone. A soft hyphen is a hyphen at the
    end of the line, where it shows, and nothing elsewhere."""
    text = without_surrogates(text)
    text = _COMPATIBILITY.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    text = " ".join(text.translate(_TRANSLATION).split())
    text = _CHECK_BOX.sub(r"\1 ", text)
    return _SOFT_HYPHEN.sub("", text).replace("\u00ad", "-")


def without_surrogates(text: str) -> str:
    """``text`` as it can be written: pairs of surrogates are a character, others none."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _most_common(values: list[float]) -> float:
    if len(set(values)) == 1:
        return values[0]
    return Counter(round(value, 2) for value in values).most_common(1)[0][0]


def _join_combs(
    page: pymupdf.Page, pairs: list[tuple[Line, list[Glyph]]]
) -> list[tuple[Line, list[Glyph]]]:
    """A comb field shows one letter a cell: its letters are one word."""
    combs = [
        _shown_box(widget.rect, page)
        for widget in page.widgets(types=[_TEXT_FIELD])
        if (widget.field_flags or 0) & _COMB_FLAG
    ]
    for comb in combs:
        inside = [pair for pair in pairs if pair[0].box.overlap(comb) > 0.5 * pair[0].box.area]
        if len(inside) < 2:
            continue
        inside.sort(key=lambda pair: pair[0].box.x0)
        first, glyphs = inside[0][0], [glyph for pair in inside for glyph in pair[1]]
        for line, _ in inside[1:]:
            first.text += line.text
            first.box = first.box.union(line.box)
        pairs = [
            (line, glyphs if line is first else own)
            for line, own in pairs
            if line is first or all(line is not other for other, _ in inside)
        ]
    return pairs


def _shown_box(rect: pymupdf.Rect, page: pymupdf.Page) -> Box:
    return Box(*(rect * page.rotation_matrix).normalize())
