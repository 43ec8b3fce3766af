from __future__ import annotations

import numpy as np

from hsd_docparse.document import Box, Line
from hsd_docparse.draft.table_structure import lay_out
from hsd_docparse.draft.tables import Cell, below, fill, is_table, to_html, without_wrapped_rows


def line(text: str, x0: float, y0: float, width: float = 30) -> Line:
    return Line(text, Box(x0, y0, x0 + width, y0 + 10), size=10)


def grid(rows: int, columns: int, drift: float = 0.0) -> list[Cell]:
    return [
        Cell(r, c, Box(50 * c, (20 + drift) * r, 50 * c + 50, (20 + drift) * r + 20))
        for r in range(rows)
        for c in range(columns)
    ]


def test_html_keeps_spans_and_escapes_text() -> None:
    box = Box(0, 0, 1, 1)
    cells = [
        Cell(0, 0, box, 2, 1, "a & b"),
        Cell(0, 1, box, 1, 2, "<c>"),
        Cell(1, 1, box, text="d"),
        Cell(1, 2, box),
    ]
    assert to_html(cells) == (
        '<table><tr><td rowspan="2">a &amp; b</td><td colspan="2">&lt;c&gt;</td></tr>'
        "<tr><td>d</td><td></td></tr></table>"
    )


def test_lines_go_to_the_cell_that_covers_them_and_join_there() -> None:
    cells = grid(2, 2)
    fill(cells, [line("two", 60, 9), line("one", 60, 0), line("three", 5, 25)])
    assert [cell.text for cell in cells] == ["", "one two", "three", ""]


def test_a_column_with_as_many_rows_as_cells_is_filled_in_order() -> None:
    cells = grid(4, 1, drift=3)
    fill(cells, [line(str(i), 5, 20 * i + 2) for i in range(4)])
    assert [cell.text for cell in cells] == ["0", "1", "2", "3"]


def test_a_picture_of_a_table_is_one_and_columns_of_prose_are_not() -> None:
    widths = (20, 40, 25, 10)
    rows = [line("x", x, 15 * i, w) for i, w in enumerate(widths) for x in (0, 60, 120)]
    prose = [line("x", x, 15 * i, 100) for i in range(6) for x in (0, 110)]
    assert is_table(rows)
    assert not is_table(prose)
    assert not is_table([*rows, line("a sentence below that crosses", 0, 80, 150)])


def test_emitted_tags_become_cells_on_a_grid() -> None:
    names = ["<tr>", "<td", ' rowspan="2"', ">", "</td>", "<td></td>", "</tr>"]
    names += ["<tr>", "<td></td>", "</tr>", "eos", "<td></td>"]
    corners = np.zeros((len(names), 4, 2), np.float32)
    corners[5] = [[10, 1], [30, 1], [30, 9], [10, 9]]
    cells = lay_out(names, corners)
    assert [(c.row, c.column, c.row_span) for c in cells] == [(0, 0, 2), (0, 1, 1), (1, 1, 1)]
    assert cells[1].box == Box(10, 1, 30, 9)


def row(number: int, *texts: str) -> list[Cell]:
    return [
        Cell(
            number,
            column,
            Box(50 * column, 10 * number, 50 * column + 50, 10 * number + 10),
            text=t,
        )
        for column, t in enumerate(texts)
    ]


def test_a_row_that_goes_on_with_the_label_above_joins_it() -> None:
    cells = [
        *row(0, "", "2009", "2010"),
        *row(1, "Companies that applied", "4", "5"),
        *row(2, "the amend-", "", ""),
        *row(3, "ment", "", ""),
        *row(4, "Others", "6", "7"),
        *row(5, "of which small", "1", "2"),
        *row(6, "Notes", "", ""),
    ]
    html = to_html(without_wrapped_rows(cells))
    assert html.count("<tr>") == 5
    assert "<td>Companies that applied the amendment</td><td>4</td><td>5</td>" in html
    assert "<td>of which small</td><td>1</td>" in html
    assert "<td>Notes</td>" in html


def test_grids_one_below_the_other_are_one() -> None:
    cells = below(row(0, "a", "b"), [*row(0, "c", "d"), *row(1, "e", "f")])
    assert to_html(cells) == (
        "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr>"
        "<tr><td>e</td><td>f</td></tr></table>"
    )
