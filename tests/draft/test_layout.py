from __future__ import annotations

from pathlib import Path

import pymupdf
from PIL import Image

from hsd_docparse.draft.layout import _prepared


def test_the_analyses_see_large_pictures_small_and_the_page_upright(tmp_path: Path) -> None:
    picture = tmp_path / "wide.png"
    Image.radial_gradient("L").resize((2000, 1000)).convert("RGB").save(picture)
    with pymupdf.open() as document:
        page = document.new_page(width=300, height=200)
        page.insert_image(pymupdf.Rect(50, 50, 250, 150), filename=picture)
        page.set_rotation(90)
        with _prepared(page) as copy:
            assert all(
                width < 1000 and width == 2 * height
                for _, _, width, height, *_ in copy.get_images()
            )
            (seen,) = copy.get_image_rects(copy.get_images()[0][0])
            assert (copy.rect.width, copy.rect.height, copy.rotation) == (200, 300, 0)
            assert (seen.width, seen.height) == (100, 200)
        ((_, _, width, _, *_),) = page.get_images()
        assert (width, page.rotation) == (2000, 90)


def test_a_page_that_needs_nothing_is_given_as_it_is() -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((50, 50), "words")
        with _prepared(page) as same:
            assert same is page
