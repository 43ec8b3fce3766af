"""Formulas are set here as a typesetter would, glyph by glyph, and read back as LaTeX."""

from __future__ import annotations

import pytest

from hsd_docparse.document import Box
from hsd_docparse.draft.formula import to_latex
from hsd_docparse.sources.glyphs import Frame, Glyph, Run, Style

Placed = tuple[str, float, float, float]
"""Text, where it begins, its base line and its size; every glyph is half its size wide."""


def glyphs(*placed: Placed, font: str = "Italic", bold: bool = False) -> Run:
    run = []
    for text, x, base, size in placed:
        style = Style(
            font, size, 0.8 * size, 0.2 * size, bold, False, True, False, "Italic" in font
        )
        for i, char in enumerate(text):
            u = x + i * size / 2
            run.append(Glyph(char, u, u + size / 2, base, style))
    return Run(Frame(1, 0, False), run)


def latex(*runs: Run, rules: list[Box] | None = None) -> str:
    return to_latex(runs, [Box(0, 0, 500, 500)], rules or [])[0]


@pytest.mark.parametrize(
    ("placed", "expected"),
    [
        ([("e", 0, 100, 12), ("iπ", 6, 94, 8), ("+1=0", 15, 100, 12)], r"e^{i\pi}+1=0"),
        ([("a", 0, 100, 12), ("2", 6, 94, 8), ("−", 11, 100, 12), ("b", 17, 100, 12)], "a^{2}-b"),
        ([("x", 0, 100, 12), ("ij", 6, 103, 8)], "x_{ij}"),
        ([("x", 0, 100, 12), ("n", 6, 103, 8), ("2", 6, 93, 8)], "x_{n}^{2}"),
        ([("x", 0, 100, 12), ("y", 6, 94, 8), ("i", 10, 96, 5)], "x^{y_{i}}"),
        ([("f", 0, 100, 12), ("′", 6, 96, 8), ("(x)", 11, 100, 12)], "f'(x)"),
        ([("α∈Γ", 0, 100, 12)], r"\alpha\in\Gamma"),
        ([("αx", 0, 100, 12)], r"\alpha x"),
        (
            [("∑", 20, 102, 18), ("i=1", 17, 115, 8), ("n", 22, 86, 8), ("x", 34, 100, 12)],
            r"\sum_{i=1}^{n}x",
        ),
        ([("x=y", 0, 100, 12), ("(3.1)", 200, 100, 12)], r"x=y \tag{3.1}"),
        ([("{x}", 0, 100, 12)], r"\{x\}"),
        ([("x...y···z", 0, 100, 12)], r"x\ldots y\cdots z"),
        ([("x\u0338=y\u0338∈z\u0338⊂w", 0, 100, 12)], r"x\neq y\notin z\not\subset w"),
        ([("ℒ𝔤ℝ", 0, 100, 12)], r"\mathcal{L}\mathfrak{g}\mathbb{R}"),
    ],
)
def test_scripts_limits_and_names(placed: list[Placed], expected: str) -> None:
    assert latex(glyphs(*placed)) == expected


def test_what_stands_over_a_rule_is_a_fraction() -> None:
    run = glyphs(("y=", 0, 100, 12), ("a+b", 20, 92, 12), ("c", 26, 108, 12), ("+1", 44, 100, 12))
    assert latex(run, rules=[Box(19, 96, 40, 97)]) == r"y=\frac{a+b}{c}+1"


def test_a_fraction_may_stand_in_another() -> None:
    run = glyphs(("a", 10, 80, 8), ("b", 10, 90, 8), ("c", 10, 108, 12), ("+x", 30, 97, 12))
    rules = [Box(9, 82, 15, 83), Box(5, 93, 25, 94)]
    assert latex(run, rules=rules) == r"\frac{\frac{a}{b}}{c}+x"


