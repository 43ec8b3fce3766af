from __future__ import annotations

import io
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pikepdf
import pymupdf
import pypdfium2
import pytest
from PIL import Image

from hsd_docparse.document import Box, Document, Line, Page, Region
from hsd_docparse.draft.orientation import turned
from hsd_docparse.errors import PasswordError
from hsd_docparse.render import FORMATS

WORD = "Harbour"
INK = pymupdf.Rect(90, 120, 150, 132)
"""Where the pages below have a black bar, in their own space: the word that was read there."""


def scan(path: Path, count: int = 1, hidden: str = "") -> Path:
    """A PDF of pictures, with text that nobody sees."""
    with pymupdf.open() as document:
        for number in range(count):
            page = document.new_page(width=300, height=200)
            page.draw_rect(INK, fill=(0, 0, 0))
            if hidden:
                page.insert_text((20, 50), hidden, render_mode=3)
            page.insert_link(
                {"kind": pymupdf.LINK_URI, "from": INK, "uri": f"https://x.y/{number}"}
            )
        document.set_metadata({"title": "Scanned"})
        document.set_toc([[1, f"Page {number + 1}", number + 1] for number in range(count)])
        document.save(path)
    return path


def shown(path: Path, number: int = 0) -> Image.Image:
    with pymupdf.open(path) as document:
        pixmap = document[number].get_pixmap(dpi=72)
        return Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples)


def ink(picture: Image.Image) -> Box:
    rows, columns = np.nonzero(np.asarray(picture.convert("L")) < 100)
    return Box(*map(float, (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)))


def read_page(picture: Image.Image, number: int = 1, text: str = WORD, rotation: float = 0) -> Page:
    """What OCR would say about ``picture``, turned clockwise by ``rotation``."""
    upright = turned(picture, rotation)
    box = ink(upright)
    region = Region("text", box, text, lines=[Line(text, box, source="ocr")])
    return Page(number, *map(float, upright.size), [region], rotation=rotation)


def write(source: Path, *pages: Page, password: str | None = None) -> Path:
    result = source.with_suffix(".ocr.pdf")
    document = Document(str(source), len(pages))
    with result.open("w+b") as stream:
        writer = FORMATS["pdf"].writer(stream, document, password=password)
        for page in pages:
            writer.write(page, {})
        writer.finish()
    return result


def said(path: Path) -> list[str]:
    """The words of each page, as three libraries extract them; they agree."""
    with pypdfium2.PdfDocument(path) as document:
        texts = [page.get_textpage().get_text_bounded().split() for page in document]
    with pymupdf.open(path) as document:
        assert [page.get_text().split() for page in document] == texts
    if shutil.which("pdftotext"):
        command = ["pdftotext", "-raw", path, "-"]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        assert [page.split() for page in run.stdout.split("\f")[:-1]] == texts
    return [" ".join(words) for words in texts]


def content(page: pikepdf.Page) -> bytes:
    return b"".join(part.read_bytes() for part in page.Contents)  # type: ignore[attr-defined]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270, 4, 349, 94])
@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (10, 30, 280, 190)])
def test_the_word_lies_on_its_ink(
    tmp_path: Path, rotation: float, rotate: int, crop: tuple[int, ...] | None
) -> None:
    """Whichever way the file turns the page, and however the reader turned it further."""
    source = scan(tmp_path / "scan.pdf")
    with pikepdf.open(source, allow_overwriting_input=True) as pdf:
        page = pdf.pages[0]
        page.MediaBox = [-20, 15, 300, 200]
        page.Rotate = rotate
        if crop:
            page.CropBox = list(crop)
        pdf.save(source)
    picture = shown(source)
    result = write(source, read_page(picture, rotation=rotation))
    assert said(result) == [WORD]
    with pymupdf.open(result) as document:
        page = document[0]
        (found,) = page.get_text("words")
        box = Box(*(pymupdf.Rect(found[:4]) * page.rotation_matrix).normalize())
    expected = ink(picture)
    assert box.center == pytest.approx(expected.center, abs=1.5)
    if rotation % 90 == 0:
        assert box.overlap(expected) > 0.9 * expected.area
    assert np.array_equal(np.asarray(shown(result)), np.asarray(picture))


