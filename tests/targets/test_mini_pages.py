"""Lines as docparse-mini cuts them out of the picture of their page."""

import numpy as np
import pytest

from hsd_docparse.document import Box, Line, Source
from hsd_docparse.targets.mini.pages import cut

PIXELS = np.tile(np.arange(200, dtype=np.uint8)[:, None, None], (1, 300, 3))
"""Every row its own grey."""


@pytest.mark.parametrize(("source", "rows"), [("text_layer", (96, 143)), ("ocr", (100, 140))])
def test_boxes_of_glyphs_get_paper_above_and_below_which_those_of_a_detector_have(
    source: Source, rows: tuple[int, int]
) -> None:
    line = Line("a line", Box(50, 50, 125, 70), source=source)
    shown = cut(PIXELS, line, 2)
    assert (shown[0, 0, 0], shown[-1, 0, 0]) == rows
    assert shown.shape[1] == 164  # a sixth of its height on either side


def test_a_line_that_runs_up_the_page_is_laid_down() -> None:
    shown = cut(PIXELS, Line("a line", Box(50, 20, 70, 150), source="ocr"), 1)
    assert shown.shape == (21, 138, 3)
    assert list(shown[0, [0, -1], 0]) == [16, 153]


def test_a_single_letter_stands_however_thin_it_is() -> None:
    shown = cut(PIXELS, Line("l", Box(50, 50, 56, 70), source="ocr"), 1)
    assert shown.shape == (21, 14, 3)


def test_a_line_outside_the_picture_is_white() -> None:
    assert (cut(PIXELS, Line("gone", Box(400, 50, 480, 70)), 1) == 255).all()
