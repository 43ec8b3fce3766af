from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from made_pages import document, page, region

from hsd_docparse.document import Document, Kind, Page, Region
from hsd_docparse.render import render
from hsd_docparse.render.joining import MOST_PARTS, JoiningWriter

HEADER = "<tr><td>Harbour</td><td>Ships</td></tr>"


def rest(kind: Kind, text: str) -> Region:
    return replace(region(kind, text), continues=True)


def rows(*names: str) -> str:
    return "".join(f"<tr><td>{name}</td><td>7</td></tr>" for name in names)


def cut() -> Document:
    """A paragraph over three pages, with a note and a figure between, and a table over two."""
    return document(
        page(region("text", "The quay was made lon-"), region("footnote", "1 In spring.")),
        page(rest("text", "ger by the firm"), number=2),
        page(
            region("figure", "A map"),
            rest("text", "of Marrow."),
            region("table", f"<table>{HEADER}{rows('Hull')}</table>"),
            number=3,
        ),
        page(
            rest("table", f"<table>{HEADER}{rows('Goole')}</table>"),
            region("text", "The end."),
            number=4,
        ),
    )


def test_markdown_has_each_whole_where_it_begins() -> None:
    table = (
        "<table>\n<tr><td>Harbour</td><td>Ships</td></tr>\n<tr><td>Hull</td><td>7</td></tr>\n"
        "<tr><td>Goole</td><td>7</td></tr>\n</table>"
    )
    assert render(cut(), "md") == (
        "<!-- page 1 -->\n\nThe quay was made longer by the firm of Marrow.\n\n1 In spring.\n\n"
        f"<!-- page 2 -->\n\n<!-- page 3 -->\n\nA map\n\n{table}\n\n"
        "<!-- page 4 -->\n\nThe end.\n"
    )


def test_text_and_html_have_it_too() -> None:
    text = render(cut(), "txt")
    assert text.startswith("The quay was made longer by the firm of Marrow.\n\n1 In spring.\n\f")
    assert text.count("Harbour\tShips") == 1
    html = render(cut(), "html")
    assert "The quay was made longer by the firm of Marrow.</p>" in html
    assert html.count("<table>") == 1
    assert 'id="p2-b0"' not in html


def test_chunks_say_where_all_parts_are() -> None:
    (chunk,) = map(json.loads, render(cut(), "chunks").splitlines())
    assert "longer by the firm of Marrow." in chunk["text"]
    assert chunk["pages"] == [1, 2, 3, 4]
    assert [place["page"] for place in chunk["boxes"]] == [1, 2, 3, 1, 3, 3, 4, 4]


def test_json_and_the_page_alone_keep_what_is_on_the_page() -> None:
    second = json.loads(render(cut(), "json"))["pages"][1]["regions"]
    assert [(each["text"], each["continues"]) for each in second] == [("ger by the firm", True)]
    assert cut().pages[1].to_markdown() == "<!-- page 2 -->\n\nger by the firm\n"


def test_a_page_alone_joins_its_columns() -> None:
    shown = page(region("text", "The quay was"), rest("text", "made longer."))
    assert shown.to_markdown() == "<!-- page 1 -->\n\nThe quay was made longer.\n"


@pytest.mark.parametrize(
    ("first", "second", "dropped"),
    [
        ("<tr><td>a</td></tr>", "<tr><td>a</td></tr>", 1),
        ("<tr><td>a</td></tr>", "<tr><td>b</td></tr>", 0),
        (
            '<tr><td rowspan="2">a</td><td colspan="2">b</td></tr><tr><td>c</td><td>d</td></tr>',
            '<tr><td rowspan="2">a</td><td colspan="2">b</td></tr><tr><td>c</td><td>d</td></tr>',
            2,
        ),
        (
            '<tr><td colspan="2">b</td></tr><tr><td>c</td><td>d</td></tr>',
            '<tr><td colspan="2">b</td></tr><tr><td>e</td><td>f</td></tr>',
            0,
        ),
    ],
)
def test_a_header_that_returns_is_written_once(first: str, second: str, dropped: int) -> None:
    body = rows("x")
    shown = document(
        page(region("table", f"<table>{first}{body}</table>")),
        page(rest("table", f"<table>{second}{body}</table>"), number=2),
    )
    expected = (first + second).count("<tr>") - dropped + 2
    assert render(shown, "md").count("<tr>") == expected


class Written:
    """A writer that remembers the pages it was given."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def write(self, page: Page, figures: Mapping[int, str]) -> None:
        self.numbers.append(page.number)

    def finish(self) -> None: ...


def test_a_page_waits_only_for_what_may_go_on() -> None:
    written = Written()
    writer = JoiningWriter(written)
    seen = []
    for shown in [
        page(region("text", "It ends."), region("footnote", "1 Note")),
        page(region("text", "It does not"), number=2),
        page(rest("text", "yet"), number=3),
        page(rest("text", "end"), region("heading", "2 More"), number=4),
        page(region("text", "It does."), number=5),
    ]:
        writer.write(shown, {})
        seen.append(list(written.numbers))
    assert seen == [[1], [1], [1], [1, 2, 3, 4], [1, 2, 3, 4, 5]]


def test_a_table_without_end_is_not_held_back_for_ever() -> None:
    written = Written()
    writer = JoiningWriter(written)
    for number in range(3 * MOST_PARTS):
        writer.write(page(rest("table", f"<table>{rows('x')}</table>"), number=number), {})
    assert len(written.numbers) == 2 * MOST_PARTS
    writer.finish()
    assert written.numbers == list(range(3 * MOST_PARTS))
