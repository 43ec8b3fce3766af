"""Finds the paragraphs and tables that a column or a page cuts in two.

Pages come one after the other, and only what may go on is remembered of them. A paragraph goes on
where its last line is full and ends no sentence, and where the next text of the same size begins
in the middle of one; a table where the next page begins with one of the same columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

from hsd_docparse.document import ASIDE, FLOWING, Box, Kind, Line, Page, Region
from hsd_docparse.draft.joining import is_right_to_left
from hsd_docparse.draft.line_breaks import first_word_width
from hsd_docparse.draft.paragraphs import MARKER, bounds, font_size, rows_of
from hsd_docparse.render.tables import table_rows

_FLOATS: frozenset[Kind] = frozenset({"figure", "caption", "table"})
"""What stands where there is room for it, in the middle of a paragraph too."""
_SENTENCE_END = re.compile(r"[.!?:;…。！？：；؟۔।][\"'”’»›)\]」』）]*\d{0,3}$")
"""The digits are the mark of a footnote."""
_OPENING = "([{\"'“‘«‹¿¡„‚"
_CONTINUED = re.compile(
    r"\b(continued|cont[.’']?d|cont\.|concluded|fortsetzung|fortgesetzt|suite|continuación)|[续續]",
    re.IGNORECASE,
)
_MOST_INDENT = 3.0
"""Font sizes by which lines of one column begin apart, at most."""
_WITNESSES = 3
"""Lines that tell where a column ends, at least."""
_PROSE = 15.0
"""Font sizes; lines of justified prose are longer."""
_REACH = 0.5
"""Font sizes by which lines may miss the edge of their column."""
_SAME_SIZE = 1.1
"""Size of one text over that of the other, at most."""
_BOTTOM, _TOP = 0.6, 0.4
"""Shares of the page's height: a table that goes on reaches below, and its rest begins above."""


class _Unfinished(NamedTuple):
    """A paragraph that may go on. ``room``: font sizes between the end of its last line and the
    edge of its column. ``justified``: all its lines end there."""

    page: int
    region: Region
    size: float
    room: float
    justified: bool


class _Table(NamedTuple):
    page: int
    region: Region


class Continuations:
    """Sets ``continues`` on the regions of a document's pages, which come in order."""

    def __init__(self) -> None:
        self._text: _Unfinished | None = None
        self._table: _Table | None = None

    def mark(self, page: Page) -> None:
        """Mark ``page``, whose regions are final. Pages that are left out or could not be read
        part those before them from those after."""
        if self._text is not None and self._text.page != page.number - 1:
            self._text = None
        if self._table is not None and self._table.page != page.number - 1:
            self._table = None
        first = True
        float_passed = False
        for region in page.regions:
            if region.kind in ASIDE:
                continue
            announced = first and _announces(region)
            if region.kind == "table":
                if first and self._table is not None:
                    region.continues = _same_table(self._table.region, region, page)
                low = region.box.y1 > _BOTTOM * page.height
                self._table = _Table(page.number, region) if low else None
            elif not announced:
                self._table = None
            if region.kind in FLOWING:
                before = self._text
                # Within a page a float stays where it is, between the parts.
                if before is not None and not (float_passed and before.page == page.number):
                    region.continues = _goes_on(before, region, page)
                self._text = _unfinished(region, page)
                float_passed = False
            elif region.kind not in _FLOATS and not announced:
                self._text = None
            float_passed = float_passed or region.kind in _FLOATS
            first = announced


def breaks_off(text: str) -> bool:
    """Whether ``text`` does not end with a sentence."""
    return bool(text.strip()) and not _SENTENCE_END.search(text.rstrip())


def _announces(region: Region) -> bool:
    """Whether ``region`` only says that the table below goes on."""
    return len(region.lines) == 1 and bool(_CONTINUED.search(region.text))


