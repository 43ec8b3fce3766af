"""Markdown that a model wrote, back to regions of the page.

The Markdown says what there is and in which order; where it stands is taken from the
draft's regions, found again by the similarity of their text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from html import escape
from typing import NamedTuple

from hsd_docparse.document import FURNITURE, Box, Kind, Page, Region

SAME = 60.0
"""Similarity (0..100) from which a block and a region are one text, differently read."""
PART = 85.0
"""Similarity from which the shorter of two texts is a part of the longer one."""
SHORTEST_PART = 4
"""Texts of fewer characters are part of too much to be recognised as a part."""

LEFT_OUT: frozenset[Kind] = FURNITURE | {"figure", "note"}
"""Kinds that models leave out of their Markdown; they stay as the draft has them."""


class Block(NamedTuple):
    """One block of Markdown: ``text`` without its markup, ``level`` as in `Region`."""

    kind: Kind
    text: str
    level: int = 0


SPAN = re.compile(
    r"""
      ^[ \t]*(?P<fence>```+|~~~+)[^\n]*\n(?P<code>.*?)(?:^[ \t]*(?P=fence)[ \t]*$|\Z)
    | (?P<table><table\b.*?(?:</table>|\Z))
    | ^[ \t]*\$\$(?P<formula>.*?)(?:\$\$|\Z)
    | (?P<pipes>^[^\n]*\|[^\n]*\n[ \t]*\|?[ \t]*:?-+:?[ \t]*\|[-|: \t]*$(?:\n[^\n]*\|[^\n]*)*)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
"""What may hold blank lines or line ends of its own; cut short at the end it still counts."""
WRAPPER = re.compile(r"\s*```(?:markdown|md|html)\s*\n(.*?)(?:\n```\s*)?\Z", re.DOTALL)
HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
ITEM = re.compile(r"(\s*)(?:[-*+•]\s+|(?=\d{1,3}[.)]\s))(\S.*)")
PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
WIDE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
"""Scripts that put no space between words."""


def parse_markdown(markdown: str) -> list[Block]:
    """Split ``markdown`` into blocks: headings, list items, HTML and pipe tables (both become
    HTML), display formulas, fenced code and paragraphs. Pictures are dropped."""
    if wrapper := WRAPPER.match(markdown):
        markdown = wrapper[1]
    blocks: list[Block] = []
    end = 0
    for span in SPAN.finditer(markdown):
        blocks += _lines_to_blocks(markdown[end : span.start()])
        end = span.end()
        if span["fence"]:
            blocks.append(Block("code", span["code"].strip("\n")))
        elif span["table"]:
            blocks.append(Block("table", compact_table(span["table"])))
        elif span["pipes"]:
            blocks.append(Block("table", _pipes_to_html(span["pipes"])))
        else:
            blocks.append(Block("formula", span["formula"].strip()))
    blocks += _lines_to_blocks(markdown[end:])
    return [block for block in blocks if block.text]


def compact_table(html: str) -> str:
    """``html`` with ``table``, ``tr`` and ``td`` only, no attributes but spans, and no space
    around tags: the way the models write tables."""
    html = re.sub(r"<(/?)th\b", r"<\1td", html, flags=re.IGNORECASE)
    html = re.sub(r"</?(?:thead|tbody|tfoot)\b[^>]*>", "", html, flags=re.IGNORECASE)
    html = re.sub(r"<(table|tr|td)\b([^>]*)>", _with_spans_only, html, flags=re.IGNORECASE)
    html = re.sub(r"\s*(</?(?:table|tr|td)\b[^>]*>)\s*", r"\1", html, flags=re.IGNORECASE)
    return html.strip()


def place_blocks(page: Page, blocks: Sequence[Block]) -> list[Region]:
    """``blocks`` as regions, in their order, with boxes and lines of the draft's regions.

    A block may be one region, several (the draft had split it), or a part of one (the draft
    had joined it). A block that resembles no region gets the whole page as its box. What
    models leave out stays behind the region that it followed in the draft.
    """
    texts = {
        i: _comparable(region.text)
        for i, region in enumerate(page.regions)
        if region.kind not in LEFT_OUT and _comparable(region.text)
    }
    free = set(texts)
    placed: list[tuple[int, Region]] = []
    for block in blocks:
        found = _matches(_comparable(block.text), texts, free)
        region = _region(page, block, found)
        if not free.issuperset(found):
            region.lines = []  # another part of the same region has them
        free -= set(found)
        anchor = found[-1] if found else placed[-1][0] if placed else -1
        placed.append((anchor, region))
    for i, region in enumerate(page.regions):
        if region.kind in LEFT_OUT:
            before = [n for n, (draft, _) in enumerate(placed) if draft < i]
            behind = max(before, key=lambda n: (placed[n][0], n), default=-1)
            placed.insert(behind + 1, (i, region))
    return [region for _, region in placed]


def _lines_to_blocks(text: str) -> Iterator[Block]:
    """Headings, list items and paragraphs."""
    kind: Kind = "text"
    level = 0
    lines: list[str] = []
    for line in [*PICTURE.sub("", text).split("\n"), ""]:
        heading, item = HEADING.match(line), ITEM.match(line)
        if heading or item or not line.strip():
            if lines:
                yield Block(kind, _joined(lines), level)
            kind, level, lines = "text", 0, []
        if heading:
            depth = len(heading[1])
            yield Block("title" if depth == 1 else "heading", heading[2], depth)
        elif item:
            kind, level, lines = "list_item", len(item[1].expandtabs(4)) // 2 + 1, [item[2]]
        elif line.strip():
            lines.append(line.strip())


def _joined(lines: Sequence[str]) -> str:
    def join(text: str, line: str) -> str:
        wide = WIDE.match(text[-1]) and WIDE.match(line[0])
        return f"{text}{'' if wide else ' '}{line}"

    return reduce(join, (line.strip() for line in lines))


def _pipes_to_html(pipes: str) -> str:
    header, _, *body = pipes.split("\n")
    rows = []
    for line in [header, *body]:
        cells = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
        texts = (escape(cell.strip().replace(r"\|", "|"), quote=False) for cell in cells)
        rows.append("<tr>" + "".join(f"<td>{text}</td>" for text in texts) + "</tr>")
    return "<table>" + "".join(rows) + "</table>"


def _with_spans_only(tag: re.Match[str]) -> str:
    spans = re.findall(r"\b(rowspan|colspan)\s*=\s*[\"']?(\d+)", tag[2], flags=re.IGNORECASE)
    kept = "".join(f' {name.lower()}="{n}"' for name, n in spans if n != "1")
    return f"<{tag[1].lower()}{kept}>"


def _comparable(text: str) -> str:
    """Letters and digits only: readers differ most in space, marks and markup."""
    return "".join(c for c in re.sub(r"<[^>]*>", "", text).casefold() if c.isalnum()) or "".join(
        text.split()
    )


def _matches(text: str, texts: dict[int, str], free: set[int]) -> list[int]:
    """Indices of the draft's regions that ``text`` is, in draft order; empty if none."""
    from rapidfuzz import fuzz

    if not text:
        return []
    order = sorted(free)
    alike = {i: fuzz.ratio(text, texts[i], score_cutoff=SAME) for i in order}
    best = max(order, key=lambda i: alike[i], default=None)
    if best is not None and alike[best] == 100.0:
        return [best]
    parts = [
        i
        for i in order
        if SHORTEST_PART <= len(texts[i]) <= len(text)
        and fuzz.partial_ratio(texts[i], text, score_cutoff=PART)
    ]
    if len(parts) > 1 or (parts and not (best is not None and alike[best])):
        return parts
    if best is not None and alike[best]:
        return [best]
    if len(text) < SHORTEST_PART:
        return []
    # The draft had joined it with its neighbours; other parts of it may have been placed.
    whole = [i for i in texts if len(texts[i]) > len(text)]
    cover = {i: fuzz.partial_ratio(text, texts[i], score_cutoff=PART) for i in whole}
    best = max(whole, key=lambda i: cover[i], default=None)
    return [best] if best is not None and cover[best] else []


def _region(page: Page, block: Block, found: Sequence[int]) -> Region:
    if not found:
        box = Box(0, 0, page.width, page.height)
        return Region(block.kind, box, block.text, block.level, provenance="corrected")
    drafts = [page.regions[i] for i in found]
    first = drafts[0]
    # Plain paragraphs may be headings, captions or notes: the layout knows, the text does not.
    kind, level = (block.kind, block.level) if block.kind != "text" else (first.kind, first.level)
    same = len(drafts) == 1 and _spaced(block.text) == _spaced(first.text)
    return replace(
        first,
        kind=kind,
        level=level,
        box=reduce(Box.union, (draft.box for draft in drafts)),
        text=block.text,
        lines=[line for draft in drafts for line in draft.lines],
        confidence=min(draft.confidence for draft in drafts),
        provenance="accepted" if same else "corrected",
    )


def _spaced(text: str) -> str:
    return " ".join(compact_table(text).split())
