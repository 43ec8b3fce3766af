"""Lines are set here as TeX would, glyph by glyph, and read back with their formulas as LaTeX."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hsd_docparse.draft.inline_formulas import is_maths, with_formulas
from hsd_docparse.sources.glyphs import Glyph, Style

ROMAN, ITALIC, VARIABLES, SYMBOLS = "CMR10", "CMTI10", "CMMI10", "CMSY10"
CAMBRIA = "CambriaMath"


@dataclass
class Part:
    """Text in one font, ``raised`` by so many points; a space is as wide as between words, and
    ``~`` as within a formula."""

    text: str
    font: str = ROMAN
    raised: float = 0
    size: float = 10


def maths(text: str) -> Part:
    return Part(text, VARIABLES)


def sign(text: str) -> Part:
    return Part(text, SYMBOLS)


def up(text: str, font: str = ROMAN) -> Part:
    return Part(text, font, 4, 7)


def down(text: str, font: str = ROMAN) -> Part:
    return Part(text, font, -2, 7)


def row(*parts: str | Part, base: float = 100) -> list[Glyph]:
    glyphs = []
    x = 0.0
    for part in parts:
        part = Part(part) if isinstance(part, str) else part
        size, v = part.size, base - part.raised
        italic = part.font in (ITALIC, VARIABLES)
        style = Style(part.font, size, 0.8 * size, 0.2 * size, False, False, True, False, italic)
        for char in part.text:
            width = {" ": 3.3, "~": 1.7, "\u0338": 0}.get(char, 0.5 * size)
            glyphs.append(Glyph(" " if char == "~" else char, x, x + width, v, style))
            x += width
    return glyphs


def read(*parts: str | Part) -> str:
    return with_formulas([row(*parts)], list)[0]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["all ", maths("n"), " vertices"], "all $n$ vertices"),
        (["in ", maths("O"), "(", maths("n"), up("2"), ") steps"], "in $O(n^{2})$ steps"),
        (
            ["for ", maths("x"), down("1"), maths(",~.~.~.~,~x"), down("n", VARIABLES), "."],
            r"for $x_{1},\ldots,x_{n}$.",
        ),
        (
            ["state ", sign("|"), maths("x"), sign("⟩|"), "0", sign("⟩"), " is"],
            r"state $|x\rangle|0\rangle$ is",
        ),
        (["if ", maths("n"), " + 1 = 5."], "if $n+1=5$."),
        (["let ", maths("k"), " ", sign("≥"), " 0.5, so"], r"let $k\geq0.5$, so"),
        (["a ", maths("k"), "-fold and ", maths("k"), "th"], "a $k$-fold and $k$th"),
        (["is ", maths("n"), "~log~", maths("n"), " now"], r"is $n\log n$ now"),
        (["(of ", maths("n"), ") and (", maths("m"), ")"], "(of $n$) and ($m$)"),
        (["pair (", maths("a,~b"), ")"], "pair $(a,b)$"),
        (["by 2", up("n", VARIABLES), ", 10", up("−", SYMBOLS), up("3")], "by $2^{n}$, $10^{-3}$"),
        ([maths("x"), ", ", maths("y"), " and 3 ", maths("z")], "$x$, $y$ and 3 $z$"),
        (["about ", sign("∼"), " 10 GB, 5 ", sign("×"), " 3"], r"about $\sim10$ GB, $5\times3$"),
        ([maths("x"), " ", sign("\u0338"), "= ", maths("y")], r"$x\neq y$"),
        ([Part("if ", ITALIC), maths("x"), Part(" is", ITALIC)], "if $x$ is"),
        ([Part("A", "EUFM10"), " in ", Part("R", "MSBM10")], r"$\mathfrak{A}$ in $\mathbb{R}$"),
        (["a ", Part("𝑥+1≤5", CAMBRIA), " b"], r"a $x+1\leq5$ b"),
    ],
)  # fmt: skip
def test_formulas_are_latex(parts: list[str | Part], expected: str) -> None:
    assert read(*parts) == expected


@pytest.mark.parametrize(
    "parts",
    [
        ["Prose with a note", up("3"), " and another.", up("12"), " In 1995", up("∗", SYMBOLS)],
        ["Ann Lee", up("a", VARIABLES), ", Bo", up("†", SYMBOLS)],
        [sign("•"), " 5 apples ", sign("•"), " 6 pears"],
        [sign("−"), " 5 apples ", sign("−"), " or more"],
        ["mail ", maths("<"), "ann@site.org", maths(">"), " or ", maths("<"), "7up"],
        ["it is 3", maths("."), "14 or 1", maths(","), "000 or ", sign("−"), "5"],
        ["File ", sign("→"), " Open"],
        ["H", down("2"), "O and 10", up("3"), " cost $5 and $6 (a = b)"],
        [Part("a = b + c", ITALIC), " in ", Part("words", "CambriaMath")],
        ["a ", Part("x", "CMMI10", 3), " stands askew"],
        ["a price of ", Part("$", VARIABLES)],
    ],
)
def test_what_is_no_formula_stays_as_it_is(parts: list[str | Part]) -> None:
    assert read(*parts) == "".join(glyph.char for glyph in row(*parts))


def test_a_formula_that_goes_on_in_the_next_line_stands_where_it_begins() -> None:
    rows = [row("so ", maths("n"), " ", sign("∈")), row(maths("A"), " holds", base=112)]
    assert with_formulas(rows, list) == [r"so $n\in A$", " holds"]
    rows = [row("so ", maths("n")), row(maths("A"), " holds", base=112)]
    assert with_formulas(rows, list) == ["so $n$", "$A$ holds"]


def test_no_formula_goes_on_behind_a_line_of_unknown_glyphs() -> None:
    rows = [row("so ", maths("n"), " ", sign("∈")), [], row(maths("A"), " holds", base=124)]
    assert with_formulas(rows, list) == ["so $n$ ∈", "", "$A$ holds"]


def test_where_the_shape_is_unknown_the_text_stays() -> None:
    assert read("a ", sign("√"), maths("x"), " b") == "a √x b"


@pytest.mark.parametrize(
    ("font", "expected"),
    [
        ("CMMI10", True), ("ABCDEF+CMSY7", True), ("MSBM10", True), ("EUFM10", True),
        ("rsfs10", True), ("txmiaX", True), ("NewTXMI", True), ("MTMI", True),
        ("STIXMath-Regular", True), ("Cambria Math", True),
        ("LMMathItalic10-Regular", True), ("TeXGyreTermesMath-Regular", True), ("PazoMath", True),
        ("CMR10", False), ("CMTI10", False), ("CMBX12", False), ("LMRoman10-Regular", False),
        ("Times-Italic", False), ("Symbol", False), ("Eurostile", False),
    ],
)  # fmt: skip
def test_fonts_for_formulas_are_known_by_their_names(font: str, expected: bool) -> None:
    assert is_maths(font) is expected