def test_a_scaled_page_is_measured_in_its_unit(tmp_path: Path) -> None:
    source = scan(tmp_path / "scan.pdf")
    with pikepdf.open(source, allow_overwriting_input=True) as pdf:
        pdf.pages[0].UserUnit = 2
        pdf.save(source)
    result = write(source, read_page(shown(source)))
    with pymupdf.open(result) as document:
        (found,) = document[0].get_text("words")
    assert Box(*found[:4]).center == pytest.approx(ink(shown(source)).center, abs=1.5)


@pytest.mark.parametrize(
    "text", ["naïve œuvre", "港口委员会", "항만 위원회", "ท่าเรือ", "𝒜𝓑 😀", "a b c", "x"]
)
def test_any_script_comes_out_as_it_went_in(tmp_path: Path, text: str) -> None:
    source = scan(tmp_path / "scan.pdf")
    result = write(source, read_page(shown(source), text=text))
    assert said(result) == [text]


def test_right_to_left_words_come_out_as_they_went_in(tmp_path: Path) -> None:
    source = scan(tmp_path / "scan.pdf")
    result = write(source, read_page(shown(source), text="שלום עולם"))
    with pypdfium2.PdfDocument(result) as document:
        assert document[0].get_textpage().get_text_bounded().split() == ["שלום", "עולם"]


def test_text_that_nobody_saw_is_not_found_any_more(tmp_path: Path) -> None:
    source = scan(tmp_path / "scan.pdf", hidden="rubbish")
    assert said(source) == ["rubbish"]
    assert said(write(source, read_page(shown(source)))) == [WORD]


def test_hidden_text_in_forms_is_muted_on_that_page_alone(tmp_path: Path) -> None:
    source = tmp_path / "forms.pdf"
    inner = scan(tmp_path / "inner.pdf", hidden="rubbish")
    with pymupdf.open(inner) as shown_twice, pymupdf.open() as outer:
        for _ in range(2):
            page = outer.new_page(width=300, height=200)
            page.show_pdf_page(page.rect, shown_twice, 0)
        outer.save(source)
    kept = Page(2, 300, 200)
    assert said(write(source, read_page(shown(source)), kept)) == [WORD, "rubbish"]


def test_a_page_with_good_text_is_not_touched(tmp_path: Path) -> None:
    source = tmp_path / "letter.pdf"
    with pymupdf.open() as document:
        document.new_page(width=300, height=200).insert_text((20, 50), "Dear members")
        document.save(source)
    line = Line("Dear members", Box(20, 40, 90, 52))
    page = Page(1, 300, 200, [Region("text", line.box, line.text, lines=[line])])
    result = write(source, page)
    assert said(result) == ["Dear members"]
    with pikepdf.open(source) as before, pikepdf.open(result) as after:
        assert content(after.pages[0]) == content(before.pages[0])
        assert "/StructTreeRoot" not in after.Root


def test_what_belongs_to_the_document_stays(tmp_path: Path) -> None:
    source = scan(tmp_path / "scan.pdf", 2)
    pages = [read_page(shown(source, number), number + 1) for number in range(2)]
    with pymupdf.open(write(source, *pages)) as document:
        assert document.metadata["title"] == "Scanned"
        assert document.get_toc() == [[1, "Page 1", 1], [1, "Page 2", 2]]
        assert [link["uri"] for page in document for link in page.links()] == [
            "https://x.y/0",
            "https://x.y/1",
        ]


def test_pages_that_were_not_asked_for_are_gone(tmp_path: Path) -> None:
    source = scan(tmp_path / "scan.pdf", 3, hidden="secret")
    result = write(source, read_page(shown(source, 1), 2))
    assert said(result) == [WORD]
    with pikepdf.open(result) as pdf:
        pictures = [each for each in pdf.objects if isinstance(each, pikepdf.Stream)]
        assert sum(b"secret" in each.read_bytes() for each in pictures) <= 1


def test_the_same_pages_give_the_same_bytes(tmp_path: Path) -> None:
    source = scan(tmp_path / "scan.pdf", 2)
    pages = [read_page(shown(source, number), number + 1) for number in range(2)]
    assert write(source, *pages).read_bytes() == write(source, *pages).read_bytes()


