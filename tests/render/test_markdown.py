from __future__ import annotations

import random

import pytest
from made_pages import document, page, region
from markdown_it import MarkdownIt
from markdown_it.token import Token

from hsd_docparse.document import Kind, Page
from hsd_docparse.render import render
from hsd_docparse.render.markdown import MARKDOWN, escape

PIECES = [
    *("#", "##", " ", " ", "\n", "\t", "-", "*", "**", "_", "__", "~", "~~", "`", "``", "<", "</"),
    *("b>", "a", "b", "word", "1.", "2)", "[", "]", "(", ")", "]:", "](", "!", "&amp;", "&", "\\"),
    *(">", "|", "---", "===", "|-|", "http://x_y_z.com", "<http://a.b>", "x@y.z", "é", "中", "+"),
]


def body(*regions: object) -> str:
    """The Markdown of one page without its marker."""
    marker, _, rest = render(document(page(*regions))).partition("\n\n")  # type: ignore[arg-type]
    assert marker == "<!-- page 1 -->"
    return rest


def test_blocks_of_every_kind() -> None:
    markdown = body(
        region("header", "Running head"),
        region("title", "Annual\nreport", 1),
        region("heading", "Past #", 3),
        region("text", "First line\nsecond line"),
        region("formula", r"\[ a^2 + b^2 \]"),
        region("code", "x = [`1`]\n```\n    y = 2"),
        region("table", "<TABLE><tr><td>1<td colspan=2>2 &lt; 3</table>"),
        region("footnote", "1 See below."),
        region("page_number", "17"),
    )
    assert markdown == (
        "# Annual report\n\n"
        "### Past \\#\n\n"
        "First line  \nsecond line\n\n"
        "$$\na^2 + b^2\n$$\n\n"
        "````\nx = [`1`]\n```\n    y = 2\n````\n\n"
        '<table>\n<tr><td>1</td><td colspan="2">2 &lt; 3</td></tr>\n</table>\n\n'
        "1 See below.\n"
    )


def test_lists_are_tight_and_nest_under_the_text_of_their_parent() -> None:
    assert body(
        region("list_item", "• one", 1),
        region("list_item", "10. ten", 2),
        region("list_item", "below ten", 3),
        region("list_item", "two\nlines", 1),
        region("text", "After."),
    ) == ("- one\n  10. ten\n      - below ten\n- two  \n  lines\n\nAfter.\n")


def test_a_list_that_begins_deep_is_not_indented_into_code() -> None:
    assert body(region("list_item", "deep", 5)) == "- deep\n"


def test_pages_are_marked_and_a_failed_one_says_why() -> None:
    failed = Page(2, 0, 0, error="Page 2 of a.pdf is <broken>.")
    assert render(document(page(region("text", "One")), failed, page(number=3))) == (
        "<!-- page 1 -->\n\nOne\n\n"
        "<!-- page 2 -->\n\n> **Page 2 could not be read:** Page 2 of a.pdf is \\<broken>.\n\n"
        "<!-- page 3 -->\n"
    )


def test_figures_link_to_their_picture_or_say_their_words() -> None:
    shown = page(region("figure", "Axis [m]"), region("caption", "Figure 1. Height"))
    assert MARKDOWN.page(shown, {0: "a.figures/page-1-fig-1.png"}).endswith(
        "\n\n![Axis m](a.figures/page-1-fig-1.png)\n\nFigure 1. Height\n"
    )
    assert MARKDOWN.page(shown, {}).endswith("\n\nAxis [m]\n\nFigure 1. Height\n")


@pytest.mark.parametrize(
    "text",
    [
        "a lone * star, 3 * 4 * 5 and snake_case_name",
        "well-known - as they say - and 1.5 or 2021",
        "#hashtag and C# and a|b and a < b > c & d",
        "the ` key, [1] and (see [2])",
        r"the value $x_1 * y_2$ and \(a * b\) and C:\Windows",
        "~5 km",
        "2.5 million",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert escape(text) == text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("# not a heading", r"\# not a heading"),
        ("- not an item", r"\- not an item"),
        ("+ 1", r"\+ 1"),
        ("1. Introduction", r"1\. Introduction"),
        ("3) third", r"3\) third"),
        ("> 5 %", r"\> 5 %"),
        ("| a | b |", r"\| a | b |"),
        ("---", r"\---"),
        ("first\n===", "first  \n\\==="),
        ("____", r"\____"),
        ("[1]: a reference", r"\[1]: a reference"),
        ("*both* **sides**", r"\*both\* \*\*sides\*\*"),
        ("__init__ of _x_", r"\_\_init\_\_ of \_x\_"),
        ("~~gone~~", r"\~\~gone\~\~"),
        ("`a` and `b`", r"\`a\` and \`b\`"),
        ("<b> and </b> <!-- x -->", r"\<b> and \</b> \<!-- x -->"),
        ("AT&amp;T", r"AT\&amp;T"),
        ("[text](address)", r"[text\](address)"),
        ("[a [b] c](address)", r"[a [b] c\](address)"),
        ("$<b>_1$ and *a $x_1$ b*", r"$< b>_1$ and \*a $x_1$ b\*"),
        (r"\*a*", r"\\\*a\*"),
        ("    indented\n\n\nparted", "indented  \nparted"),
    ],
)
def test_what_would_be_markup_is_escaped(text: str, escaped: str) -> None:
    assert escape(text) == escaped


def shown(markdown: str) -> str:
    """What a CommonMark parser shows of ``markdown``, which must be paragraphs of bare text."""
    words = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown):
        assert token.type in ("paragraph_open", "inline", "paragraph_close"), markdown
        for child in token.children or []:
            assert child.type in ("text", "hardbreak"), markdown
            words.append(child.content or " ")
    return " ".join("".join(words).split())


def test_a_parser_shows_any_text_as_it_stands() -> None:
    choices = random.Random(0)
    for _ in range(1000):
        text = "".join(choices.choices(PIECES, k=choices.randint(1, 9)))
        assert shown(escape(text)) == " ".join(text.split())


ACTIVE = {"html_block", "html_inline", "link_open", "image"}
INJECTED = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a [b] c](javascript:alert(1))",
    "<javascript:alert(1)>",
    "[l]: javascript:alert(1)",
    "[l]",
    "$x_",
    "$",
    r"\(",
    r"\)",
    r"\[",
    r"\]",
    "`",
    "$$",
    "\n",
    " ",
    "a",
    "[",
    "](",
)


def types(tokens: list[Token]) -> set[str]:
    return {token.type for token in tokens}.union(
        *(types(token.children) for token in tokens if token.children)
    )


def test_no_text_becomes_a_link_or_html() -> None:
    choices = random.Random(0)
    kinds: tuple[Kind, ...] = ("title", "text", "list_item", "formula", "code", "caption")
    parser = MarkdownIt("commonmark", {"html": True})
    for _ in range(1000):
        text = "".join(choices.choices(INJECTED, k=choices.randint(1, 6)))
        regions = [region(choices.choice(kinds), text, 1) for _ in range(2)]
        markdown = MARKDOWN.page(page(*regions), {}).removeprefix("<!-- page 1 -->")
        assert not types(parser.parse(markdown)) & ACTIVE, markdown


def test_the_words_of_a_linked_figure_stay_words() -> None:
    shown = page(region("figure", "<b onclick=x>](javascript:x) ![y](z)"))
    markdown = MARKDOWN.page(shown, {0: "a.png"}).removeprefix("<!-- page 1 -->")
    assert types(MarkdownIt("commonmark").parse(markdown)) & ACTIVE == {"image"}
    assert "\\<b onclick" in markdown
