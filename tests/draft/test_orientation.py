"""Pages at every angle are read upright, with boxes on the upright page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pymupdf
import pytest
from PIL import Image, ImageDraw, ImageFont

from hsd_docparse.document import Page
from hsd_docparse.draft import draft_page, upright_picture
from hsd_docparse.draft.gutters import split_at_gutters
from hsd_docparse.draft.ocr import _cut
from hsd_docparse.draft.orientation import is_sideways, skew, turned, turned_quads
from hsd_docparse.sources.image import ImageDocument

WORDS = "The harbour was quiet when the mist lifted and the first boats went out to sea again"
LINES = [WORDS[i : i + 44].strip() for i in (0, 4, 8, 12, 16, 20)]


def page(lines: list[str] = LINES, size: int = 26) -> Image.Image:
    image = Image.new("RGB", (900, 600), "white")
    draw = ImageDraw.Draw(image)
    for i, text in enumerate(lines):
        draw.text((90, 80 + 2 * size * i), text, "black", ImageFont.load_default(size))
    return image


def read(image: Image.Image, folder: Path) -> tuple[Page, Image.Image]:
    image.save(folder / "page.png")
    with ImageDocument(folder / "page.png") as source:
        opened = next(iter(source.pages()))
        draft = draft_page(opened)  # type: ignore[arg-type]
        return draft, upright_picture(opened, draft)  # type: ignore[arg-type]


@pytest.mark.parametrize("degrees", [90, 180, 270, 7, -4, 187])
def test_a_turned_scan_is_read_upright(degrees: float, tmp_path: Path) -> None:
    draft, picture = read(turned(page(), degrees), tmp_path)
    text = " ".join(region.text for region in draft.regions)
    assert LINES[0] in text
    assert (draft.rotation + degrees + 0.5) % 360 == pytest.approx(0.5, abs=0.6)
    assert (draft.width, draft.height) == pytest.approx(picture.size, abs=1)
    (line,) = (each for region in draft.regions for each in region.lines if each.text == LINES[0])
    inside = np.asarray(picture.crop(tuple(map(round, line.box)))).min(axis=2) < 100
    assert inside.mean() > 0.05
    assert line.box.height < 45


def test_a_level_page_is_left_alone(tmp_path: Path) -> None:
    draft, _ = read(page(), tmp_path)
    assert draft.rotation == 0
    assert (draft.width, draft.height) == (900, 600)


@pytest.mark.parametrize("degrees", [30.0, 90.0, 180.0, 271.5])
def test_quads_move_with_the_picture(degrees: float) -> None:
    image = Image.new("RGB", (400, 200), "white")
    ImageDraw.Draw(image).rectangle((300, 20, 340, 30), "black")
    quad = np.array([[[300, 20], [341, 20], [341, 31], [300, 31]]], np.float32)
    moved_image = turned(image, degrees)
    (moved,) = turned_quads(quad, degrees, image.size, moved_image.size)
    dark = np.argwhere(np.asarray(moved_image)[:, :, 0] < 128)[:, ::-1]
    assert moved.mean(axis=0) == pytest.approx(dark.mean(axis=0) + 0.5, abs=1)
    assert moved[0].sum() == moved.sum(axis=1).min()


def slanted(*slopes: float) -> np.ndarray:
    return np.array(
        [[[0, 50 * i], [200, 50 * i + 200 * s], [200, 50 * i + 200 * s + 20], [0, 50 * i + 20]]
         for i, s in enumerate(slopes)],
        np.float32,
    )  # fmt: skip


def test_skew_is_what_most_lines_agree_on() -> None:
    assert skew(slanted(0.05, 0.05, 0.05, 0.4)) == pytest.approx(2.86, abs=0.01)
    assert skew(slanted(0.001, 0.002)) == 0
    assert skew(slanted(0.0, 0.1, -0.1, 0.2)) == 0
    assert skew(slanted(0.5, 0.5)) == 0
    assert skew(np.zeros((0, 4, 2), np.float32)) == 0


def test_a_page_of_tall_lines_lies_on_its_side() -> None:
    tall = slanted(0, 0)[:, [0, 3, 2, 1], ::-1]
    assert is_sideways(tall)
    assert not is_sideways(np.concatenate([tall[:1], slanted(0, 0)]))
    assert not is_sideways(np.zeros((0, 4, 2), np.float32))


def columns(title: bool) -> tuple[np.ndarray, np.ndarray]:
    """Five rows of two columns, the second detected as one line, under a title that crosses."""
    image = np.full((300, 700, 3), 255, np.uint8)
    quads = []

    def ink(x0: int, y0: int, x1: int, y1: int) -> None:
        image[y0 + 4 : y1 - 4, x0:x1:3] = 0

    def detect(x0: float, y0: float, x1: float, y1: float) -> None:
        quads.append([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])

    for i in range(5):
        y = 100 + 30 * i
        ink(20, y, 330, y + 20)
        ink(350, y, 680, y + 20)
        if i == 1:
            detect(16, y, 684, y + 20)
        else:
            detect(16, y, 334, y + 20)
            detect(346, y, 684, y + 20)
    if title:
        ink(20, 20, 320, 70)
        ink(360, 20, 680, 70)
        detect(16, 20, 684, 70)
    return image, np.array(quads, np.float32)


def test_a_line_across_a_gutter_is_cut_in_two() -> None:
    image, quads = columns(title=False)
    cut = split_at_gutters(image, quads)
    assert len(cut) == len(quads) + 1
    (row,) = {tuple(quad[0]) for quad in cut.tolist() if quad[0][1] == 130} - {(16, 130)}
    assert row[0] == pytest.approx(350, abs=3)


def test_a_title_across_a_gutter_stays_whole() -> None:
    image, quads = columns(title=True)
    assert len(split_at_gutters(image, quads)) == len(quads) + 1


def test_words_far_apart_are_one_line_where_nothing_ends_between() -> None:
    image, quads = columns(title=False)
    assert len(split_at_gutters(image, quads[2:3])) == 1


def test_vertical_columns_are_read_from_right_to_left(tmp_path: Path) -> None:
    columns = ["山高月小水落石出", "清風徐來水波不興", "月出於東山之上少"]
    font = pymupdf.Font("cjk")
    with pymupdf.open() as document:
        sheet = document.new_page(width=300, height=420)
        writer = pymupdf.TextWriter(sheet.rect)
        for i, column in enumerate(columns):
            for j, char in enumerate(column):
                writer.append((220 - 60 * i, 60 + 40 * j), char, font, 30)
        writer.write_text(sheet)
        pixmap = sheet.get_pixmap(dpi=150)
    image = Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples)
    draft, picture = read(image, tmp_path)
    text = "".join(region.text for region in draft.regions)
    assert "".join(filter(str.isalpha, text)) == "".join(columns)
    assert draft.rotation == 0
    assert picture.size == image.size == (draft.width, draft.height)
    lines = [line for region in draft.regions for line in region.lines]
    assert [line.box.x0 for line in lines] == sorted((line.box.x0 for line in lines), reverse=True)
    assert all(line.box.height > 4 * line.box.width for line in lines)


@pytest.mark.parametrize("degrees", [90, -90])
def test_a_line_that_runs_up_or_down_beside_the_text_is_read(degrees: int, tmp_path: Path) -> None:
    image = page()
    strip = Image.new("RGB", (420, 40), "white")
    font = ImageFont.load_default(26)
    ImageDraw.Draw(strip).text((4, 4), "volume 12, printed in May", "black", font)
    image.paste(strip.rotate(degrees, expand=True), (20 if degrees > 0 else 840, 90))
    draft, _ = read(image, tmp_path)
    texts = [line.text for region in draft.regions for line in region.lines]
    assert any("volume 12" in text for text in texts)
    assert draft.rotation == 0


def test_a_letter_that_is_taller_than_wide_stands(tmp_path: Path) -> None:
    image = page()
    draw = ImageDraw.Draw(image)
    for i, letter in enumerate("17"):
        draw.text((700, 80 + 52 * i), letter, "black", ImageFont.load_default(26))
    draft, _ = read(image, tmp_path)
    texts = {line.text for region in draft.regions for line in region.lines}
    assert "7" in texts or any(text.endswith(" 7") for text in texts)


def test_a_long_line_that_slopes_a_little_is_cut_out_no_higher_than_it_is() -> None:
    quad = np.array([[50, 50], [850, 54], [850, 78], [50, 74]], np.float32)
    assert len(_cut(np.zeros((200, 900, 3), np.uint8), quad)) == 24