def test_an_encrypted_document_comes_out_open(tmp_path: Path) -> None:
    plain, source = scan(tmp_path / "plain.pdf"), tmp_path / "secret.pdf"
    with pikepdf.open(plain) as pdf:
        pdf.save(source, encryption=pikepdf.Encryption(owner="o", user="u"))
    page = read_page(shown(plain))
    assert said(write(source, page, password="u")) == [WORD]
    with pytest.raises(PasswordError, match=r"secret\.pdf"):
        write(source, page, password="wrong")


def bar(size: tuple[int, int] = (300, 200)) -> Image.Image:
    picture = Image.new("L", size, 255)
    picture.paste(0, (90, 120, 150, 132))
    return picture


def test_an_image_becomes_a_page_of_its_size(tmp_path: Path) -> None:
    source = tmp_path / "photo.jpg"
    bar().save(source, dpi=(144, 144))
    result = write(source, read_page(bar()))
    assert said(result) == [WORD]
    with pikepdf.open(result) as pdf:
        assert [float(side) for side in pdf.pages[0].mediabox] == [0, 0, 150, 100]
        (picture,) = pdf.pages[0].get_images().values()
        assert picture.read_raw_bytes() == source.read_bytes()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_photos_stand_as_their_camera_says(tmp_path: Path, orientation: int) -> None:
    from PIL import ImageOps

    source = tmp_path / "photo.jpg"
    exif = Image.Exif()
    exif[0x0112] = orientation
    bar().save(source, dpi=(72, 72), exif=exif, quality=95)
    with Image.open(source) as opened:
        upright = ImageOps.exif_transpose(opened)
    result = write(source, read_page(upright))
    assert ink(shown(result)) == pytest.approx(ink(upright), abs=1.01)
    with pymupdf.open(result) as document:
        (found,) = document[0].get_text("words")
    assert Box(*found[:4]).center == pytest.approx(ink(upright).center, abs=1.5)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "I;16", "CMYK"])
def test_every_frame_of_a_tiff_is_a_page(tmp_path: Path, mode: str) -> None:
    source = tmp_path / "fax.tif"
    if mode == "I;16":
        frame = Image.fromarray(np.asarray(bar()).astype(np.uint16) * 257)
    else:
        frame = bar().convert("RGB").convert(mode)
    frame.save(source, save_all=True, append_images=[frame], dpi=(72, 72))
    pages = [read_page(bar(), number) for number in (1, 2)]
    result = write(source, *pages)
    assert said(result) == [WORD, WORD]
    for number in range(2):
        assert ink(shown(result, number)) == pytest.approx(ink(bar()), abs=1.01)


def test_a_frame_that_cannot_be_decoded_leaves_a_blank_page(tmp_path: Path) -> None:
    source = tmp_path / "cut.png"
    whole = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 255, (200, 300), np.uint8)
    Image.fromarray(noise).save(whole, "PNG")
    source.write_bytes(whole.getvalue()[:5000])
    assert said(write(source, Page(1, 300, 200, error="It is damaged."))) == [""]


def test_a_scan_becomes_a_tagged_document(tmp_path: Path) -> None:
    source = scan(tmp_path / "scan.pdf")
    page = read_page(shown(source))
    box, lines = page.regions[0].box, page.regions[0].lines
    table = "<table><tr><td>one</td><td>two</td></tr></table>"
    page.regions = [
        Region("header", box, "Running", lines=lines),
        Region("title", box, "Title", 1, lines),
        Region("list_item", box, "- first", 1, lines),
        Region("list_item", box, "- second", 1, lines),
        Region("table", box, table, lines=lines),
    ]
    with pikepdf.open(write(source, page)) as pdf:
        root = pdf.Root.StructTreeRoot
        assert bool(pdf.Root.MarkInfo.Marked)

        def outline(element: pikepdf.Object) -> object:
            below = [outline(kid) for kid in element.K if "/S" in kid]
            return (str(element.S), below) if below else str(element.S)

        assert outline(root.K[0]) == (
            "/Document",
            [
                "/H1",
                ("/L", [("/LI", ["/LBody"]), ("/LI", ["/LBody"])]),
                ("/Table", [("/TR", ["/TD", "/TD"])]),
            ],
        )
        owners = root.ParentTree.Nums[1]
        marks = [owner.K[0].MCID for owner in owners]
        assert marks == list(range(5))
        assert all(b"<</MCID %d>> BDC" % mark in content(pdf.pages[0]) for mark in marks)


