"""Tables: cells on a grid, the text that stands in them, and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape

from hsd_docparse.document import Box, Line
from hsd_docparse.draft.joining import in_rows, join_lines, join_texts
from hsd_docparse.draft.paragraphs import bounds, fullness, rows_of, strips

_DRIFT = 0.75
"""Cell heights by which a predicted cell may miss its text."""
_LEAST_ROWS = 3
_MOST_ROWS = 30
_FULL = 0.9
"""Fullness of a column of prose."""


@dataclass
class Cell:
    """A cell of the grid: row and column from 0, spans from 1."""

    row: int
    column: int
    box: Box
    row_span: int = 1
    column_span: int = 1
    text: str = ""

    def slots(self) -> set[tuple[int, int]]:
        """Every (row, column) of the grid that the cell covers."""
        return {
            (self.row + down, self.column + right)
            for down in range(self.row_span)
            for right in range(self.column_span)
        }


def fill(cells: list[Cell], lines: Iterable[Line]) -> None:
    """Put the text of every line into the cell that covers most of it, or the nearest one.

    Predicted cells drift down a long table, so a column that has as many rows of text as
    cells is filled in order.
    """
    inside: list[list[Line]] = [[] for _ in cells]
    for line in lines:
        best = max(
            range(len(cells)),
            key=lambda i: (cells[i].box.overlap(line.box), -_distance(cells[i], line)),
        )
        inside[best].append(line)
    for column in {cell.column for cell in cells}:
        own = [i for i, cell in enumerate(cells) if cell.column == column and cell.column_span == 1]
        own.sort(key=lambda i: cells[i].row)
        rows = rows_of([line for i in own for line in inside[i]])
        if len(rows) == len(own) and all(map(_near, (cells[i] for i in own), rows)):
            for i, row in zip(own, rows, strict=True):
                inside[i] = row
    for cell, held in zip(cells, inside, strict=True):
        cell.text = join_lines(in_rows(held))


def _near(cell: Cell, row: list[Line]) -> bool:
    return abs(bounds(row).center[1] - cell.box.center[1]) < _DRIFT * cell.box.height


def is_table(lines: Sequence[Line]) -> bool:
    """Whether ``lines`` are one table cut out of its page: a few rows of ragged pieces that no
    line joins across the gutters. Columns of prose have full lines, pages have more of them."""
    columns = strips(lines)
    rows = rows_of(lines)
    if len(columns) < 2 or not _LEAST_ROWS <= len(rows) <= _MOST_ROWS:
        return False
    if 2 * sum(len(row) > 1 for row in rows) < len(rows):
        return False
    full = sum(fullness(column) > _FULL for column in columns)
    return 2 * full <= len(columns)


def _distance(cell: Cell, line: Line) -> float:
    (x, y), box = line.box.center, cell.box
    return max(box.x0 - x, 0, x - box.x1) ** 2 + max(box.y0 - y, 0, y - box.y1) ** 2


def without_wrapped_rows(cells: list[Cell]) -> list[Cell]:
    """``cells`` with the rows that only go on with the label of the row above joined to it: their
    one text stands in the first column and begins in lower case, below a row that has values. The
    rows of an empty form, of which no row has any, stay."""
    rows: dict[int, list[Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.row, []).append(cell)
    joined: dict[int, Cell] = {}
    dropped: set[int] = set()
    for row in sorted(rows):
        filled = [cell for cell in rows[row] if cell.text]
        label = filled[0] if len(filled) == 1 and filled[0].column == 0 else None
        above = joined.get(row - 1)
        spans = any(cell.row_span > 1 for cell in rows[row]) or any(
            cell.row < row < cell.row + cell.row_span for cell in cells
        )
        if label and above and above.text and label.text[0].islower() and not spans and row > 1:
            above.text = join_texts([above.text, label.text])
            above.box = above.box.union(label.box)
            dropped.add(row)
            joined[row] = above
        elif len(filled) > 1 and filled[0].column == 0 and filled[0].column_span == 1:
            joined[row] = filled[0]
    kept = [cell for cell in cells if cell.row not in dropped]
    for cell in kept:
        cell.row -= sum(row < cell.row for row in dropped)
    return kept


def below(first: list[Cell], second: list[Cell]) -> list[Cell]:
    """Two grids of the same columns as one, ``second`` at the foot of ``first``."""
    start = max((cell.row + cell.row_span for cell in first), default=0)
    return [*first, *(replace(cell, row=cell.row + start) for cell in second)]


def columns_of(cells: Iterable[Cell]) -> int:
    return max((cell.column + cell.column_span for cell in cells), default=0)


def to_html(cells: list[Cell]) -> str:
    """``<table>`` with one ``<tr>`` a row of the grid and spans where they exceed one."""
    rows: list[list[Cell]] = [[] for _ in range(max(cell.row for cell in cells) + 1)]
    for cell in cells:
        rows[cell.row].append(cell)
    html = ["<table>"]
    for row in rows:
        html.append("<tr>")
        for cell in sorted(row, key=lambda cell: cell.column):
            spans = f' rowspan="{cell.row_span}"' if cell.row_span > 1 else ""
            spans += f' colspan="{cell.column_span}"' if cell.column_span > 1 else ""
            html.append(f"<td{spans}>{escape(cell.text, quote=False)}</td>")
        html.append("</tr>")
    return "".join([*html, "</table>"])
