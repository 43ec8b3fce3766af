from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hsd_docparse.errors import InputError, PageError
from hsd_docparse.sources import DamagedPage, image, open_source, pixels


def render(path: Path) -> Image.Image:
    with open_source(path) as document:
        page = next(document.pages())
        assert page.text_layer() is None
        return page.render(200)


def test_exif_orientation_turns_page_and_picture(tmp_path: Path) -> None:
    picture = Image.new("RGB", (40, 20), "white")
    picture.paste((255, 0, 0), (0, 0, 20, 20))
    exif = Image.Exif()
    exif[0x0112] = 6  # shown after turning 90 degrees clockwise
    picture.save(tmp_path / "photo.png", exif=exif)
    with open_source(tmp_path / "photo.png") as document:
        page = next(document.pages())
        assert (page.width, page.height) == (20, 40)
        shown = page.render(72)
    assert shown.size == (20, 40)
    assert shown.getpixel((10, 5)) == (255, 0, 0)
    assert shown.getpixel((10, 35)) == (255, 255, 255)


def test_transparency_is_laid_on_white(tmp_path: Path) -> None:
    Image.new("RGBA", (4, 4), (0, 0, 0, 0)).save(tmp_path / "clear.png")
    assert render(tmp_path / "clear.png").getpixel((1, 1)) == (255, 255, 255)
    palette = Image.new("P", (4, 4), 0)
    palette.putpalette([10, 20, 30, 200, 0, 0])
    palette.putpixel((3, 3), 1)
    palette.save(tmp_path / "palette.png", transparency=0)
    shown = render(tmp_path / "palette.png")
    assert shown.getpixel((0, 0)) == (255, 255, 255)
    assert shown.getpixel((3, 3)) == (200, 0, 0)


def test_sixteen_bits_keep_their_greys(tmp_path: Path) -> None:
    grey = np.array([[0, 32768, 65535]], dtype=np.uint16)
    Image.fromarray(grey).save(tmp_path / "deep.png")
    shown = render(tmp_path / "deep.png")
    assert shown.mode == "RGB"
    assert [shown.getpixel((x, 0))[0] for x in range(3)] == [0, 127, 255]


@pytest.mark.parametrize(
    ("mode", "color", "expected"),
    [("CMYK", (0, 0, 0, 255), 0), ("1", 1, 255), ("L", 77, 77)],
)
def test_other_modes_become_rgb(
    tmp_path: Path, mode: str, color: int | tuple[int, ...], expected: int
) -> None:
    Image.new(mode, (8, 8), color).save(tmp_path / "picture.tif")
    shown = render(tmp_path / "picture.tif")
    assert shown.mode == "RGB"
    assert shown.getpixel((4, 4)) == (expected,) * 3


def test_every_frame_of_a_tiff_is_a_page(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (10 + i, 20), (i, 0, 0)) for i in range(3)]
    frames[0].save(tmp_path / "pages.tif", save_all=True, append_images=frames[1:])
    with open_source(tmp_path / "pages.tif", pages="2-") as document:
        assert document.page_count == 3
        seen = [
            (page.number, page.width, page.render(72).getpixel((0, 0))) for page in document.pages()
        ]
    assert seen == [(2, 11, (1, 0, 0)), (3, 12, (2, 0, 0))]


def test_an_animation_is_one_page(tmp_path: Path) -> None:
    frames = [Image.new("P", (9, 9), i) for i in range(3)]
    frames[0].save(tmp_path / "moving.gif", save_all=True, append_images=frames[1:])
    with open_source(tmp_path / "moving.gif") as document:
        assert document.page_count == 1


def test_large_pictures_are_scaled_to_the_cap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pixels, "PIXEL_CAP", 10_000)
    Image.new("L", (400, 100)).save(tmp_path / "large.png")
    with open_source(tmp_path / "large.png") as document:
        page = next(document.pages())
        assert (page.width, page.height) == (400, 100)
        assert page.render(72).size == (200, 50)


def bomb(width: int, height: int) -> bytes:
    """A PNG whose header claims ``width`` x ``height`` pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checksum = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(100)))
        + chunk(b"IEND", b"")
    )


def test_bombs_are_refused_from_their_header(tmp_path: Path) -> None:
    (tmp_path / "bomb.png").write_bytes(bomb(60_000, 60_000))
    with pytest.raises(InputError, match="60000 x 60000 pixels"):
        open_source(tmp_path / "bomb.png")
    assert Image.MAX_IMAGE_PIXELS is not None


def test_large_scans_below_the_bomb_size_are_welcome(tmp_path: Path) -> None:
    (tmp_path / "large.png").write_bytes(bomb(15_000, 15_000))
    with open_source(tmp_path / "large.png") as document:
        assert document.page_count == 1


def test_a_truncated_picture_is_a_sentence(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jpg"
    noise = np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)
    Image.fromarray(noise).save(whole)
    (tmp_path / "half.jpg").write_bytes(whole.read_bytes()[:9000])
    with open_source(tmp_path / "half.jpg") as document:
        page = next(document.pages())
        with pytest.raises(PageError, match=r"Page 1 of .*half.jpg cannot be decoded"):
            page.render(72)


def test_an_oversized_frame_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = [Image.new("L", (10, 10)), Image.new("L", (50, 50)), Image.new("L", (10, 10))]
    frames[0].save(tmp_path / "pages.tif", save_all=True, append_images=frames[1:])
    monkeypatch.setattr(image, "MAX_PIXELS", 1000)
    with open_source(tmp_path / "pages.tif") as document:
        pages = list(document.pages())
    assert [isinstance(page, DamagedPage) for page in pages] == [False, True, False]
    assert "50 x 50" in pages[1].error


def test_a_page_is_closed_when_the_loop_moves_on(tmp_path: Path) -> None:
    Image.new("L", (10, 10)).save(tmp_path / "one.png")
    with open_source(tmp_path / "one.png") as document:
        (page,) = document.pages()
    with pytest.raises(PageError, match="closed"):
        page.render(72)


def test_a_truncated_png_is_a_damaged_page(tmp_path: Path) -> None:
    """Its EXIF data may stand behind the pixels, so opening the page decodes it."""
    whole = tmp_path / "whole.png"
    noise = np.random.default_rng(0).integers(0, 255, (100, 100, 3), dtype=np.uint8)
    Image.fromarray(noise).save(whole)
    (tmp_path / "half.png").write_bytes(whole.read_bytes()[:9000])
    with open_source(tmp_path / "half.png") as document:
        (page,) = document.pages()
    assert isinstance(page, DamagedPage)
    assert "truncated or damaged" in page.error


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("value", [1, 2, 7])
def test_a_tiff_with_any_byte_changed_opens_or_is_refused(tmp_path: Path, value: int) -> None:
    frame = Image.new("L", (8, 8))
    frame.save(tmp_path / "whole.tif", save_all=True, append_images=[frame])
    whole = (tmp_path / "whole.tif").read_bytes()
    path = tmp_path / "changed.tif"
    refused = []
    for place in range(4, len(whole)):
        path.write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
        try:
            open_source(path).__exit__()
        except InputError as error:
            refused.append(str(error))
    assert refused
    assert all(str(path) in message for message in refused)
