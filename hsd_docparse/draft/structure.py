"""Lines and layout blocks become regions: what each is, its level, its text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from statistics import median

from hsd_docparse.confidence import of_lines
from hsd_docparse.document import FLOWING, FURNITURE, Box, Kind, Line, Region
from hsd_docparse.draft.contents import LEADERS, entries_of
from hsd_docparse.draft.formula import FUNCTIONS
from hsd_docparse.draft.joining import in_rows, join_lines
from hsd_docparse.draft.layout import Block
from hsd_docparse.draft.line_breaks import join_paragraph
from hsd_docparse.draft.margin_notes import margin_notes
from hsd_docparse.draft.paragraphs import (
    BULLET,
    MARKER,
    bounds,
    font_size,
    group_loose,
    split_columns,
    split_items,
    split_paragraphs,
)
from hsd_docparse.draft.tables import fill, to_html, without_wrapped_rows

PAGE_NUMBER = re.compile(
    r"[^\w]*(page|p\.|seite|第)?\s*(\d{1,4}|[ivxlc]{1,7})\s*(页|頁|(/|of|von)\s*\d{1,4})?[^\w.)]*",
    re.IGNORECASE,
)
_NUMBERING = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+\D")
_LEAST_CELLS = 3
"""Lines below which a block is no table, whatever the network says."""
_EQUATION_NUMBER = re.compile(r"[(（]\s*(\d{1,3}(?:\.\d{1,3})*[a-z]?)\s*[)）]")
_RELATION = re.compile(r"[=≡≤≥≠≈∼→⇒∈<>∝]")
_WORD = re.compile(r"[^\W\d_]{3,}")
_STATEMENT = re.compile(r"[A-Z][a-z]{3,}\s+\d")
"""Theorem 1.2 and its like begin a sentence."""
_CHECK_BOX = re.compile("[☐☑☒]")
"""What may stand in the lines alone, and not in the text that came with the cells."""
_WORDY = 0.4
"""Share of a formula's characters that may stand in words."""
_FURNITURE_BAND = 0.15
"""Share of the page height at its top and bottom beyond which nothing is furniture."""
_MARGIN = 0.06
"""Share of the page height at its top and bottom where loose short lines are furniture."""
_FULL = 0.35
"""Share of a picture's area under its text from which it is no picture."""
_SMALL_PRINT = 0.92
"""Size of footnotes over that of the running text, at most."""
_LABEL = re.compile(
    r"(table|tab\.|figure|fig\.|tabelle|abbildung|abb\.|tableau|tabla|figura)\s*\d+(\.\d+)*\s*[.:]\s",
    re.IGNORECASE,
)
"""A caption begins with it; in prose no colon and no full stop follows the number."""
_FOOTNOTE_MARK = re.compile(r"(\d{1,2}|[*∗†‡§¶])\s?[^\W\d_]")
_RUNNING: frozenset[Kind] = frozenset({"text", "list_item", "footnote"})
"""Blocks that notes in the margin beside them are taken out of."""
_DUPLICATE = 0.8
"""Share of a block inside another from which it says nothing new."""


def build_regions(
    lines: Sequence[Line],
    blocks: Sequence[Block],
    width: float,
    height: float,
    latex: Callable[[Sequence[Line]], str] | None = None,
) -> list[Region]:
    """Regions of a page ``width`` by ``height``, in no particular order. Every line is in
    exactly one of them. ``latex`` writes the lines of a formula, or nothing where it cannot."""
    blocks = without_duplicates(blocks)
    inside: list[list[Line]] = [[] for _ in blocks]
    loose: list[Line] = []
    notes = margin_notes(lines)
    marginal = {id(line) for note in notes for line in note}
    kept: set[int] = set()
    for line in lines:
        shares = [_share(block, line) for block in blocks]
        best = max(range(len(blocks)), key=shares.__getitem__, default=-1)
        inner = best >= 0 and max(shares[best]) > 0.5
        if id(line) in marginal and (not inner or blocks[best].kind in _RUNNING):
            continue
        kept.add(id(line))
        (inside[best] if inner else loose).append(line)
    regions = [
        _region("footnote", rest)
        for note in notes
        if (rest := [line for line in note if id(line) not in kept])
    ]
    for block, own in zip(blocks, inside, strict=True):
        regions += _regions_of_block(block, own)
    for group in group_loose(loose):
        regions += _split(_loose_kind(group, height), group)
    for region in regions:
        _correct_kind(region, width, height)
    if all(region.kind in FURNITURE for region in regions):
        # Furniture of nothing: a page with one line at its top holds that line.
        for region in regions:
            if region.kind != "page_number":
                region.kind = "text"
    if latex is not None:
        for region in regions:
            if region.kind == "formula":
                region.text = latex(region.lines) or region.text
    regions = _number_formulas(regions)
    _find_footnotes(regions)
    _set_levels(regions)
    return regions


