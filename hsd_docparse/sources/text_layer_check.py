"""Can the text layer of a page be trusted, and which of its lines does a reader see?

A PDF stores what to paint and, beside it, what the paint means; nothing keeps the two
together. The checks below compare the text with the list of painted objects, which MuPDF
gives without decoding a picture, and with the plausibility of the characters themselves.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import pymupdf

from hsd_docparse.confidence import is_meaningless
from hsd_docparse.document import Box, Line
from hsd_docparse.sources.glyphs import Glyph
from hsd_docparse.sources.painting import Painted
from hsd_docparse.wording import counted

GARBLED_SHARE = 0.10
"""Share of characters without a meaning from which the whole layer is given up."""
HIDDEN_SHARE = 0.30
"""Share of characters that nobody sees from which the layer is taken for somebody's OCR."""
_PICTURE_SHARE = 0.80  # of the page, from which a picture is the page
_STAMP_SHARE = 0.02  # of the page, below which text on such a picture is a stamp
_TINY = 0.001  # of the page's longer side: smaller text is not meant for eyes
_FREQUENT = frozenset("etaoinsr")  # over half of the letters in languages of Latin script
_FREQUENT_SHARE = 0.36  # a third, if letters are drawn at random


class Verdict(NamedTuple):
    """``hidden`` has one entry for each line."""

    problem: str | None
    hidden: list[bool]


def check_text_layer(
    page: pymupdf.Page, lines: list[tuple[Line, list[Glyph]]], painted: Sequence[Painted]
) -> Verdict:
    """Judge the lines of ``page`` (each with its glyphs) by what it has ``painted``; all in units
    of the shown page."""
    sheet = Box(*page.rect)
    sizes = [sum(not glyph.char.isspace() for glyph in glyphs) for _, glyphs in lines]
    total = sum(sizes)
    if total == 0:
        return Verdict(_problem_of_no_text(painted, sheet), [False] * len(lines))

    reasons = _reasons_to_hide(page, lines, painted, sheet)
    hidden = [reason is not None for reason in reasons]
    shares = Counter[str]()
    for reason, size in zip(reasons, sizes, strict=True):
        if reason is not None:
            shares[reason] += size
    if shares and sum(shares.values()) > HIDDEN_SHARE * total:
        reason, _ = shares.most_common(1)[0]
        percent = round(100 * sum(shares.values()) / total)
        return Verdict(f"{percent} % of the text {reason}", hidden)

    seen = [pair for pair, is_hidden in zip(lines, hidden, strict=True) if not is_hidden]
    glyphs = [glyph for _, own in seen for glyph in own if not glyph.char.isspace()]
    problem = _problem_of_characters(glyphs, _unmapped_fonts(page))
    if problem is None and _picture_share(painted, sheet) > _PICTURE_SHARE:
        inked = sum(line.box.overlap(sheet) for line, _ in seen)
        if inked < _STAMP_SHARE * sheet.area:
            problem = (
                f"a picture fills the page beside no more than {counted(len(glyphs), 'character')}"
            )
    return Verdict(problem, hidden)


def _problem_of_no_text(painted: Sequence[Painted], sheet: Box) -> str | None:
    """A page without text is blank, or its text is in pictures or outlines."""
    # Rules are thinner than any letter; clips and invisible text paint nothing.
    drawn = (entry.box for entry in painted if entry.operator.startswith(("fill", "stroke")))
    if any(min(box.width, box.height) > 2 and box.overlap(sheet) > 0 for box in drawn):
        return "the page has pictures or drawings but no text"
    return None


def _reasons_to_hide(
    page: pymupdf.Page,
    lines: list[tuple[Line, list[Glyph]]],
    painted: Sequence[Painted],
    sheet: Box,
) -> list[str | None]:
    """Why a reader does not see a line, or None where he does."""
    covers, shown_text = _covers(page, painted, [line.box.center for line, _ in lines])
    fills = [entry.box for entry in painted if _is_fill(entry)]
    tiny = _TINY * max(sheet.width, sheet.height)
    reasons: list[str | None] = []
    for line, glyphs in lines:
        x, y = line.box.center
        inked = [glyph for glyph in glyphs if not glyph.char.isspace()] or glyphs
        reason: str | None = None
        if 2 * sum(glyph.style.painted for glyph in inked) < len(inked):
            reason = "is invisible"
        elif not _contains(sheet, x, y):
            reason = "lies outside the page"
        elif line.size < tiny:
            reason = "is too small to be seen"
        elif any(_contains(cover, x, y) for cover in covers) and not any(
            _contains(box, x, y) for box in shown_text
        ):
            reason = "lies under a picture"
        elif all(glyph.style.white for glyph in inked) and not any(
            _contains(box, x, y) for box in fills
        ):
            reason = "is white on white"
        reasons.append(reason)
    return reasons


