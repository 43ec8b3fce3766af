"""Which dollars are around a formula is one rule, for every format."""

from __future__ import annotations

import pytest
from made_pages import page, region

from hsd_docparse.render.blocks import split_formulas
from hsd_docparse.render.html import HTML
from hsd_docparse.render.markdown import MARKDOWN
from hsd_docparse.render.text import TEXT


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("all $n$ of $x_1$, or $k$-fold and $k$th", ["$n$", "$x_1$", "$k$", "$k$"]),
        (r"a state ($|x\rangle|0\rangle$) and $|S|$", [r"$|x\rangle|0\rangle$", "$|S|$"]),
        (r"$\{0,1\}$, $f'$, $(a,b)$, $y=2n+1$", [r"$\{0,1\}$", "$f'$", "$(a,b)$", "$y=2n+1$"]),
        ("a model writes $ x_1 $ and $$y$$", ["$ x_1 $", "$$y$$"]),
        (r"or \(a * b\), \[c\]", [r"\(a * b\)", r"\[c\]"]),
        ("it costs $5 more, not $n$", ["$n$"]),
        ("it costs $5 with a_1, not $n$", ["$n$"]),
    ],
)  # fmt: skip
def test_formulas_are_found(text: str, formulas: list[str]) -> None:
    parts = list(split_formulas(text))
    assert [part for part, is_formula in parts if is_formula] == formulas
    assert "".join(part for part, _ in parts) == text


@pytest.mark.parametrize(
    "text",
    [
        "between $5 and $6, or $5-$6, $5m-$6m, ($5)-($6)",
        "$5_000 and $6_000",
        "US$x and A$y",
        "set $HOME/$USER, $HOME$USER or $a,$b",
        "a lone $ and a $x",
        "$5$ is a number",
        r"a \$x\$ of somebody else",
        "",
    ],
)
def test_dollars_that_are_money_or_names_are_none(text: str) -> None:
    assert list(split_formulas(text)) == [(text, False)]


def test_formats_agree() -> None:
    source = page(region("text", "From $5 to $6 in $n$ steps of $a<b_1$"), region("heading", "$m$"))
    assert "From $5 to $6 in $n$ steps of $a< b_1$\n" in MARKDOWN.page(source, {})
    assert "From $5 to $6 in $n$ steps of $a<b_1$\n" in TEXT.page(source, {})
    markup = HTML.page(source, {})
    assert "From $5 to $6 in <math" in markup
    assert markup.count('<math display="inline">') == 3
    assert '<annotation encoding="application/x-tex">a&lt;b_1</annotation>' in markup


def test_what_is_not_understood_stays_latex() -> None:
    markup = HTML.page(page(region("text", r"so $\unknowncommand{<b>}$ is")), {})
    assert r"so \(\unknowncommand{&lt;b&gt;}\) is" in markup
