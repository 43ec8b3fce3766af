from __future__ import annotations

from made_pages import document, page, region

from hsd_docparse.document import Page
from hsd_docparse.render import render


def test_plain_text_has_form_feeds_tabs_and_failures() -> None:
    source = document(
        page(
            region("title", "# 1 *Title*", 1),
            region("list_item", "• one", 1),
            region("list_item", "2. two", 2),
            region("table", "<tr><td>a<td>b<tr><td>c<td>d"),
            region("formula", "$$x^2$$"),
            region("footer", "left out"),
        ),
        page(number=2),
        Page(3, 0, 0, error="it is damaged."),
    )
    assert render(source, "txt") == (
        "# 1 *Title*\n\n- one\n  2. two\n\na\tb\nc\td\n\nx^2\n"
        "\f\f[Page 3 could not be read: it is damaged.]\n"
    )