def _share(block: Block, line: Line) -> tuple[float, float]:
    """How much of ``line`` the parts of ``block`` cover, and how much its box: blocks may run
    around each other, so the parts come first."""
    if not block.box.overlap(line.box):
        return 0.0, 0.0  # the usual case, and parts lie inside
    area = line.box.area or 1.0
    parts = sum(part.overlap(line.box) for part in block.parts) / area
    box = block.box.overlap(line.box) / area
    return (box if block.kind == "table" else min(1.0, parts), box)


def without_duplicates(blocks: Sequence[Block]) -> list[Block]:
    """Blocks less those that lie inside a larger one."""
    kept: list[Block] = []
    for block in sorted(blocks, key=lambda block: -block.box.area):
        covered = max((other.box.overlap(block.box) for other in kept), default=0.0)
        if block.box.area > 0 and covered < _DUPLICATE * block.box.area:
            kept.append(block)
    return kept


def _regions_of_block(block: Block, lines: list[Line]) -> list[Region]:
    if block.kind in _RUNNING or block.kind == "table":
        entries = entries_of(lines)
        led = any(LEADERS in entry.text for entry in entries)
        # Without leaders a table of two columns is as good.
        if entries and (led or block.kind != "table"):
            return [_region("list_item", entry.lines, text=entry.text) for entry in entries]
    if block.kind == "table" and len(lines) >= _LEAST_CELLS:
        ticked = any(_CHECK_BOX.search(line.text) for line in lines)
        if block.cells and any(cell.text for cell in block.cells) and not ticked:
            return [_table(block, lines)]
        if block.cells and lines:
            fill(block.cells, lines)
            return [_table(block, lines)]
    if block.kind == "table":
        return _split("text", lines)
    if block.kind == "figure":
        return [_region("figure", in_rows(lines), block.box)]
    return [region for column in split_columns(lines) for region in _split(block.kind, column)]


def _table(block: Block, lines: list[Line]) -> Region:
    return _region("table", lines, block.box, to_html(without_wrapped_rows(block.cells)))


def _split(kind: Kind, lines: list[Line]) -> list[Region]:
    """Regions of one kind of block, each with one paragraph, item or heading."""
    if not lines:
        return []
    if all(line.mono for line in lines) and kind in ("text", "list_item") and len(lines) > 1:
        return [_region("code", in_rows(lines), text=_code(lines))]
    if kind == "heading" and len(lines) > 4:
        kind = "text"
    if kind == "list_item":
        return [
            _region("list_item" if MARKER.match(item[0].text) else "text", item)
            for item in split_items(lines)
        ]
    if kind == "text":
        ordered = in_rows(lines)
        marked = sum(bool(MARKER.match(line.text)) for line in ordered)
        least = 1 if BULLET.match(ordered[0].text) else 2
        if marked >= least and MARKER.match(ordered[0].text):
            return _split("list_item", lines)
        return [_region("text", in_rows(group)) for group in split_paragraphs(lines)]
    return [_region(kind, in_rows(lines))]


def _region(kind: Kind, lines: list[Line], box: Box | None = None, text: str = "") -> Region:
    box = box or bounds(lines)
    for line in lines:
        box = box.union(line.box)
    joined = join_paragraph(lines) if kind == "text" else join_lines(lines)
    return Region(kind, box, text or joined, lines=lines, confidence=of_lines(lines))


def _code(lines: list[Line]) -> str:
    """Code keeps its lines, and its indents as far as the page shows them."""
    ordered = in_rows(lines)
    left = min(line.box.x0 for line in ordered)
    step = median(line.box.width / max(1, len(line.text)) for line in ordered)
    rows: list[str] = []
    last: Line | None = None
    for line in ordered:
        column = round((line.box.x0 - left) / step) if step else 0
        if last is not None and line.box.center[1] < last.box.y1 and line.box.x0 > last.box.x0:
            rows[-1] = rows[-1].ljust(column) + line.text
        else:
            rows.append(" " * column + line.text)
        last = line
    return "\n".join(rows)


