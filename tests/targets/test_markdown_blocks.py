from __future__ import annotations

import pytest

from hsd_docparse.document import Box, Kind, Line, Page, Region
from hsd_docparse.targets.markdown_blocks import (
    Block,
    compact_table,
    parse_markdown,
    place_blocks,
)

MARKDOWN = """# Annual report

## 1. The year ##
The year was good,
and long.
- first
  - second
    deeper
1. one
2. two

<table><tr><th>a</th></tr>

<tr><td rowspan="2">b</td></tr></table>
After the table.

| h | i |
|---|:-:|
| 1 | x \\| y |
$$ a^2 $$

$$
b \\\\

c
$$
```python
x = 1

y = 2
```
![figure](a.png)

中文
文字
"""


def test_markdown_is_split_into_blocks_of_every_kind() -> None:
    assert parse_markdown(MARKDOWN) == [
        Block("title", "Annual report", 1),
        Block("heading", "1. The year", 2),
        Block("text", "The year was good, and long."),
        Block("list_item", "first", 1),
        Block("list_item", "second deeper", 2),
        Block("list_item", "1. one", 1),
        Block("list_item", "2. two", 1),
        Block("table", '<table><tr><td>a</td></tr><tr><td rowspan="2">b</td></tr></table>'),
        Block("text", "After the table."),
        Block(
            "table",
            "<table><tr><td>h</td><td>i</td></tr><tr><td>1</td><td>x | y</td></tr></table>",
        ),
        Block("formula", "a^2"),
        Block("formula", "b \\\\\n\nc"),
        Block("code", "x = 1\n\ny = 2"),
        Block("text", "中文文字"),
    ]


@pytest.mark.parametrize(
    ("cut_short", "blocks"),
    [
        ("<table><tr><td>a", [Block("table", "<table><tr><td>a")]),
        ("$$\na^2", [Block("formula", "a^2")]),
        ("```\nx = 1", [Block("code", "x = 1")]),
        ("text\n\n#", [Block("text", "text"), Block("text", "#")]),
        ("", []),
    ],
)
def test_output_that_was_cut_short_loses_nothing(cut_short: str, blocks: list[Block]) -> None:
    assert parse_markdown(cut_short) == blocks


def test_a_fence_around_the_whole_page_is_taken_off() -> None:
    assert parse_markdown("```markdown\n# A\n\nb\n```") == [
        Block("title", "A", 1),
        Block("text", "b"),
    ]


def test_tables_keep_rows_cells_and_spans_only() -> None:
    written = """<table class="x">
      <thead><tr><th colspan=2 style="y">A  <b>b</b></th></tr></thead>
      <tbody><tr><td rowspan="1"> c </td>
      <td>d</td></tr></tbody></table>"""
    assert compact_table(written) == (
        '<table><tr><td colspan="2">A  <b>b</b></td></tr><tr><td>c</td><td>d</td></tr></table>'
    )


@pytest.fixture
def page() -> Page:
    """Regions one below the other, 10 units high."""
    said: list[tuple[Kind, str]] = [
        ("header", "Journal"),
        ("title", "Annual repоrt 2024"),  # a Cyrillic o, as OCR reads it
        ("text", "The year was good and"),
        ("text", "it was also rather long."),
        ("figure", ""),
        ("caption", "Figure 1: the harvest."),
        ("text", "Costs rose by a third. Nobody had expected that at all."),
        ("footer", "page 3"),
    ]
    regions = [
        Region(
            kind,
            Box(0, 10 * i, 100, 10 * i + 10),
            text,
            level=int(kind == "title"),
            lines=[Line(text, Box(0, 10 * i, 100, 10 * i + 10))],
            confidence=0.9 - 0.1 * i,
        )
        for i, (kind, text) in enumerate(said)
    ]
    return Page(1, 100, 80, regions)


def test_blocks_find_their_place_and_the_rest_keeps_its_own(page: Page) -> None:
    blocks = [
        Block("text", "Figure 1: the harvest."),
        Block("text", "Annual report 2024"),
        Block("text", "The year was good and it was also rather long."),
        Block("text", "Costs rose by a third."),
        Block("text", "Nobody had expected that at all."),
        Block("text", "Something that no draft has seen"),
    ]
    regions = place_blocks(page, blocks)
    assert [(r.kind, r.box.y0, r.box.y1, r.provenance) for r in regions] == [
        ("header", 0, 10, "draft"),
        ("caption", 50, 60, "accepted"),  # the layout knew that it is one
        ("title", 10, 20, "corrected"),
        ("text", 20, 40, "corrected"),  # the draft had split it
        ("figure", 40, 50, "draft"),
        ("text", 60, 70, "corrected"),  # the draft had joined it
        ("text", 60, 70, "corrected"),
        ("text", 0, 80, "corrected"),
        ("footer", 70, 80, "draft"),
    ]
    title, split = regions[2], regions[3]
    assert (title.text, title.level) == ("Annual report 2024", 1)
    assert [kept.text for kept in split.lines] == [page.regions[i].text for i in (2, 3)]
    assert split.confidence == pytest.approx(0.6)
    lines = [kept.text for region in regions for kept in region.lines]
    assert sorted(lines) == sorted(region.text for region in page.regions), "each line once"


def test_what_the_target_says_a_block_is_wins_over_the_layout(page: Page) -> None:
    regions = place_blocks(page, [Block("heading", "Figure 1: the harvest.", 3)])
    heading = next(region for region in regions if region.text.startswith("Figure"))
    assert (heading.kind, heading.level, heading.provenance) == ("heading", 3, "accepted")


def test_a_region_is_used_once(page: Page) -> None:
    twice = [Block("text", "it was also rather long.")] * 2
    first, second = (r for r in place_blocks(page, twice) if r.text == twice[0].text)
    assert first.box.y0 == 30
    assert second.box == Box(0, 0, 100, 80)
