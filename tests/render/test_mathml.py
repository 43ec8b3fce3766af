from __future__ import annotations

from html.parser import HTMLParser

import pytest
from made_pages import page, region

from hsd_docparse.render.html import HTML
from hsd_docparse.render.mathml import mathml


def test_a_formula_becomes_mathml_with_its_source() -> None:
    markup = mathml(r"\frac{a_1}{\sqrt{b}} < 2")
    assert markup is not None
    assert markup.startswith('<math display="block"><semantics><mrow><mrow><mfrac>')
    assert r'encoding="application/x-tex">\frac{a_1}{\sqrt{b}} &lt; 2</annotation>' in markup


@pytest.mark.parametrize(
    "latex", [r"\unknowncommand{x}", r"\begin{cases} a & b", "{" * 3000, r"\left("]
)
def test_what_is_not_understood_stays_latex(latex: str) -> None:
    assert mathml(latex) is None
    assert r"\[" in HTML.page(page(region("formula", latex)), {})


@pytest.mark.parametrize(
    "latex",
    [
        r"\href{javascript:alert(1)}{x}",
        r"\style{background:url(//x)}{x}",
        r"\text{<img src=x onerror=alert(1)>}",
        r"\class{x}{y} \cssId{z}{w}",
    ],
)
def test_a_formula_brings_no_active_content(latex: str) -> None:
    found: list[str] = []

    class Collector(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.extend([tag, *(name for name, _ in attrs)])

    Collector().feed(HTML.page(page(region("formula", latex)), {}))
    assert not {"href", "style", "onerror", "img", "a", "script"} & set(found)