def _loose_kind(lines: list[Line], height: float) -> Kind:
    box = bounds(lines)
    if len(lines) == 1:
        if box.y1 < _MARGIN * height:
            return "header"
        if box.y0 > (1 - _MARGIN) * height:
            return "footer"
    return "text"


def _correct_kind(region: Region, width: float, height: float) -> None:
    """What place and wording say against the network."""
    edge = min(region.box.y0, height - region.box.y1)
    side = min(region.box.x0, width - region.box.x1)
    if side < _MARGIN * width and region.box.height > 5 * region.box.width:
        # Stamps that run up the margin.
        region.kind = "header"
    elif region.kind in FURNITURE and edge > _FURNITURE_BAND * height:
        region.kind = "text"
    text = join_lines(region.lines)
    marginal = region.kind in FURNITURE or (
        edge < 1.5 * _MARGIN * height and len(region.lines) == 1
    )
    if marginal and PAGE_NUMBER.fullmatch(region.text):
        region.kind = "page_number"
    elif region.kind == "formula":
        if _is_prose(text) or _words(text) > 2 or _STATEMENT.match(text):
            region.kind = "text"
    elif region.kind == "text" and _LABEL.match(text):
        region.kind = "caption"
    elif _is_formula(text) and (
        (region.kind == "text" and _is_short(region))
        or (region.kind == "figure" and _is_full(region))
    ):
        region.kind = "formula"


def _is_full(region: Region) -> bool:
    """Whether text fills so much of a picture that there is none."""
    return sum(line.box.area for line in region.lines) > _FULL * region.box.area


def _is_short(region: Region) -> bool:
    """One row of an equation, which may have limits above and below."""
    return len(region.lines) <= 2 or (len(region.lines) <= 5 and len(region.text) < 60)


def _is_formula(text: str) -> bool:
    return bool(_RELATION.search(text)) and not _is_prose(text) and not _words(text)


def _words(text: str) -> int:
    """Words that a formula has no use for."""
    return sum(
        word not in FUNCTIONS and (word.islower() or word.istitle()) for word in _WORD.findall(text)
    )


def _is_prose(text: str) -> bool:
    words = sum(len(word) for word in _WORD.findall(text))
    return words > _WORDY * len(text) or any("\u2e80" < char < "\uff00" for char in text)


def _number_formulas(regions: list[Region]) -> list[Region]:
    """An equation number belongs to the formula on its row, as its ``\\tag``."""
    kept = []
    for region in regions:
        number = _EQUATION_NUMBER.fullmatch(region.text)
        y = region.box.center[1]
        beside = [
            other
            for other in regions
            if other.kind == "formula" and other is not region and other.box.y0 < y < other.box.y1
        ]
        if not number or not beside:
            kept.append(region)
            continue
        formula = min(beside, key=lambda other: abs(other.box.x1 - region.box.x0))
        formula.text += f" \\tag{{{number[1]}}}"
        formula.lines = [*formula.lines, *region.lines]
        formula.box = formula.box.union(region.box)
    return kept


def _find_footnotes(regions: Sequence[Region]) -> None:
    """Small print that begins with a mark and has no running text below it is a footnote."""
    usual = _body_size(regions)
    running = [region for region in regions if region.kind in FLOWING]
    for region in sorted(running, key=lambda region: -region.box.y0):
        small = median(map(font_size, region.lines)) < _SMALL_PRINT * usual
        lowest = not any(
            other.kind in FLOWING
            and other.box.y0 > region.box.y0
            and min(other.box.x1, region.box.x1) > max(other.box.x0, region.box.x0)
            for other in running
        )
        if small and lowest and _FOOTNOTE_MARK.match(region.text):
            region.kind = "footnote"


def _body_size(regions: Sequence[Region]) -> float:
    """The usual size of running text, 0 where there is none."""
    body = [
        font_size(line)
        for region in regions
        if region.kind in FLOWING
        for line in region.lines
        for _ in range(len(line.text))
    ]
    return median(body) if body else 0.0


def _set_levels(regions: list[Region]) -> None:
    """Levels of headings from their numbering, or else from their size over that of the body."""
    usual = _body_size(regions)
    for region in regions:
        if region.kind == "title":
            region.level = 1
        elif region.kind == "heading":
            numbered = _NUMBERING.match(region.text)
            size = median(font_size(line) for line in region.lines)
            if numbered:
                region.level = min(6, numbered[1].count(".") + 2)
            elif usual and size > 1.6 * usual:
                region.kind, region.level = "title", 1
            else:
                region.level = 2 if usual and size > 1.15 * usual else 3
