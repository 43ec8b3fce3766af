"""Displayed formulas of a text layer as LaTeX, from where their glyphs stand.

What is small and raised is a superscript, what is small and lowered a subscript; what stands above
and below a big operator are its limits, and what stands above and below a rule is a fraction.
Nothing is guessed from meaning: a glyph without a name in LaTeX is written as it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from statistics import median_high
from typing import TYPE_CHECKING

from hsd_docparse.document import Box

if TYPE_CHECKING:
    from hsd_docparse.sources.glyphs import Glyph, Run

NAMES = {
    "±": "\\pm", "∓": "\\mp", "×": "\\times", "÷": "\\div", "·": "\\cdot", "⋅": "\\cdot",
    "∗": "*", "∘": "\\circ", "◦": "\\circ", "•": "\\bullet", "\u0338": "\\not",
    "⊕": "\\oplus", "⊗": "\\otimes", "∧": "\\wedge",
    "∨": "\\vee", "∩": "\\cap", "∪": "\\cup", "−": "-", "≤": "\\leq", "≥": "\\geq",
    "≠": "\\neq", "≈": "\\approx", "≡": "\\equiv", "∼": "\\sim", "≃": "\\simeq", "≅": "\\cong",
    "∝": "\\propto", "≪": "\\ll", "≫": "\\gg", "∈": "\\in", "∉": "\\notin", "∋": "\\ni",
    "⊂": "\\subset", "⊆": "\\subseteq", "⊃": "\\supset", "⊇": "\\supseteq", "∅": "\\emptyset",
    "→": "\\rightarrow", "←": "\\leftarrow", "↔": "\\leftrightarrow", "⇒": "\\Rightarrow",
    "⇐": "\\Leftarrow", "⇔": "\\Leftrightarrow", "↦": "\\mapsto", "∀": "\\forall",
    "∃": "\\exists", "¬": "\\neg", "∞": "\\infty", "∂": "\\partial", "∇": "\\nabla",
    "∑": "\\sum", "∏": "\\prod", "∫": "\\int", "∮": "\\oint", "⋃": "\\bigcup", "⋂": "\\bigcap",
    "⟨": "\\langle", "⟩": "\\rangle", "〈": "\\langle", "〉": "\\rangle", "⌊": "\\lfloor",
    "⌋": "\\rfloor", "⌈": "\\lceil", "⌉": "\\rceil", "∥": "\\|", "‖": "\\|", "∣": "|",
    "…": "\\ldots", "⋯": "\\cdots", "⋮": "\\vdots", "⋱": "\\ddots", "′": "'", "″": "''",
    "†": "\\dagger", "‡": "\\ddagger", "ℏ": "\\hbar", "ℓ": "\\ell", "ℜ": "\\Re", "ℑ": "\\Im",
    "ℵ": "\\aleph", "⊥": "\\perp", "∠": "\\angle", "√": "\\sqrt", "{": "\\{", "}": "\\}",
    "\\": "\\setminus", "∖": "\\setminus", "^": "\\wedge", "~": "\\sim",
    "%": "\\%", "#": "\\#", "&": "\\&", "$": "\\$", "_": "\\_", "ϵ": "\\epsilon",
    "ε": "\\varepsilon", "ϑ": "\\vartheta", "ϕ": "\\phi", "φ": "\\varphi", "ϱ": "\\varrho",
    "ς": "\\varsigma", "ϖ": "\\varpi", "µ": "\\mu", "Ω": "\\Omega", "∆": "\\Delta",
    "ℝ": "\\mathbb{R}", "ℕ": "\\mathbb{N}", "ℤ": "\\mathbb{Z}", "ℚ": "\\mathbb{Q}",
    "ℎ": "h", "ℂ": "\\mathbb{C}", "\ufffd": "\\square",
}  # fmt: skip
FUNCTIONS = frozenset({
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "det", "dim",
    "exp", "gcd", "hom", "inf", "ker", "lg", "lim", "liminf", "limsup", "ln", "log", "max", "min",
    "Pr", "sec", "sin", "sinh", "sup", "tan", "tanh",
})  # fmt: skip
_CAPITALS = frozenset(
    ["gamma", "delta", "theta", "lambda", "xi", "pi", "sigma", "upsilon", "phi", "psi", "omega"]
)
_GREEK = _CAPITALS | frozenset(
    ["alpha", "beta", "epsilon", "zeta", "eta", "iota", "kappa", "mu", "nu", "rho", "tau", "chi"]
)
"""What LaTeX has a command for; the others look like Latin letters."""
_STROKE = "\u0338"
_NEGATED = {"=": "\\neq", "\\in": "\\notin"}
"""What a stroke through a relation, which has no width, makes of it: ``\\not`` of others."""
_BIG = frozenset("∑∏∫∮⋃⋂⨁⨂⋁⋀\ufffd")
"""Operators with limits; those that the file gives no character for are most often such."""
_CROOKED = 0.35
"""Font sizes off the base line from which a glyph of full size is part of a second row."""
MARKS = {
    "^": "\\hat", "ˆ": "\\hat", "\u0302": "\\hat", "~": "\\tilde", "˜": "\\tilde",
    "\u0303": "\\tilde", "¯": "\\bar", "ˉ": "\\bar", "―": "\\bar", "‾": "\\bar",
    "\u0300": "\\grave", "\u0301": "\\acute", "\u0306": "\\breve", "\u0307": "\\dot",
    "\u0308": "\\ddot", "\u030a": "\\mathring", "\u030c": "\\check", "\u0304": "\\bar",
    "˙": "\\dot", "¨": "\\ddot", "ˇ": "\\check", "⃗": "\\vec",
}  # fmt: skip
"""What may stand over a letter."""
_DOTS = {".": "\\ldots", "·": "\\cdots", "⋅": "\\cdots"}
"""Three of them side by side."""
_LIMIT = frozenset({"argmax", "argmin", "lim", "liminf", "limsup", "max", "min", "sup", "inf"})
SMALL = 0.88
"""Size of a script over that of what it belongs to, at most."""
_FAR = 0.75
"""Font sizes above or below the base line from which a small glyph is a limit."""
_BOARD_FONT = re.compile("MSBM|BBM|DSROM", re.IGNORECASE)
_SCRIPT_FONT = re.compile("CMSY|CMBSY|EUS[MB]|RSFS", re.IGNORECASE)
_TAG = re.compile(r"\(\s*(\d{1,3}(?:\.\d{1,3})*[a-z]?)\s*\)")
_TAG_GAP = 1.2
"""Font sizes of white space before the number of an equation."""


class _UnknownShapeError(Exception):
    """Glyphs of full size side by side on different base lines."""


@dataclass
class _Piece:
    """A glyph, a word, or a group that is LaTeX already. ``base`` is its base line."""

    latex: str
    x0: float
    x1: float
    top: float
    bottom: float
    base: float
    size: float
    char: str = ""
    italic: bool = True

    @property
    def middle(self) -> tuple[float, float]:
        return (self.x0 + self.x1) / 2, (self.top + self.bottom) / 2


def to_latex(runs: Iterable[Run], boxes: Sequence[Box], rules: Iterable[Box]) -> tuple[str, str]:
    """LaTeX of the glyphs of ``runs`` in ``boxes``, and the characters that it is made of.

    ``rules`` are thin horizontal lines that the page draws. Several rows come as ``gathered``,
    numbered ones as ``gather*``. The LaTeX is empty where there are no upright glyphs, or where
    they stand as in no formula that is known here (matrices, cases).
    """
    whole = reduce(Box.union, boxes)
    inside = [
        _piece(glyph)
        for run in runs
        if run.slanted is None and (run.frame.dx, run.frame.vertical) == (1, False)
        for glyph in run.glyphs
        if _stands_in(glyph, whole, boxes)
        if glyph.style.painted and glyph.char.isprintable() and not glyph.char.isspace()
        if glyph.style.size > 2 and (glyph.u1 > glyph.u0 or glyph.char == _STROKE)
    ]
    characters = "".join(piece.char for piece in inside)
    inside = _accented(inside)
    if not inside:
        return "", ""
    around = Box(
        min(piece.x0 for piece in inside) - 3,
        min(piece.top for piece in inside) - 3,
        max(piece.x1 for piece in inside) + 3,
        max(piece.bottom for piece in inside) + 3,
    )
    bars = [rule for rule in rules if _holds(around, *rule.center) and rule.width < around.width]
    try:
        rows = [_tagged(row, bars) for row in _rows(inside, bars)]
    except _UnknownShapeError:
        return "", characters
    if len(rows) == 1:
        return rows[0], characters
    shape = "gather*" if any("\\tag" in row for row in rows) else "gathered"
    return f"\\begin{{{shape}}}" + " \\\\ ".join(rows) + f"\\end{{{shape}}}", characters


def line_to_latex(glyphs: Iterable[Glyph], rules: Iterable[Box]) -> str:
    """LaTeX of ``glyphs``, which show and are a formula within a line; nothing where they
    stand as in no formula that is known here."""
    pieces = _accented([_piece(glyph) for glyph in glyphs])
    left, right = min(piece.x0 for piece in pieces), max(piece.x1 for piece in pieces)
    top, bottom = min(piece.top for piece in pieces), max(piece.bottom for piece in pieces)
    bars = [
        rule
        for rule in rules
        if left - 1 < rule.x0 and rule.x1 < right + 1 and top < rule.center[1] < bottom
    ]
    try:
        return _row(pieces, bars)
    except _UnknownShapeError:
        return ""


def _stands_in(glyph: Glyph, whole: Box, boxes: Sequence[Box]) -> bool:
    y = glyph.v + (glyph.style.descent - glyph.style.ascent) / 2
    if not whole.y0 - 1 <= y <= whole.y1 + 1:
        return False  # nearly all of a page
    x = (glyph.u0 + glyph.u1) / 2
    return any(_holds(box, x, y) for box in boxes)


def _piece(glyph: Glyph) -> _Piece:
    style, char = glyph.style, glyph.char
    letter = char
    if char not in NAMES and ("\U0001d400" <= char <= "\U0001d7ff" or "\u2100" <= char <= "\u214f"):
        styled = unicodedata.normalize("NFKC", char)
        letter = styled if len(styled) == 1 else char
    alphabet = unicodedata.name(char, "") if letter != char else ""
    bold, italic = style.bold or "BOLD" in alphabet, style.italic or bool(alphabet)
    char = letter
    base, *marks = list(unicodedata.normalize("NFD", char))
    if len(marks) == 1 and marks[0] in MARKS and base.isascii():
        latex = f"{MARKS[marks[0]]}{{{base}}}"
    else:
        latex = NAMES.get(char) or _greek(char) or char
    if char.isascii() and char.isalpha():
        if _BOARD_FONT.search(style.font) or "DOUBLE-STRUCK" in alphabet:
            latex = f"\\mathbb{{{char}}}"
        elif "EUF" in style.font or "FRAKTUR" in alphabet or "BLACK-LETTER" in alphabet:
            latex = f"\\mathfrak{{{char}}}"
        elif _SCRIPT_FONT.search(style.font) or "SCRIPT" in alphabet:
            latex = f"\\mathcal{{{char}}}"
        elif bold:
            latex = f"\\mathbf{{{char}}}"
    top, bottom = glyph.v - style.ascent, glyph.v + style.descent
    special = latex != char
    return _Piece(
        latex, glyph.u0, glyph.u1, top, bottom, glyph.v, style.size, char, italic or special
    )


def _accented(pieces: list[_Piece]) -> list[_Piece]:
    """Letters with the marks over them, which are glyphs of their own."""
    letters = [piece for piece in pieces if piece.char not in MARKS]
    for mark in pieces:
        if mark.char not in MARKS:
            continue
        under = max(letters, key=lambda p: _shared(mark, p), default=None)
        if under is None or _shared(mark, under) < 0.5 * min(
            mark.x1 - mark.x0, under.x1 - under.x0
        ):
            letters.append(mark)
        else:
            under.latex = f"{MARKS[mark.char]}{{{under.latex}}}"
    return letters


def _shared(first: _Piece, second: _Piece) -> float:
    """Width that two pieces of one row share."""
    if abs(first.base - second.base) > 0.8 * max(first.size, second.size):
        return 0.0
    return min(first.x1, second.x1) - max(first.x0, second.x0)


def _greek(char: str) -> str:
    """``\\alpha`` for α; capitals that look like Latin ones have no name."""
    name = unicodedata.name(char, "")
    found = re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", name)
    word = found[2].lower().replace("lamda", "lambda") if found else ""
    if found and found[1] == "CAPITAL":
        return f"\\{word.capitalize()}" if word in _CAPITALS else ""
    return f"\\{word}" if word in _GREEK else ""


def _holds(box: Box, x: float, y: float) -> bool:
    return box.x0 - 1 <= x <= box.x1 + 1 and box.y0 - 1 <= y <= box.y1 + 1


def _rows(pieces: list[_Piece], bars: list[Box]) -> list[list[_Piece]]:
    """Pieces cut at every empty strip across, where both sides hold a glyph of full size and no
    bar joins them: limits stay with their operator, denominators with what they divide."""

    def hangs(piece: _Piece) -> bool:
        return any(
            bar.x0 - 1 < piece.middle[0] < bar.x1 + 1
            and abs(bar.center[1] - piece.top) < 0.5 * piece.size
            for bar in bars
        )

    large = SMALL * max((piece.size for piece in pieces if piece.char not in _BIG), default=0.0)
    rows: list[list[_Piece]] = []
    reach = float("-inf")
    for piece in sorted(pieces, key=lambda piece: piece.top):
        if rows and (piece.top < reach - 0.1 * piece.size or hangs(piece)):
            rows[-1].append(piece)
        else:
            rows.append([piece])
        reach = max(reach, piece.bottom)
    whole: list[list[_Piece]] = []
    waiting: list[_Piece] = []
    for row in rows:
        if all(piece.size < large for piece in row):
            near = whole and row[0].top - max(p.bottom for p in whole[-1]) < large
            if near:
                whole[-1] += row
            else:
                waiting += row
        else:
            whole.append([*waiting, *row])
            waiting = []
    if waiting:
        whole = [*whole[:-1], [*whole[-1], *waiting]] if whole else [waiting]
    return whole


def _tagged(pieces: list[_Piece], bars: list[Box]) -> str:
    """A row, the number of its equation as its ``\\tag``."""
    ordered = sorted(pieces, key=lambda piece: piece.x0)
    reach = ordered[0].x1
    for i, (before, piece) in enumerate(pairwise(ordered), 1):
        reach = max(reach, before.x1)
        number = _TAG.fullmatch("".join(piece.char for piece in ordered[i:]))
        if number and piece.x0 - reach > _TAG_GAP * piece.size:
            return f"{_row(ordered[:i], bars)} \\tag{{{number[1]}}}"
    return _row(ordered, bars)


def _row(pieces: list[_Piece], bars: list[Box]) -> str:
    for bar in sorted(bars, key=lambda bar: -bar.width):
        over = [p for p in pieces if bar.x0 - 1 < p.middle[0] < bar.x1 + 1]
        size = max((p.size for p in over), default=0.0)
        y = bar.center[1]
        above = [p for p in over if p.base < y + 0.1 * size and p.base > y - 2.5 * size]
        below = [p for p in over if p.middle[1] > y and p.base < y + 2.5 * size]
        inner = [other for other in bars if other is not bar]
        root = next(
            (p for p in pieces if p.char == "√" and abs(p.x1 - bar.x0) < 0.4 * p.size), None
        )
        if root is not None and below and not above:
            latex = f"\\sqrt{{{_row(below, inner)}}}"
            used = [root, *below]
            group = _group(latex, used, base=max(p.base for p in below))
        elif above and below:
            latex = f"\\frac{{{_row(above, inner)}}}{{{_row(below, inner)}}}"
            used = [*above, *below]
            group = _group(latex, used, base=y + 0.25 * size)
        else:
            continue
        rest = [p for p in pieces if all(p is not other for other in used)]
        return _row([*rest, group], inner)
    return _line(pieces)


def _group(latex: str, pieces: list[_Piece], base: float) -> _Piece:
    return _Piece(
        latex,
        min(p.x0 for p in pieces),
        max(p.x1 for p in pieces),
        min(p.top for p in pieces),
        max(p.bottom for p in pieces),
        base,
        max(p.size for p in pieces),
    )


def _line(pieces: list[_Piece]) -> str:
    """Pieces along one base line, with their scripts and limits."""
    if any(piece.char == "√" for piece in pieces):
        raise _UnknownShapeError  # a root whose bar was not found
    ordered = _dotted(_words(sorted(pieces, key=lambda piece: piece.x0)))
    full = [p for p in ordered if p.char not in _BIG] or ordered
    size = max(p.size for p in full)
    on_line = [p for p in full if p.size > SMALL * size]
    base = median_high(p.base for p in on_line)

    if any(abs(p.base - base) > _CROOKED * size for p in on_line if p.char):
        raise _UnknownShapeError

    def is_script(piece: _Piece) -> bool:
        if piece.char in _BIG:
            return False
        return piece.size <= SMALL * size and abs(piece.base - base) > 0.05 * size

    low = [p for p in ordered if is_script(p) and p.base > base + _FAR * size]
    high = [p for p in ordered if is_script(p) and p.base < base - _FAR * size]
    operators = [p for p in ordered if p.char in _BIG | _LIMIT and not is_script(p)]
    limits: dict[int, tuple[list[_Piece], list[_Piece]]] = {id(p): ([], []) for p in operators}
    taken: set[int] = set()
    for side, far in enumerate((low, high)):
        for cluster in _clusters(far, 0.6 * size):
            middle = (cluster[0].x0 + cluster[-1].x1) / 2
            owner = min(operators, key=lambda p: abs(p.middle[0] - middle), default=None)
            if owner is not None and abs(owner.middle[0] - middle) < size:
                limits[id(owner)][side].extend(cluster)
                taken |= {id(p) for p in cluster}
    parts: list[str] = []
    scripts: list[_Piece] = []

    def close() -> None:
        down = [p for p in scripts if p.base > base]
        up = [p for p in scripts if p.base <= base]
        for mark, group in (("_", down), ("^", up)):
            if group:
                inner = _line(group)
                prime = mark == "^" and set(inner) == {"'"}
                parts.append(inner if prime else f"{mark}{{{inner}}}")
        scripts.clear()

    for piece in ordered:
        if id(piece) in taken:
            continue
        if is_script(piece):
            if not parts:
                parts.append("{}")  # what hangs before its letter
            scripts.append(piece)
            continue
        close()
        if parts and parts[-1] == NAMES[_STROKE] and piece.latex in _NEGATED:
            parts[-1] = _NEGATED[piece.latex]
        else:
            parts.append(piece.latex)
        for mark, group in zip("_^", limits.get(id(piece), ([], [])), strict=True):
            if group:
                parts.append(f"{mark}{{{_line(group)}}}")
    close()
    return spaced(parts)


def _clusters(pieces: list[_Piece], gap: float) -> list[list[_Piece]]:
    clusters: list[list[_Piece]] = []
    for piece in pieces:
        if clusters and piece.x0 - clusters[-1][-1].x1 < gap:
            clusters[-1].append(piece)
        else:
            clusters.append([piece])
    return clusters


def _words(pieces: list[_Piece]) -> list[_Piece]:
    """Upright letters side by side as one name: a function, an operator or a word."""
    joined: list[_Piece] = []
    for piece in pieces:
        # A limit below may stand between the letters of its operator.
        row = (other for other in reversed(joined) if abs(other.base - piece.base) < 0.1)
        last = next(row, None)
        letter = piece.char.isascii() and piece.char.isalpha() and not piece.italic
        if (
            letter
            and last is not None
            and not last.italic
            and last.char.isalpha()
            and abs(last.size - piece.size) < 0.1 * piece.size
            and piece.x0 - last.x1 < 0.12 * piece.size
        ):
            last.char += piece.char
            last.x1 = max(last.x1, piece.x1)
        elif letter:
            joined.append(replace(piece))  # which grows, and is somebody else's too
        else:
            joined.append(piece)
    for i, piece in enumerate(joined):
        if piece.italic or len(piece.char) < 2 or not piece.char.isalpha():
            continue
        after = joined[i + 1].char if i + 1 < len(joined) else ""
        if piece.char in ("argmax", "argmin"):
            piece.latex = f"\\operatorname*{{{piece.char}}}"
        elif piece.char in FUNCTIONS:
            piece.latex = f"\\{piece.char}"
        elif piece.char[0].isupper() or after == "(":
            piece.latex = f"\\operatorname{{{piece.char}}}"
        elif len(joined) == 1:
            piece.latex = f"\\text{{{piece.char}}}"
        else:
            piece.latex = f"\\text{{ {piece.char} }}"
    return joined


def _dotted(pieces: list[_Piece]) -> list[_Piece]:
    """Three dots side by side as one command."""
    joined: list[_Piece] = []
    for piece in pieces:
        joined.append(piece)
        three = joined[-3:]
        if (
            len(three) == 3
            and piece.char in _DOTS
            and all(
                other.char == piece.char
                and abs(other.base - piece.base) < 0.1
                and piece.x0 - other.x1 < 1.5 * piece.size
                for other in three
            )
        ):
            joined[-3:] = [replace(three[0], latex=_DOTS[piece.char], char="…", x1=piece.x1)]
    return joined


def spaced(parts: list[str]) -> str:
    """Parts one after the other; a command needs room before a letter."""
    text = ""
    for part in parts:
        if part[:1].isalpha() and re.search(r"\\[A-Za-z]+$", text):
            text += " "
        text += part
    return text