def test_what_a_target_made_of_one_region_shares_its_lines(tmp_path: Path) -> None:
    source = scan(tmp_path / "scan.pdf")
    page = read_page(shown(source), text="First half. Second half.")
    (region,) = page.regions
    page.regions = [
        Region("text", region.box, "First half.", lines=region.lines),
        Region("text", region.box, "Second half."),
    ]
    result = write(source, page)
    assert said(result) == ["First half. Second half."]
    with pymupdf.open(result) as document:
        words = document[0].get_text("words")
    assert [word[0] for word in words] == sorted(word[0] for word in words)
    assert words[-1][2] == pytest.approx(region.box.x1, abs=1)


def test_words_without_a_place_are_not_lost(tmp_path: Path) -> None:
    source = scan(tmp_path / "scan.pdf")
    page = read_page(shown(source))
    page.regions.append(Region("text", Box(0, 0, page.width, page.height), "found nowhere"))
    assert said(write(source, page)) == [f"{WORD} found nowhere"]


def form(path: Path, rotate: int) -> Path:
    """A form of two boxes beside their labels, the first ticked, and a hidden one."""
    with pymupdf.open() as document:
        page = document.new_page(width=300, height=200)
        for y, label, ticked in ((50, "Harbour", True), (80, "Quay", False), (110, "Dock", True)):
            page.insert_text((60, y), label)
            box = pymupdf.Widget()
            box.field_type = pymupdf.PDF_WIDGET_TYPE_CHECKBOX
            box.field_name, box.field_value = label, ticked
            box.field_display = label == "Dock"
            box.rect = pymupdf.Rect(40, y - 10, 52, y + 2)
            page.add_widget(box)
        page.set_rotation(rotate)
        document.save(path)
    return path


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_boxes_say_whether_they_are_ticked(tmp_path: Path, rotate: int) -> None:
    """In their place, for no text does; how the page is read does not matter."""
    source = form(tmp_path / "form.pdf", rotate)
    line = Line("Harbour", Box(60, 40, 110, 52))
    page = Page(1, 300, 200, [Region("text", line.box, line.text, lines=[line])], rotation=-rotate)
    with pymupdf.open(write(source, page)) as document:
        found = {word[4]: Box(*word[:4]) for word in document[0].get_text("words")}
    assert {mark: box.center for mark, box in found.items() if mark in "☑☐☒"} == {
        "☑": pytest.approx((46, 46), abs=1),
        "☐": pytest.approx((46, 76), abs=1),
    }
    assert {"Harbour", "Quay", "Dock"} < set(found)


def test_words_in_a_picture_join_the_text_that_is_there(tmp_path: Path) -> None:
    source = tmp_path / "leaflet.pdf"
    with pymupdf.open() as document:
        page = document.new_page(width=300, height=200)
        page.insert_text((20, 50), "Dear members of the club")
        page.draw_rect(INK, fill=(0, 0, 0))
        document.save(source)
    text = Line("Dear members of the club", Box(20, 40, 160, 52))
    picture = Line(WORD, Box(*INK), source="ocr")
    regions = [
        Region("text", text.box, text.text, lines=[text]),
        Region("figure", picture.box, WORD, lines=[picture]),
    ]
    result = write(source, Page(1, 300, 200, regions))
    assert said(result) == [f"Dear members of the club {WORD}"]
    with pymupdf.open(result) as document:
        (found,) = (word for word in document[0].get_text("words") if word[4] == WORD)
    assert Box(*found[:4]).overlap(picture.box) > 0.9 * picture.box.area
    both = Region("figure", Box(20, 40, 160, 132), f"{text.text} {WORD}", lines=[text, picture])
    assert said(write(source, Page(1, 300, 200, [both]))) == said(result)
