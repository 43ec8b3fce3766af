from __future__ import annotations

import pytest

from hsd_docparse.render.tables import clean_table, table_rows


def inside(markup: str) -> str:
    cleaned = clean_table(markup)
    assert cleaned.startswith("<table>\n")
    assert cleaned.endswith("\n</table>")
    return cleaned[len("<table>\n") : -len("\n</table>")]


def test_a_good_table_stays_as_it_is() -> None:
    table = (
        '<table>\n<thead>\n<tr><th colspan="2">a</th></tr>\n</thead>\n'
        "<tbody>\n<tr><td>b<br>c</td><td>x<sup>2</sup> <b>d</b></td></tr>\n</tbody>\n</table>"
    )
    assert clean_table(table) == table


@pytest.mark.parametrize(
    ("markup", "body"),
    [
        ("<table><tr><td>1<td>2<tr><td>3", "<tr><td>1</td><td>2</td></tr>\n<tr><td>3</td></tr>"),
        ("<table><td>1</td></table>", "<tr><td>1</td></tr>"),
        ("only words", "<tr><td>only words</td></tr>"),
        ("<td>a\n\n  b</td>", "<tr><td>a b</td></tr>"),
        ("<td>a < b &amp; c</td>", "<tr><td>a &lt; b &amp; c</td></tr>"),
        ("<td><b>bold<td>plain", "<tr><td><b>bold</b></td><td>plain</td></tr>"),
        ("<td><strong>s</strong><em>e</em>", "<tr><td><b>s</b><i>e</i></td></tr>"),
        ("<td>1</b></td></tr></tr><td>2", "<tr><td>1</td></tr>\n<tr><td>2</td></tr>"),
        (
            "<td>a<table><tr><td>b</td><td>c</td></tr></table>d</td><td>e",
            "<tr><td>a b cd</td><td>e</td></tr>",
        ),
    ],
)
def test_tags_are_closed_and_supplied(markup: str, body: str) -> None:
    assert inside(markup) == body


@pytest.mark.parametrize(
    ("markup", "body"),
    [
        ("<td onclick='x()' class=y rowspan=2>1", '<tr><td rowspan="2">1</td></tr>'),
        ("<td colspan='javascript:x' rowspan=1>1", "<tr><td>1</td></tr>"),
        ("<td colspan=99999999>1", '<tr><td colspan="1000">1</td></tr>'),
        ("<td><a href='javascript:x'>1</a><img src=x onerror=y>", "<tr><td>1</td></tr>"),
        ("<td><script>alert(1)</script><style>td{}</style>1", "<tr><td>1</td></tr>"),
        ("<td>&lt;script&gt;", "<tr><td>&lt;script&gt;</td></tr>"),
    ],
)
def test_only_what_is_allowed_passes(markup: str, body: str) -> None:
    assert inside(markup) == body


def test_a_table_without_text_is_none() -> None:
    assert clean_table("<table><tr><td> </td></tr></table>") == ""


def test_rows_as_plain_text() -> None:
    rows = table_rows("<tr><th>a &amp; b</th><td>c<br>d</td></tr><tr><td></td><td>e<sub>1</sub>")
    assert rows == [["a & b", "c d"], ["", "e1"]]


def test_a_span_of_endless_digits_is_the_largest() -> None:
    assert 'colspan="1000"' in clean_table(f"<td colspan={'9' * 5000}>a")
