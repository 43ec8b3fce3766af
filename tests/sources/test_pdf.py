from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from hsd_docparse.errors import InputError, PageError, PasswordError
from hsd_docparse.sources import DamagedPage, open_source
from hsd_docparse.sources.pixels import PIXEL_CAP

SENTENCE = "The quick brown fox jumps over the lazy dog near the river bank."


def make_pdf(path: Path, pages: int = 1, **options: object) -> Path:
    with pymupdf.open() as pdf:
        for number in range(1, pages + 1):
            pdf.new_page(width=300, height=200).insert_text((20, 50), f"Page {number} of the file")
        pdf.save(path, **options)
    return path


def test_pages_metadata_and_text(tmp_path: Path) -> None:
    with pymupdf.open(make_pdf(tmp_path / "source.pdf", 3)) as pdf:
        pdf.set_metadata({"title": "A title", "author": "Somebody"})
        pdf.save(tmp_path / "file.pdf")
    with open_source(tmp_path / "file.pdf", pages="2-3") as document:
        assert document.page_count == 3
        assert document.metadata["title"] == "A title"
        assert document.metadata["author"] == "Somebody"
        texts = [(p.number, p.text_layer().lines[0].text) for p in document.pages()]
    assert texts == [(2, "Page 2 of the file"), (3, "Page 3 of the file")]


def test_a_page_outside_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pages 1 to 2"):
        open_source(make_pdf(tmp_path / "file.pdf", 2), pages="3")


def test_passwords(tmp_path: Path) -> None:
    locked = make_pdf(
        tmp_path / "locked.pdf",
        encryption=pymupdf.PDF_ENCRYPT_AES_256,
        user_pw="secret",
        owner_pw="owner",
    )
    with pytest.raises(PasswordError, match="--password"):
        open_source(locked)
    with pytest.raises(PasswordError, match="not opened by the password"):
        open_source(locked, password="wrong")
    with open_source(locked, password="secret") as document:
        assert next(document.pages()).text_layer().lines[0].text == "Page 1 of the file"


def test_an_owner_password_does_not_lock(tmp_path: Path) -> None:
    guarded = make_pdf(
        tmp_path / "guarded.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="owner"
    )
    with open_source(guarded) as document:
        assert next(document.pages()).text_layer().lines[0].text == "Page 1 of the file"


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_turned_page_reads_upright(tmp_path: Path, rotation: int) -> None:
    """Whatever /Rotate says, a page whose text runs one way is shown the way it reads, and
    text and picture share their coordinates."""
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=400, height=200)
        page.insert_text((20, 50), SENTENCE, fontsize=12)
        page.set_rotation(rotation)
        pdf.save(tmp_path / "file.pdf")
    with open_source(tmp_path / "file.pdf") as document:
        shown = next(document.pages())
        assert (shown.width, shown.height) == (400, 200)
        assert bool(shown.warnings) == (rotation != 0)
        (line,) = shown.text_layer().lines
        picture = shown.render(72)
    assert line.text == SENTENCE
    assert line.box.x0 == pytest.approx(20, abs=1)
    assert line.box.y0 < 50 < line.box.y1
    box = tuple(round(v) for v in line.box.expanded(1))
    ink = picture.convert("L").point(lambda v: 255 * (v < 128)).getbbox()
    assert ink is not None
    assert all([box[0] <= ink[0], box[1] <= ink[1], ink[2] <= box[2], ink[3] <= box[3]]), (box, ink)


def test_rotation_is_honoured_where_no_text_tells(tmp_path: Path) -> None:
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=400, height=200)
        page.draw_rect((0, 0, 100, 50), fill=(1, 0, 0), color=None)
        page.set_rotation(90)
        pdf.save(tmp_path / "file.pdf")
    with open_source(tmp_path / "file.pdf") as document:
        shown = next(document.pages())
        assert (shown.width, shown.height) == (200, 400)
        picture = shown.render(72)
    assert picture.size == (200, 400)
    assert picture.getpixel((190, 10)) == (255, 0, 0)
    assert picture.getpixel((10, 10)) == (255, 255, 255)


