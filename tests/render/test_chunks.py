from __future__ import annotations

import json
from typing import Any

from made_pages import document, page, region

from hsd_docparse.document import Page
from hsd_docparse.render import render
from hsd_docparse.render.chunks import LONGEST, TARGET

SENTENCE = "The dredger needs more room than the basin offers. "


def chunks(*pages: Page) -> list[dict[str, Any]]:
    return [json.loads(line) for line in render(document(*pages), "chunks").splitlines()]


def test_the_path_of_headings_is_carried_from_page_to_page() -> None:
    first = page(region("title", "Report", 1), region("heading", "Scope", 2), region("text", "a"))
    second = page(
        region("header", "Running"),
        region("text", "b"),
        region("heading", "Method", 2),
        region("text", "c"),
        number=2,
    )
    one, two = chunks(first, second)
    assert one["headings"] == ["Report", "Scope"]
    assert one["text"] == "# Report\n\n## Scope\n\na\n\nb"
    assert one["pages"] == [1, 2]
    assert one["kinds"] == ["title", "heading", "text"]
    assert [place["page"] for place in one["boxes"]] == [1, 1, 1, 2]
    assert one["boxes"][0]["box"] == [10, 20, 200, 40]
    assert two["headings"] == ["Report", "Method"]
    assert (one["index"], two["index"]) == (0, 1)
    assert two["source"] == "folder/report.pdf"


def test_paragraphs_are_gathered_and_not_cut() -> None:
    paragraph = (SENTENCE * 6).strip()
    found = chunks(page(*(region("text", paragraph) for _ in range(9))))
    assert [chunk["text"].count(paragraph) for chunk in found] == [3, 3, 3]
    assert all(len(chunk["text"]) <= TARGET for chunk in found)


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    found = chunks(page(region("text", SENTENCE * 60)))
    assert len(found) == 4
    assert all(chunk["text"].endswith("offers.") for chunk in found)
    assert " ".join(chunk["text"] for chunk in found) == (SENTENCE * 60).strip()


def test_parts_of_a_table_repeat_its_header_and_keep_rows_that_share_a_cell() -> None:
    shared = '<tr><td rowspan="2">both</td><td>1</td></tr><tr><td>2</td></tr>'
    rows = "".join(f"<tr><td>row {n}</td><td>{'x' * 40}</td></tr>{shared}" for n in range(30))
    table = f"<table><tr><th>Name</th><th>Value</th></tr>{rows}</table>"
    found = chunks(page(region("table", table)))
    assert len(found) > 2
    for chunk in found:
        assert chunk["text"].count("<th>Name</th>") == 1
        assert chunk["text"].count("rowspan") == chunk["text"].count("<tr><td>2</td></tr>")
        assert len(chunk["text"]) <= LONGEST
    assert sum(chunk["text"].count("<td>row ") for chunk in found) == 30


def test_a_list_stays_together_or_is_cut_between_items() -> None:
    short = [region("list_item", f"- item {n}", 1) for n in range(5)]
    (chunk,) = chunks(page(*short))
    assert chunk["text"].splitlines() == [f"- item {n}" for n in range(5)]
    long = [region("list_item", f"- {SENTENCE}{n}", 1) for n in range(40)]
    found = chunks(page(*long))
    items = [line for chunk in found for line in chunk["text"].splitlines()]
    assert [item.split()[-1] for item in items] == [str(n) for n in range(40)]
    assert len(found[0]["boxes"]) == len(found[0]["text"].splitlines())


def test_code_keeps_its_fences() -> None:
    found = chunks(page(region("code", "\n".join(f"x = {n}" for n in range(500)))))
    assert len(found) > 1
    assert all(chunk["text"].startswith("```\n") for chunk in found)
    assert all(chunk["text"].endswith("\n```") for chunk in found)


def test_nothing_is_written_of_an_empty_document() -> None:
    assert chunks(page()) == []
