"""What a page paints, in order: MuPDF tells it without decoding a picture, by running the page's
content once."""

from __future__ import annotations

from typing import NamedTuple

import pymupdf

from hsd_docparse.document import Box


class Painted(NamedTuple):
    """One entry of a page's painting order."""

    operator: str
    box: Box


def painting_order(page: pymupdf.Page) -> list[Painted]:
    """What ``page`` paints, first to last, in units of the page as it is shown."""
    turn = page.rotation_matrix
    a, b, c, d, e, f = turn.a, turn.b, turn.c, turn.d, turn.e, turn.f
    painted: list[Painted] = []
    for operator, (x0, y0, x1, y1) in page.get_bboxlog():
        xs = (x0 * a + y0 * c + e, x1 * a + y1 * c + e)
        ys = (x0 * b + y0 * d + f, x1 * b + y1 * d + f)
        painted.append(Painted(operator, Box(min(xs), min(ys), max(xs), max(ys))))
    return painted
