from __future__ import annotations

import pymupdf
import pytest

from hsd_docparse.sources.text_layer import read_text_layer


@pytest.mark.parametrize("rotation", [0, 90])
def test_drawn_dots_begin_list_items_and_a_lone_one_does_not(rotation: int) -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        page.set_rotation(rotation)
        seen = page.derotation_matrix

        def dot(x: float, y: float) -> None:
            page.draw_circle(pymupdf.Point(x, y) * seen, 1.6, fill=(0, 0, 0))

        def write(x: float, y: float, text: str) -> None:
            page.insert_text(pymupdf.Point(x, y) * seen, text, rotate=rotation)

        for y, text in [(100, "to approve the plan"), (120, "to postpone the roof")]:
            dot(58, y - 4)
            write(66, y, text)
        write(66, 140, "and a line of its own")
        dot(208, 196)
        write(216, 200, "a legend")
        lines = read_text_layer(page).lines
    assert [line.text for line in lines] == [
        "• to approve the plan",
        "• to postpone the roof",
        "and a line of its own",
        "a legend",
    ]
    assert lines[0].box.x0 == lines[1].box.x0 < lines[2].box.x0