def _unfinished(region: Region, page: Page) -> _Unfinished | None:
    """``region`` where its text breaks off; nothing where it ends with a sentence."""
    text = region.text.rstrip()
    if not region.lines or not breaks_off(text):
        return None
    size = _size(region)
    end = _end(text)
    rows = _rows(region)
    ends = sorted(map(end, _column(region, page)))
    if len(ends) < _WITNESSES:
        return None
    # A few rows of the page may be wider than the column is here.
    edge = max(map(end, rows)) if len(rows) >= _WITNESSES else ends[3 * len(ends) // 4]
    room = (edge - end(rows[-1])) / size
    # Letters of one width end rows at one place without being justified.
    justified = (
        len(rows) > 1
        and not any(line.mono for line in region.lines)
        and all(
            abs(edge - end(row)) < _REACH * size and row.width > _PROSE * size for row in rows[1:]
        )
    )
    return _Unfinished(page.number, region, size, room, justified)


def _goes_on(before: _Unfinished, region: Region, page: Page) -> bool:
    """Whether ``region`` is the rest of the text ``before``, which is the last one before it."""
    # As the page shows it: in the text of a region, formulas are LaTeX.
    text = region.lines[0].text.lstrip() if region.lines else ""
    if not text or MARKER.match(text):
        return False
    if before.page == page.number and not _in_next_column(before.region, region):
        return False
    first, last = region.lines[0], before.region.lines[-1]
    size = _size(region)
    if max(size, before.size) > _SAME_SIZE * min(size, before.size) or first.bold != last.bold:
        return False
    width = first_word_width(first) / size
    if before.room > width + _REACH or not _starts_at_edge(region):
        return False
    begins_inside = text.lstrip(_OPENING)[:1].islower()
    return begins_inside or (before.justified and len(_rows(region)) > 1)


def _in_next_column(before: Region, region: Region) -> bool:
    last, first = _rows(before)[-1], _rows(region)[0]
    return (first.x0 > last.x1 or first.x1 < last.x0) and first.y1 < last.y1


def _starts_at_edge(region: Region) -> bool:
    """Whether the first row of ``region`` begins where the others do."""
    first, *others = map(_start(region.text), _rows(region))
    return not others or abs(first - median(others)) < _REACH * _size(region)


def _column(region: Region, page: Page) -> list[Box]:
    """Rows of running text on ``page`` that are as large as those of ``region`` and begin near
    where it does."""
    start, size = _start(region.text), _size(region)
    here = min(map(start, _rows(region)))
    return [
        row
        for other in page.regions
        if other.kind in FLOWING
        and other.lines
        and max(_size(other), size) < _SAME_SIZE * min(_size(other), size)
        for row in _rows(other)
        if abs(start(row) - here) < _MOST_INDENT * size
    ]


def _rows(region: Region) -> list[Box]:
    return [bounds(row) for row in rows_of(region.lines)]


def _start(text: str) -> Callable[[Box], float]:
    """Where a row begins, growing in the direction in which ``text`` is written."""
    return (lambda row: -row.x1) if is_right_to_left(text) else (lambda row: row.x0)


def _end(text: str) -> Callable[[Box], float]:
    return (lambda row: -row.x0) if is_right_to_left(text) else (lambda row: row.x1)


def _size(region: Region) -> float:
    return median(map(font_size, region.lines))


def _same_table(before: Region, table: Region, page: Page) -> bool:
    """Whether ``table`` at the top of ``page`` has the columns of ``before``."""
    if table.box.y0 > _TOP * page.height:
        return False
    columns, others = _columns(before), _columns(table)
    if len(columns) != len(others) or len(columns) < 2:
        return False
    pairs = [
        (one, other)
        for one, other in zip(columns, others, strict=True)
        if one is not None and other is not None
    ]
    if 2 * len(pairs) < len(columns) or len(pairs) < 2:
        return False
    # The margins of left and right pages differ.
    shift = pairs[0][1].start - pairs[0][0].start
    tolerance = max(_size(before), _size(table))
    return abs(shift) < 0.2 * page.width and all(
        min(abs(b + shift - a) for a, b in zip(other, one, strict=True)) < tolerance
        for one, other in pairs
    )


class _Column(NamedTuple):
    """Where the cells of a column usually begin, end and have their middle."""

    start: float
    middle: float
    end: float


def _columns(table: Region) -> list[_Column | None]:
    """The columns of ``table`` by the lines that its whole rows hold; None for one without."""
    rows = table_rows(table.text)
    count = max(map(len, rows), default=0)
    found: list[list[Line]] = [[] for _ in range(count)]
    unused = list(table.lines)
    for row in rows:
        for column, cell in enumerate(row):
            rest = "".join(cell.split())
            for line in list(unused):
                own = "".join(line.text.split())
                if own and own in rest:
                    rest = rest.replace(own, "", 1)
                    unused.remove(line)
                    if len(row) == count:
                        found[column].append(line)
    return [_place(lines) if lines else None for lines in found]


def _place(lines: Sequence[Line]) -> _Column:
    return _Column(
        median(line.box.x0 for line in lines),
        median(line.box.center[0] for line in lines),
        median(line.box.x1 for line in lines),
    )