def test_boxes_of_a_cropped_page_match_its_picture(tmp_path: Path) -> None:
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=400, height=400)
        page.insert_text((150, 150), "Inside")
        page.insert_text((10, 20), "Cut away")
        page.set_cropbox(pymupdf.Rect(100, 100, 300, 200))
        pdf.save(tmp_path / "file.pdf")
    with open_source(tmp_path / "file.pdf") as document:
        shown = next(document.pages())
        assert (shown.width, shown.height) == (200, 100)
        (line,) = shown.text_layer().lines
    assert line.text == "Inside"
    assert line.box.x0 == pytest.approx(50, abs=1)


def test_resolution_and_pixel_cap(tmp_path: Path) -> None:
    with pymupdf.open() as pdf:
        pdf.new_page(width=144, height=72)
        pdf.new_page(width=14_000, height=14_000)
        pdf.save(tmp_path / "file.pdf")
    with open_source(tmp_path / "file.pdf") as document:
        pages = document.pages()
        assert next(pages).render(150).size == (300, 150)
        poster = next(pages)
        picture = poster.render(200)
    assert picture.width / poster.width == pytest.approx(picture.height / poster.height)
    assert 0.95 * PIXEL_CAP < picture.width * picture.height < 1.01 * PIXEL_CAP


def test_native_resolution_of_a_scan(tmp_path: Path) -> None:
    pixels = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 600, 300))
    pixels.clear_with(200)
    with pymupdf.open() as pdf:
        scan = pdf.new_page(width=144, height=72)
        scan.insert_image(scan.rect, pixmap=pixels)
        figure = pdf.new_page(width=600, height=600)
        figure.insert_image(pymupdf.Rect(0, 0, 200, 100), pixmap=pixels)
        pdf.save(tmp_path / "file.pdf")
    with open_source(tmp_path / "file.pdf") as document:
        resolutions = [page.native_dpi for page in document.pages()]
    assert resolutions == [pytest.approx(300), None]


def test_a_closed_page_holds_nothing(tmp_path: Path) -> None:
    with open_source(make_pdf(tmp_path / "file.pdf", 2)) as document:
        first, _ = document.pages()
        with pytest.raises(PageError, match=r"Page 1 of .* is closed"):
            first.render(72)


def test_a_damaged_page_is_kept_as_such(tmp_path: Path) -> None:
    """The page tree names an object that is no page; the pages around it are read."""
    path = make_pdf(tmp_path / "file.pdf", 3)
    with pymupdf.open(path) as pdf:
        broken = pdf[1].xref
        pdf.update_object(broken, "null")
        pdf.save(tmp_path / "broken.pdf")
    with open_source(tmp_path / "broken.pdf") as document:
        pages = [
            page.error if isinstance(page, DamagedPage) else page.text_layer().lines[0].text
            for page in document.pages()
        ]
    assert pages[0] == "Page 1 of the file"
    assert pages[-1] == "Page 3 of the file"
    assert "Page 2 of" in pages[1]
    assert "cannot be opened" in pages[1]


def test_messages_of_mupdf_become_warnings(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pymupdf.open(make_pdf(tmp_path / "file.pdf")) as pdf:
        pdf.update_stream(pdf[0].get_contents()[0], b"BT /Nowhere 12 Tf (text) Tj ET }}} foo")
        pdf.save(tmp_path / "odd.pdf")
    with open_source(tmp_path / "odd.pdf") as document:
        page = next(document.pages())
        page.text_layer()
        assert any("MuPDF" in warning for warning in page.warnings)
    captured = capfd.readouterr()
    assert captured.err == ""
    assert captured.out == ""


def test_layers_hidden_by_an_expression_are_not_read(tmp_path: Path) -> None:
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=300, height=200)
        shown, hidden = pdf.add_ocg("shown", on=True), pdf.add_ocg("hidden", on=False)
        expressions = {
            "both": ["and", shown, hidden],
            "either": ["or", shown, hidden],
            "not the shown": ["not", shown],
            "not the hidden": ["not", ["and", hidden, shown]],
        }
        for index, (text, expression) in enumerate(expressions.items()):
            membership = pdf.set_ocmd(ve=expression)
            page.insert_text((20, 40 + 20 * index), text, oc=membership)
        page.insert_text((20, 160), "a hidden layer", oc=hidden)
        pdf.save(tmp_path / "layers.pdf")
    with open_source(tmp_path / "layers.pdf") as document:
        lines = next(document.pages()).text_layer().lines
    assert [line.text for line in lines] == ["either", "not the hidden"]
