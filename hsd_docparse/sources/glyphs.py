"""The glyphs of a PDF page, each in the frame of its own writing direction.

A glyph has an extent ``u0..u1`` along the direction in which its line is written and a
baseline ``v`` across it, so that horizontal, vertical and turned text are put together by
the same code. Coordinates are page units of the page as it is shown.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pymupdf

from hsd_docparse.document import Box

# Ligatures are expanded by leaving TEXT_PRESERVE_LIGATURES out.
EXTRACTION_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE

_BOLD = re.compile(r"bold|black|heavy|demi(?!o)|[-,]bd\b|cmbx", re.IGNORECASE)
_ITALIC = re.compile(r"ital|obli|cmmi|lmmi", re.IGNORECASE)
_MONO = re.compile(r"mono(?!type)|courier|consol|menlo|typewriter|cmtt|sftt", re.IGNORECASE)
# Bits of a MuPDF character: 16 filled, 32 stroked, 64 clips what is painted after it.
_PAINTED = 16 | 32 | 64
_FILLED_OR_STROKED = 16 | 32
_FAKE_BOLD = 8
_UNSEEN = "\u200b\u2060\ufeff"
"""Characters without width, often in a font of next to no size."""
_WHITE = 250
_ACCENTS = {
    "`": "\u0300",
    "´": "\u0301",
    "^": "\u0302",
    "ˆ": "\u0302",
    "~": "\u0303",
    "˜": "\u0303",
    "¯": "\u0304",
    "˘": "\u0306",
    "˙": "\u0307",
    "¨": "\u0308",
    "˚": "\u030a",
    "˝": "\u030b",
    "ˇ": "\u030c",
    "¸": "\u0327",
    "˛": "\u0328",
}
_DOTLESS = {"ı": "i", "ȷ": "j"}


class Style(NamedTuple):
    """What the glyphs of one span share. ``ascent`` and ``descent`` are page units."""

    font: str
    size: float
    ascent: float
    descent: float
    bold: bool
    mono: bool
    painted: bool
    white: bool
    italic: bool = False


@dataclass(slots=True)
class Glyph:
    char: str
    u0: float
    u1: float
    v: float
    style: Style
    doubled: bool = False


@dataclass(slots=True)
class Frame:
    """Writing direction as a unit vector; ``v`` grows to the right of it (down, for text that
    runs to the right). ``vertical`` is set for vertical scripts, where ``v`` is the middle
    of the glyph."""

    dx: int
    dy: int
    vertical: bool

    def box(self, u0: float, v0: float, u1: float, v1: float) -> Box:
        """The rectangle between two corners of the frame, in page units."""
        xs = (u0 * self.dx - v0 * self.dy, u1 * self.dx - v1 * self.dy)
        ys = (u0 * self.dy + v0 * self.dx, u1 * self.dy + v1 * self.dx)
        return Box(min(xs), min(ys), max(xs), max(ys))


@dataclass(slots=True)
class Run:
    """Glyphs that the file writes on one line, in logical order. ``box`` is set for slanted
    text, which fits no frame."""

    frame: Frame
    glyphs: list[Glyph]
    slanted: Box | None = None


def read_runs(page: pymupdf.Page) -> list[Run]:
    """Every run of glyphs on the page in the order of the file, hidden ones included."""
    content = page.get_text("rawdict", flags=EXTRACTION_FLAGS)
    turn = page.rotation_matrix
    return [
        run
        for block in content["blocks"]
        for line in block.get("lines", ())
        if (run := _read_run(line, turn)).glyphs
    ]


def _read_run(line: dict[str, Any], turn: pymupdf.Matrix) -> Run:
    a, b, c, d, e, f = turn.a, turn.b, turn.c, turn.d, turn.e, turn.f
    dx, dy = line["dir"]
    dx, dy = dx * a + dy * c, dx * b + dy * d
    # Within two degrees of an axis: text on a slightly crooked baseline is ordinary text.
    upright = max(abs(dx), abs(dy)) > 0.9994
    frame = Frame(round(dx), round(dy), line["wmode"] == 1) if upright else Frame(1, 0, False)
    fx, fy = frame.dx, frame.dy
    glyphs: list[Glyph] = []
    slanted: Box | None = None
    for span in line["spans"]:
        style = _style(span)
        for char in span["chars"]:
            if char["c"] in _UNSEEN:
                continue
            x0, y0, x1, y1 = char["bbox"]
            x0, y0, x1, y1 = (
                x0 * a + y0 * c + e,
                x0 * b + y0 * d + f,
                x1 * a + y1 * c + e,
                x1 * b + y1 * d + f,
            )
            if not upright:
                box = Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
                slanted = box if slanted is None else slanted.union(box)
            u0, u1 = x0 * fx + y0 * fy, x1 * fx + y1 * fy
            if frame.vertical:
                v = ((x0 + x1) * -fy + (y0 + y1) * fx) / 2
            else:
                x, y = char["origin"]
                v = -(x * a + y * c + e) * fy + (x * b + y * d + f) * fx
            glyphs.append(Glyph(char["c"], min(u0, u1), max(u0, u1), v, style))
    return Run(frame, composed(logical_clusters(glyphs)), slanted)


def _style(span: dict[str, Any]) -> Style:
    size = span["size"]
    font = span["font"]
    flags = span["char_flags"]
    color = span["color"]
    # Fonts may declare a line height instead of the reach of their letters.
    ascent = min(max(span["ascender"], 0.70), 0.90) * size
    descent = min(max(-span["descender"], 0.15), 0.25) * size
    return Style(
        font=font,
        size=size,
        ascent=ascent,
        descent=descent,
        bold=bool(span["flags"] & pymupdf.TEXT_FONT_BOLD or flags & _FAKE_BOLD)
        or _BOLD.search(font) is not None,
        mono=bool(span["flags"] & pymupdf.TEXT_FONT_MONOSPACED) or _MONO.search(font) is not None,
        # Fully transparent text is hidden, except where it serves as a stencil for a fill.
        painted=bool(flags & _PAINTED)
        and (span["alpha"] > 0 or not flags & _FILLED_OR_STROKED or bool(flags & 64)),
        italic=bool(span["flags"] & pymupdf.TEXT_FONT_ITALIC) or _ITALIC.search(font) is not None,
        white=min(color >> 16 & 255, color >> 8 & 255, color & 255) >= _WHITE,
    )


def logical_clusters(glyphs: list[Glyph]) -> list[Glyph]:
    """Put the letters of right-to-left ligatures back in order.

    A glyph that stands for several letters gives the first its width and the others none, in
    logical order; turning a right-to-left line around as a whole leaves the widthless letters
    before the one that they follow.
    """
    ordered: list[Glyph] = []
    waiting: list[Glyph] = []
    for glyph in glyphs:
        if glyph.u1 - glyph.u0 < 1e-3 and is_rtl(glyph.char):
            waiting.append(glyph)
            continue
        follows = waiting and abs(waiting[-1].u0 - glyph.u1) < 0.05 * glyph.style.size
        if follows and is_rtl(glyph.char):
            ordered.append(glyph)
            ordered.extend(reversed(waiting))
        else:
            ordered.extend(waiting)
            ordered.append(glyph)
        waiting = []
    return ordered + waiting


def composed(glyphs: list[Glyph]) -> list[Glyph]:
    """Letters that the file builds of an accent and a letter below it, as old TeX fonts do."""
    if not any(glyph.char in _ACCENTS for glyph in glyphs):
        return glyphs
    whole: list[Glyph] = []
    for glyph in glyphs:
        last = whole[-1] if whole else None
        if last is not None and (joined := _accented(last, glyph) or _accented(glyph, last)):
            whole[-1] = joined
        else:
            whole.append(glyph)
    return whole


def _accented(accent: Glyph, letter: Glyph) -> Glyph | None:
    mark = _ACCENTS.get(accent.char)
    over = min(accent.u1, letter.u1) - max(accent.u0, letter.u0)
    if mark is None or not letter.char.isalpha() or over < 0.6 * (accent.u1 - accent.u0):
        return None
    base = _DOTLESS.get(letter.char, letter.char)
    char = unicodedata.normalize("NFC", base + mark)
    return replace(letter, char=char) if len(char) == 1 else None


def is_rtl(char: str) -> bool:
    """Whether ``char`` is a letter of a right-to-left script (Hebrew, Arabic...)."""
    return char >= "\u0590" and unicodedata.bidirectional(char) in ("R", "AL")


def mark_doubled(runs: list[Run]) -> None:
    """Mark glyphs that are printed again at (nearly) the same place: fake bold and shadows.

    The first print is kept and marked bold-looking by `Glyph.doubled`; the others are
    removed from their runs.
    """
    seen: dict[tuple[str, int, int, int, int], Glyph] = {}
    for run in runs:
        if run.slanted is not None:
            continue
        dx, dy = run.frame.dx, run.frame.dy
        kept: list[Glyph] = []
        for glyph in run.glyphs:
            size = glyph.style.size
            if glyph.char == " " or glyph.u1 - glyph.u0 < 1e-3 or size <= 0:
                kept.append(glyph)
                continue
            reach = 0.1 * size
            # Two points within `reach` always share one of the four cells around either.
            u, v = glyph.u0 / (2 * reach), glyph.v / (2 * reach)
            columns, rows = (int(u // 1), int(u // 1) + 1), (int(v // 1), int(v // 1) + 1)
            first = next(
                (
                    other
                    for i in columns
                    for j in rows
                    if (other := seen.get((glyph.char, dx, dy, i, j))) is not None
                    and abs(other.u0 - glyph.u0) < reach
                    and abs(other.v - glyph.v) < reach
                ),
                None,
            )
            if first is None:
                seen[glyph.char, dx, dy, round(u), round(v)] = glyph
                kept.append(glyph)
            elif first.style.painted or not glyph.style.painted:
                first.doubled = glyph.style.painted
            else:
                # The earlier print is invisible: what the reader sees is this one.
                first.style = glyph.style
        run.glyphs = kept