def _covers(
    page: pymupdf.Page, painted: Sequence[Painted], places: Sequence[tuple[float, float]]
) -> tuple[list[Box], list[Box]]:
    """Opaque pictures painted over text, and the text that is not under one. Where no picture is
    on one of ``places``, there is nothing to ask."""
    first_text = next((i for i, entry in enumerate(painted) if _is_text(entry)), len(painted))
    pictures = {
        entry.box.expanded(1) for entry in painted[first_text:] if entry.operator == "fill-image"
    }
    if not any(_contains(picture, x, y) for picture in pictures for x, y in places):
        return [], []
    turn = page.rotation_matrix
    masked = {
        tuple(map(round, (pymupdf.Rect(image["bbox"]) * turn).normalize()))
        for image in page.get_image_info()
        if image["has-mask"]
    }
    covers: list[Box] = []
    shown: list[Box] = []
    # From the last object to the first: `covers` holds what is painted later.
    for entry in reversed(painted[first_text:]):
        box = entry.box
        if entry.operator == "fill-image" and tuple(map(round, box)) not in masked:
            covers.append(box.expanded(1))
        elif _is_text(entry) and not any(
            cover.overlap(box) > 0.9 * box.area > 0 for cover in covers
        ):
            shown.append(box.expanded(1))
    return covers, shown


def _is_text(entry: Painted) -> bool:
    return entry.operator in ("fill-text", "stroke-text", "clip-text", "clip-stroke-text")


def _is_fill(entry: Painted) -> bool:
    return entry.operator in ("fill-path", "fill-shade", "fill-image", "fill-imgmask")


def _contains(box: Box, x: float, y: float) -> bool:
    return box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1


def _picture_share(painted: Sequence[Painted], sheet: Box) -> float:
    """Share of the page that pictures fill; a scan may come in strips or tiles."""
    boxes = {entry.box for entry in painted if entry.operator in ("fill-image", "fill-imgmask")}
    return sum(box.overlap(sheet) for box in boxes) / max(sheet.area, 1e-9)


def _problem_of_characters(glyphs: list[Glyph], unmapped: set[str]) -> str | None:
    if not glyphs:
        return None
    chars = Counter(glyph.char for glyph in glyphs)
    meaningless = sum(count for char, count in chars.items() if is_meaningless(char))
    guessed = Counter(glyph.char for glyph in glyphs if glyph.style.font in unmapped)
    letters = sum(count for char, count in guessed.items() if char.isalnum())
    if letters < 0.6 * guessed.total() or not _spells_words(guessed, fewest=10):
        meaningless += guessed.total()
    if meaningless > GARBLED_SHARE * len(glyphs):
        percent = min(100, round(100 * meaningless / len(glyphs)))
        return f"{percent} % of the characters have no meaning"
    if not _spells_words(chars, fewest=200):
        return "the characters do not spell words"
    return None


def _spells_words(chars: Counter[str], *, fewest: int) -> bool:
    """Whether the Latin letters among ``chars`` are those that words are made of; letters
    moved along the alphabet, as a wrong character map gives them, are not. True where there
    are fewer than ``fewest`` of them."""
    latin = frequent = 0
    for char, count in chars.items():
        if char.isalpha() and (base := unicodedata.normalize("NFD", char)[0].lower()).isascii():
            latin += count
            frequent += count * (base in _FREQUENT)
    return latin < fewest or frequent >= _FREQUENT_SHARE * latin


def _unmapped_fonts(page: pymupdf.Page) -> set[str]:
    """Embedded TrueType fonts that say neither their encoding nor what their codes mean: the
    reader library can only guess, and subset fonts number their glyphs as they come."""
    names: set[str] = set()
    for xref, extension, kind, name, *_ in page.get_fonts():
        if kind != "TrueType" or extension == "n/a":
            continue
        keys = page.parent.xref_get_keys(xref)
        if "ToUnicode" not in keys and "Encoding" not in keys:
            names.add(name.partition("+")[2] or name)
    return names