def test_what_stands_under_the_bar_of_a_root_is_in_it() -> None:
    run = glyphs(("√", 0, 100, 12), ("x+1", 6, 100, 12), ("−y", 30, 100, 12))
    assert latex(run, rules=[Box(6, 88, 25, 89)]) == r"\sqrt{x+1}-y"


def test_upright_letters_are_functions_operators_and_words() -> None:
    runs = (
        glyphs(("sin", 0, 100, 12), ("if", 80, 100, 12), ("Ann", 120, 100, 12), font="Roman"),
        glyphs(("x", 22, 100, 12), ("x=1", 100, 100, 12), ("y", 140, 100, 12)),
    )
    assert latex(*runs) == r"\sin x\text{ if }x=1\operatorname{Ann}y"


def test_limits_below_do_not_cut_the_name_of_an_operator() -> None:
    runs = (
        glyphs(("argmin", 0, 100, 12), font="Roman"),
        glyphs(("h>0", 12, 112, 8), ("f", 38, 100, 12)),
    )
    assert latex(*runs) == r"\operatorname*{argmin}_{h>0}f"


def test_marks_over_letters() -> None:
    assert latex(glyphs(("^", 0, 100, 12), ("r", 1, 100, 12), ("+2", 7, 100, 12))) == r"\hat{r}+2"
    assert latex(glyphs(("x", 0, 100, 12), ("^y", 6, 100, 12))) == r"x\wedge y"


def test_letters_of_the_mathematical_alphabets() -> None:
    assert latex(glyphs(("𝑟𝐱𝛼", 0, 100, 12))) == r"r\mathbf{x}\alpha"


def test_fonts_say_what_kind_of_letter_it_is() -> None:
    assert latex(glyphs(("E", 0, 100, 12), font="Times", bold=True)) == r"\mathbf{E}"
    assert latex(glyphs(("I", 0, 100, 12), font="CMSY10")) == r"\mathcal{I}"
    assert latex(glyphs(("R", 0, 100, 12), font="MSBM10")) == r"\mathbb{R}"


def test_rows_are_gathered() -> None:
    run = glyphs(("x=1", 0, 100, 12), ("y=2", 0, 130, 12))
    assert latex(run) == r"\begin{gathered}x=1 \\ y=2\end{gathered}"


def test_a_shape_that_is_not_known_gives_nothing() -> None:
    cases = glyphs(("y=", 0, 100, 12), ("1", 20, 93, 12), ("0", 20, 107, 12))
    assert latex(cases) == ""
    assert latex(glyphs(("√", 0, 100, 12), ("x", 6, 100, 12))) == ""
    assert latex() == ""


def test_only_what_stands_in_the_boxes_is_read() -> None:
    run = glyphs(("x", 0, 100, 12), ("y", 300, 100, 12))
    assert to_latex([run], [Box(0, 80, 50, 110)], []) == ("x", "x")


def test_what_stands_alone_or_before_its_letter() -> None:
    assert latex(glyphs(("∑", 0, 100, 18))) == r"\sum"
    assert latex(glyphs(("14", 0, 94, 8), ("C", 9, 100, 12))) == "{}^{14}C"


def test_latex_has_a_command_for_everything_written() -> None:
    assert latex(glyphs(("A\\Β∖ο", 0, 100, 12))) == r"A\setminus Β\setminus ο"
    assert latex(glyphs(("ŷ", 0, 100, 12))) == r"\hat{y}"
    assert latex(glyphs(("𝔸𝒜", 0, 100, 12))) == r"\mathbb{A}\mathcal{A}"


def test_hidden_glyphs_are_not_read() -> None:
    run = glyphs(("xSy", 0, 100, 12))
    run.glyphs[1].style = run.glyphs[1].style._replace(painted=False)
    assert latex(run) == "xy"


def test_numbered_rows_may_have_their_numbers() -> None:
    run = glyphs(("x=1", 0, 100, 12), ("(1)", 200, 100, 12), ("y=2", 0, 130, 12))
    assert latex(run) == r"\begin{gather*}x=1 \tag{1} \\ y=2\end{gather*}"
