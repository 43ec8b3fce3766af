"""Formulas within the lines of a text layer as LaTeX, told from the words around them by their
fonts and by small glyphs that are raised or lowered, never by their meaning.

A formula holds something that is set in a font for mathematics. Digits, brackets and signs in the
font of the text belong to one where they touch it, or where a sign of operation or relation joins
them to it over a space. What is no formula that is known here stays as it was.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from hsd_docparse.draft.formula import FUNCTIONS, MARKS, SMALL, line_to_latex, spaced

if TYPE_CHECKING:
    from hsd_docparse.document import Box
    from hsd_docparse.sources.glyphs import Glyph

_MATHS_FONT = re.compile(
    r"(?:^|\+|[^A-Za-z])(?:cm(?:mi|sy|ex|bsy)|ms[ab]m|eu[frs][mb]\d|rsfs|stmary|esint"
    r"|bbm\d|dsrom|(?:new|n|r|p)?[tp]xb?(?:mi|sy|ex)|mt(?:mi|sy|ex)|[fm]dsymbol|mnsymbol)|math",
    re.IGNORECASE,
)
_OPEN_TYPE = re.compile("math", re.IGNORECASE)
"""Fonts that have all of a formula, and may serve for words, too: their upright letters are no
variables."""
_WORD_SPACE = 0.22
"""Font sizes; no space between words is narrower, and none within a product wider."""
_RAISED = 0.05
_CROOKED = 0.2
"""Font sizes off the base line: of a script, at least; of what stands on the line, at most."""
_SIGNS = frozenset("•∙∗†‡§¶⋆★∥‖⋄")
"""What is set in such fonts within words, too: bullets and the marks of footnotes."""
_SYMBOLS = frozenset("∂∇∞∀∃∅∆⊤⊥ℵ")
_OPERANDS = _SYMBOLS | frozenset("∑∏∫∮√")
"""What joins nothing over a space. The former stand for something, alone too."""
_BARS = frozenset("|∣")
_PREFIXES = frozenset("−±∓¬∼≈<>≤≥≪≫≃≅≲≳∝")
_TIGHT = frozenset("−±∓¬")
"""A formula may begin with them; the latter touch what they belong to."""
_OPENING, _CLOSING = "([", ")]"
_PUNCTUATION = frozenset(",.;:")
_NUMBER = re.compile(r"[−+±]?[\d.,/:]+")

_Role = Literal["text", "maths", "joining", "script"]


@dataclass(slots=True, eq=False)
class _Mark:
    """A glyph that shows. ``place``: its number among all; ``apart``: a space between words or the
    end of a line is before it."""

    glyph: Glyph
    place: int
    row: int
    role: _Role
    apart: bool

    @property
    def char(self) -> str:
        return self.glyph.char

    @property
    def is_digit(self) -> bool:
        return self.char.isascii() and self.char.isdigit()

    @property
    def is_bracket(self) -> bool:
        return self.role == "joining" and self.char in _OPENING + _CLOSING

    @property
    def is_operator(self) -> bool:
        if self.role not in ("maths", "joining") or self.char in _OPERANDS | _BARS | _SIGNS:
            return False
        return self.char in "·◦/\u0338" or unicodedata.category(self.char) == "Sm"


@cache
def is_maths(font: str) -> bool:
    """Whether the font of this name is for formulas."""
    return _MATHS_FONT.search(font) is not None


def with_formulas(rows: Sequence[Sequence[Glyph]], rules: Callable[[], Sequence[Box]]) -> list[str]:
    """The characters of consecutive lines, with LaTeX between dollars for their formulas; one that
    goes on in the next line stands whole where it begins. ``rules`` are thin horizontal lines
    that the page draws."""
    glyphs = [glyph for row in rows for glyph in row]
    written = [glyph.char for glyph in glyphs]
    for run in _formulas(_marked(rows)):
        parts = [
            line_to_latex([mark.glyph for mark in part], rules())
            for _, part in groupby(run, key=lambda mark: mark.row)
        ]
        if all(parts):
            first, last = run[0].place, run[-1].place
            written[first : last + 1] = [f"${spaced(parts)}$", *[""] * (last - first)]
    texts, start = [], 0
    for row in rows:
        texts.append("".join(written[start : start + len(row)]))
        start += len(row)
    return texts


def _marked(rows: Sequence[Sequence[Glyph]]) -> list[_Mark]:
    """The glyphs that show, each with what its font and its place say that it is."""
    sizes = Counter(glyph.style.size for row in rows for glyph in row)
    size = sizes.most_common(1)[0][0] if sizes else 0.0
    marks: list[_Mark] = []
    start = 0
    for number, row in enumerate(rows):
        bases = Counter(glyph.v for glyph in row if glyph.style.size > SMALL * size)
        base = bases.most_common(1)[0][0] if bases else float("inf")
        reach = float("-inf")
        style, wordy = None, False
        for place, glyph in enumerate(row, start):
            char = glyph.char
            if char.isspace():
                continue
            if glyph.style is not style:
                style = glyph.style
                wordy = style.size > SMALL * size and not is_maths(style.font)
            # Most glyphs are letters of words.
            role = "text" if wordy and char.isalpha() else _role(glyph, size, base)
            marks.append(_Mark(glyph, place, number, role, glyph.u0 - reach > _WORD_SPACE * size))
            reach = max(reach, glyph.u1)
        start += len(row)
    _settle(marks)
    return marks


def _role(glyph: Glyph, size: float, base: float) -> _Role:
    char, style = glyph.char, glyph.style
    off = abs(glyph.v - base)
    if char in "$\ufffd" or unicodedata.category(char)[0] == "C" or not style.painted:
        return "text"
    if style.size <= SMALL * size and off > _RAISED * size:
        return "script"
    if off > _CROOKED * size or style.mono:
        return "text"
    if char.isascii() and (char.isdigit() or char in "()[]+="):
        return "joining"
    if not is_maths(style.font):
        return "text"
    return "text" if char.isalpha() and not _is_variable(glyph) else "maths"


def _settle(marks: Sequence[_Mark]) -> None:
    """The roles of text that only its neighbours tell: names of functions, decimal points, and
    accents over variables. Scripts of words are text."""
    last: _Mark | None = None
    for i, mark in enumerate(marks):
        char = mark.char
        if mark.role == "text":
            after = marks[i + 1] if i + 1 < len(marks) else None
            if (char in ".," and _is_point(last, mark, after)) or (
                char in MARKS and _is_over(mark, last, after)
            ):
                mark.role = "joining"
        elif not mark.apart and (mark.role in ("maths", "script") or char == "("):
            for letter in _function(marks, i):
                letter.role = "joining"
        if mark.role == "script" and (
            last is None
            or mark.apart
            or last.role == "text"
            or (last.is_bracket and last.char in _OPENING)
        ):
            mark.role = "text"
        last = mark


def _is_point(before: _Mark | None, mark: _Mark, after: _Mark | None) -> bool:
    """Whether ``mark`` stands within a number."""
    if before is None or after is None or mark.apart or after.apart:
        return False
    return all(other.is_digit and other.role == "joining" for other in (before, after))


def _is_over(mark: _Mark, *others: _Mark | None) -> bool:
    """Whether ``mark`` stands over a variable."""
    return any(
        other is not None and other.role == "maths" and _over(mark.glyph, other.glyph)
        for other in others
    )


def _over(accent: Glyph, letter: Glyph) -> bool:
    shared = min(accent.u1, letter.u1) - max(accent.u0, letter.u0)
    return shared > 0.5 * min(accent.u1 - accent.u0, letter.u1 - letter.u0)


def _function(marks: Sequence[_Mark], end: int) -> Sequence[_Mark]:
    """The letters of the text right before ``end`` where they are the name of a function."""
    start = end
    while start and marks[start - 1].role == "text" and marks[start - 1].char.isalpha():
        start -= 1
        if marks[start].apart:
            break
    name = marks[start:end]
    return name if "".join(mark.char for mark in name) in FUNCTIONS else ()


def _formulas(marks: Sequence[_Mark]) -> Iterator[list[_Mark]]:
    """What of ``marks`` are formulas. Those that turn out to be no part of one become text."""
    start = 0
    for is_text, group in groupby(marks, key=lambda mark: mark.role == "text"):
        stretch = list(group)
        end = start + len(stretch)
        if not is_text and any(is_maths(mark.glyph.style.font) for mark in stretch):
            around = marks[max(0, start - 1) : end + 1]
            while loose := [mark for run in _runs(around) for mark in _no_part(run, around)]:
                for mark in loose:
                    mark.role = "text"
            yield from _runs(around)
        start = end


def _runs(marks: Sequence[_Mark]) -> Iterator[list[_Mark]]:
    """Neighbours that are not text, without a space or with one beside an operator."""
    run: list[_Mark] = []
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        if run and (mark.role == "text" or (mark.apart and not _joins(run[-1], mark, after))):
            yield run
            run = []
        if mark.role != "text":
            run.append(mark)
    if run:
        yield run


def _joins(before: _Mark, mark: _Mark, after: _Mark | None) -> bool:
    if mark.row > before.row + 1:
        return False  # between them is a line of which the glyphs are not known
    lone = before.char in _BARS and before.role == "maths" and before.apart
    bar = mark.char in _BARS and mark.role == "maths" and after is not None and after.apart
    return lone or bar or before.is_operator or mark.is_operator


def _no_part(run: Sequence[_Mark], marks: Sequence[_Mark]) -> list[_Mark]:
    """What of ``run`` cannot be part of a formula, if anything."""
    first, last = run[0], run[-1]
    tight = first.char in _TIGHT and len(run) > 1 and run[1].apart
    if (
        first.role == "script"
        or (first.is_operator and (first.char not in _PREFIXES or tight))
        or first.char in _PUNCTUATION
    ):
        return [first]
    if last.role != "script" and (last.is_operator or last.char in _PUNCTUATION):
        return [last]
    pairs = _pairs(run)
    if loose := [m for m in run if m.is_bracket and m not in pairs and m not in pairs.values()]:
        return loose
    position = marks.index(first)
    before = marks[position - 1] if position else None
    after = marks[position + len(run)] if position + len(run) < len(marks) else None
    glued_before = before is not None and not first.apart and before.char.isalnum()
    glued_after = after is not None and not after.apart and after.char.isalnum()
    commas = any(mark.char == "," and mark.role == "maths" for mark in run)
    if pairs.get(first) is last and (glued_before or not commas):
        return [first, last]
    if glued_before and first.is_digit:
        return [first]
    if glued_after and last.is_digit and last.role == "joining":
        return [last]
    return [] if _is_formula(run) else list(run)


def _pairs(run: Sequence[_Mark]) -> dict[_Mark, _Mark]:
    """The closing bracket of each opening one; those of an interval may be unlike."""
    pairs: dict[_Mark, _Mark] = {}
    opened: list[_Mark] = []
    for mark in run:
        if mark.is_bracket and mark.char in _OPENING:
            opened.append(mark)
        elif mark.is_bracket and opened:
            pairs[opened.pop()] = mark
    return pairs


def _is_formula(run: Sequence[_Mark]) -> bool:
    """Whether something in ``run`` is said by its font to be mathematics, and is no number."""
    maths = [mark for mark in run if is_maths(mark.glyph.style.font)]
    if any(mark.char in _SYMBOLS or _is_variable(mark.glyph) for mark in maths):
        return True
    if not any(mark.is_digit for mark in run) or _NUMBER.fullmatch("".join(m.char for m in run)):
        return False
    enclosed = run[0].is_bracket
    return any(
        mark.char not in _SIGNS
        and not mark.is_digit
        and (enclosed or mark.char not in _PUNCTUATION)
        for mark in maths
    )


def _is_variable(glyph: Glyph) -> bool:
    """Whether the glyph, of a font for mathematics, is a letter that stands for something."""
    char, style = glyph.char, glyph.style
    if not char.isalpha():
        return False
    if char.isascii():
        return style.italic or not _OPEN_TYPE.search(style.font)
    return "\u0370" <= char <= "\u03ff" or "\u2100" <= char <= "\u214f" or char >= "\U0001d400"
