from __future__ import annotations

import random
import re
from html.parser import HTMLParser
from typing import get_args

from made_pages import document, page, region

from hsd_docparse.document import Kind, Page
from hsd_docparse.render import mathml, render
from hsd_docparse.render.html import HTML

VOID = {"meta", "br", "img"}


class Balance(HTMLParser):
    """Checks that tags nest and that ids are unique."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def checked(markup: str) -> str:
    balance = Balance()
    balance.feed(markup)
    balance.close()
    assert balance.open == []
    assert len(balance.ids) == len(set(balance.ids))
    return markup


def test_a_whole_document_is_well_formed_and_escaped() -> None:
    source = document(
        page(
            region("title", "A & B", 1),
            region("text", "<script>alert(1)</script>\x00"),
            region("list_item", "2. two", 1),
            region("list_item", "deeper", 2),
            region("list_item", "3. three", 1),
            region("list_item", "other", 1),
            region("table", "<table><tr><td onclick=x>1<script>y</script></table>"),
            region("formula", "$$a<b$$"),
            region("code", "a\n  b"),
            region("footer", "left out"),
        ),
        Page(2, 0, 0, warnings=["odd <font>"], error="it is damaged."),
    )
    source.metadata = {"title": "A <title>", "language": "de-CH"}
    markup = checked(render(source, "html"))
    assert markup.startswith('<!DOCTYPE html>\n<html lang="de-CH">')
    assert "<title>A &lt;title&gt;</title>" in markup
    assert '<h1 id="p1-b0" dir="auto">A &amp; B</h1>' in markup
    assert "&lt;script&gt;alert(1)&lt;/script&gt;</p>" in markup
    assert "<tr><td>1</td></tr>" in markup
    assert "<mo>&lt;</mo>" in markup
    assert '<annotation encoding="application/x-tex">a&lt;b</annotation>' in markup
    assert "<code>a\n  b</code>" in markup
    assert "left out" not in markup
    assert '<section id="page-2" aria-label="Page 2">' in markup
    assert "<strong>Page 2 could not be read:</strong> it is damaged." in markup
    assert "odd &lt;font&gt;" in markup
    lists = re.sub(r' (id|dir)="[^"]*"|\n', "", markup[markup.index("<ol>") :])
    assert lists.startswith(
        '<ol><li value="2">two<ul><li>deeper</li></ul></li><li value="3">three</li></ol>'
        "<ul><li>other</li></ul>"
    )


def test_a_caption_belongs_to_the_figure_before_it() -> None:
    shown = page(region("figure"), region("caption", "Figure 1"), region("caption", "Table 2"))
    markup = checked(HTML.page(shown, {0: 'a"b.png'}))
    assert (
        '<img src="a&quot;b.png" alt=""><figcaption id="p1-b1" dir="auto">Figure 1</figcaption>'
        in markup
    )
    assert markup.count("Figure 1") == 1
    assert '<p id="p1-b2" class="caption" dir="auto">Table 2</p>' in markup


def test_without_a_title_the_file_gives_its_name() -> None:
    assert "<title>report.pdf</title>" in render(document(), "html")


INJECTED = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<svg/onload=alert(1)>",
    '<a href="javascript:alert(1)">a</a>',
    "</title></style></code></pre>",
    "<table><tr><td onclick=alert(1)><script>alert(1)</script>",
    "<!--",
    "--><iframe src=javascript:alert(1)>",
    "<\x00script>",
    "&lt;script&gt;",
    "&#60;script>",
    "<![CDATA[",
    "<td rowspan='2\" onclick=alert(1)'>",
    "<textarea>",
    "<b><i>",
    "- a\n",
    "$<b>_1$",
    "$n$",
    r"$\href{javascript:alert(1)}{x}$",
)
ATTRIBUTES = {"id", "class", "dir", "src", "alt", "aria-label", "role", "rowspan", "colspan"}
ATTRIBUTES |= {"lang", "charset", "name", "content", "value"}
PASSIVE = {"html", "head", "meta", "title", "style", "body", "section", "div", "p", "br", "strong"}
PASSIVE |= {"aside", "h1", "h2", "ul", "ol", "li", "pre", "code", "figure", "figcaption", "img"}
PASSIVE |= {"table", "thead", "tbody", "tr", "td", "th", "b", "i", "sub", "sup"}
MATHML = {"math", "semantics", "annotation", "mrow", "mi", "mo", "mn", "mtext", "mspace", "mstyle"}
MATHML |= {"msub", "msup", "msubsup", "mfrac", "msqrt", "mroot", "mover", "munder", "munderover"}
MATHML |= {"mtable", "mtr", "mtd", "mpadded", "mphantom", "menclose"}


class Passive(HTMLParser):
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in PASSIVE | MATHML, self.rawdata
        for name, value in attrs:
            layout = tag in MATHML and name in mathml.ATTRIBUTES | {"encoding"}
            assert layout or name in ATTRIBUTES, self.rawdata
            assert name != "src" or value == "a.png", self.rawdata

    def handle_comment(self, data: str) -> None:
        raise AssertionError(self.rawdata)


def test_nothing_in_a_document_becomes_active() -> None:
    choices = random.Random(0)
    for _ in range(500):

        def text() -> str:
            return "".join(choices.choices(INJECTED, k=choices.randint(1, 4)))

        shown = page(*(region(kind, text(), 1) for kind in get_args(Kind)))
        shown.warnings, shown.error = [text()], text()
        source = document(shown)
        source.source = text()
        source.metadata = {"title": choices.choice(["", text()]), "language": text()}
        Passive().feed(render(source, "html"))
        Passive().feed(HTML.page(shown, {5: "a.png"}))
