from __future__ import annotations

from pathlib import Path

from PIL import Image

from hsd_docparse.document import Box, Page, Region
from hsd_docparse.render.figures import save_figures


def test_figures_are_cut_at_the_scale_of_the_picture(tmp_path: Path) -> None:
    image = Image.new("RGB", (200, 100), "white")
    image.paste("red", (40, 20, 80, 60))
    page = Page(7, 100, 50)
    page.regions = [
        Region("figure", Box(300, 10, 400, 30)),
        Region("text", Box(0, 0, 10, 10)),
        Region("figure", Box(20, 10, 40, 30)),
        Region("figure", Box(90, 40, 120, 60)),
    ]
    saved = save_figures(image, page, tmp_path / "new")
    assert {index: path.name for index, path in saved.items()} == {
        2: "page-7-fig-1.png",
        3: "page-7-fig-2.png",
    }
    with Image.open(saved[2]) as first, Image.open(saved[3]) as second:
        assert first.size == (40, 40)
        assert first.getcolors() == [(1600, (255, 0, 0))]
        assert second.size == (20, 20)


def test_a_page_without_figures_makes_no_folder(tmp_path: Path) -> None:
    assert save_figures(Image.new("RGB", (10, 10)), Page(1, 10, 10), tmp_path / "new") == {}
    assert not (tmp_path / "new").exists()
