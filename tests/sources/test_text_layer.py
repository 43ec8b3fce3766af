from __future__ import annotations

import io
from collections.abc import Callable

import pymupdf
import pytest
from PIL import Image

from hsd_docparse.sources import TextLayer
from hsd_docparse.sources.glyphs import Frame, Glyph, Run, Style, composed, logical_clusters
from hsd_docparse.sources.text_layer import clean_text, read_text_layer

Draw = Callable[[pymupdf.Page], object]
SENTENCE = "The quick brown fox jumps over the lazy dog near the river bank."


def layer_of(draw: Draw, width: float = 400, height: float = 300) -> TextLayer:
    """The text layer of a page that ``draw`` fills, read back from a saved file."""
    with pymupdf.open() as pdf:
        draw(pdf.new_page(width=width, height=height))
        saved = pdf.tobytes()
    with pymupdf.open("pdf", saved) as pdf:
        return read_text_layer(pdf[0])


def texts(layer: TextLayer) -> list[str]:
    return [line.text for line in layer.lines]


def picture(color: str = "white", size: tuple[int, int] = (40, 30), mode: str = "RGB") -> bytes:
    buffer = io.BytesIO()
    Image.new(mode, size, color).save(buffer, "PNG")
    return buffer.getvalue()


def test_line_box_size_and_style() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((50, 100), "Plain", fontname="helv", fontsize=10)
        page.insert_text((50, 130), "Strong", fontname="hebo", fontsize=20)
        page.insert_text((50, 160), "code()", fontname="cour", fontsize=10)

    layer = layer_of(draw)
    assert layer.problem is None
    plain, strong, code = layer.lines
    assert plain.box.x0 == pytest.approx(50, abs=0.1)
    assert plain.box.x1 == pytest.approx(50 + pymupdf.get_text_length("Plain", "helv", 10), abs=0.1)
    # Ascender to descender of a 10-point font on the baseline y = 100.
    assert 90.5 < plain.box.y0 < 93.5
    assert 101 < plain.box.y1 < 103
    assert [line.size for line in layer.lines] == [10, 20, 10]
    assert [line.bold for line in layer.lines] == [False, True, False]
    assert [line.mono for line in layer.lines] == [False, False, True]
    assert (strong.text, code.text) == ("Strong", "code()")


def test_cells_of_a_row_are_lines_of_their_own() -> None:
    def draw(page: pymupdf.Page) -> None:
        for x, cell in ((50, "Product code"), (130, "12"), (160, "OK")):
            page.insert_text((x, 100), cell, fontsize=10)

    assert texts(layer_of(draw)) == ["Product code", "12", "OK"]


def test_cells_written_in_one_string_are_cut() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((50, 100), "Name        12        9.50", fontsize=10)

    assert texts(layer_of(draw)) == ["Name", "12", "9.50"]


@pytest.mark.parametrize("space", [2.0, 4.5, 8.0])
def test_justified_words_stay_together(space: float) -> None:
    words = ["seven", "words", "stand", "in", "a", "wide", "row"]

    def draw(page: pymupdf.Page) -> None:
        x = 40.0
        for word in words:
            page.insert_text((x, 100), word, fontsize=10)
            x += pymupdf.get_text_length(word, fontsize=10) + space

    assert texts(layer_of(draw)) == [" ".join(words)]


def test_font_changes_do_not_break_a_line() -> None:
    def draw(page: pymupdf.Page) -> None:
        x = 50.0
        for word, font in (("An", "helv"), ("important", "hebo"), ("word", "helv")):
            page.insert_text((x, 100), word, fontname=font, fontsize=10)
            x += pymupdf.get_text_length(word + " ", font, 10)

    (line,) = layer_of(draw).lines
    assert line.text == "An important word"
    assert line.bold  # most of its letters are


def test_superscripts_belong_to_their_line() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((50, 100), "E = mc", fontsize=12)
        end = 50 + pymupdf.get_text_length("E = mc", fontsize=12)
        page.insert_text((end, 95), "2", fontsize=7)

    (line,) = layer_of(draw).lines
    assert line.text == "E = mc2"
    assert line.size == 12


def test_columns_of_text_are_not_joined() -> None:
    def draw(page: pymupdf.Page) -> None:
        for y in (100, 112):
            page.insert_text((30, y), "left column text", fontsize=10)
        right = 30 + pymupdf.get_text_length("left column text", fontsize=10) + 11
        for y in (100, 112):
            page.insert_text((right, y), "right column text", fontsize=10)

    assert texts(layer_of(draw)) == ["left column text"] * 2 + ["right column text"] * 2


@pytest.mark.parametrize("offset", [0.0, 0.3])
def test_overprinted_letters_are_read_once(offset: float) -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((50, 100), "Shall wee see", fontsize=12)
        page.insert_text((50 + offset, 100), "Shall wee see", fontsize=12)

    (line,) = layer_of(draw).lines
    assert line.text == "Shall wee see"
    assert line.bold


def test_rotated_text_is_a_line_of_its_own() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((100, 100), SENTENCE[:30], fontsize=10)
        page.insert_text((30, 200), "Sideways mark", fontsize=10, rotate=90)

    upright, sideways = layer_of(draw).lines
    assert upright.text == SENTENCE[:30]
    assert sideways.text == "Sideways mark"
    assert sideways.box.height > 4 * sideways.box.width
    assert sideways.box.y1 == pytest.approx(200, abs=0.5)


def test_slanted_text_is_kept() -> None:
    def draw(page: pymupdf.Page) -> None:
        turn = pymupdf.Matrix(1, 1).prerotate(30)
        page.insert_text((100, 200), "Confidential", morph=(pymupdf.Point(100, 200), turn))

    (line,) = layer_of(draw).lines
    assert line.text == "Confidential"
    assert line.box.height > 20


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("of\ufb01ce  \u00a0work\t", "office work"),
        ("co\u00adoperate", "cooperate"),
        ("hyphen\u00ad", "hyphen-"),
        ("\uf0b7 item", "• item"),
        ("a\x01b\u200bc", "abc"),
        ("\ufef7\ufe8e", "لأا"),
        ("می\u200cروم", "می\u200cروم"),
    ],
)
def test_characters_are_cleaned(text: str, clean: str) -> None:
    assert clean_text(text) == clean


def test_right_to_left_text_is_in_logical_order() -> None:
    word = "\u05e9\u05dc\u05d5\u05dd"  # shalom
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=400, height=200)
        page.insert_htmlbox(pymupdf.Rect(20, 20, 380, 80), f"<p dir='rtl'>{word} 12 {word}</p>")
        saved = pdf.tobytes()
    with pymupdf.open("pdf", saved) as pdf:
        assert texts(read_text_layer(pdf[0])) == [f"{word} 12 {word}"]


def glyphs_of(word: str, right: float) -> list[Glyph]:
    """``word`` set from ``right`` to the left, ten units a letter."""
    style = Style("font", 12, 9, 3, bold=False, mono=False, painted=True, white=False)
    return [
        Glyph(char, right - 10 * (index + 1), right - 10 * index, 50, style)
        for index, char in enumerate(word)
    ]


def test_words_placed_one_by_one_are_put_in_reading_order() -> None:
    first, second, third = "\u0627\u0628\u062c", "\u062f\u0647", "\u0632\u062d"
    space = glyphs_of(" ", 0)
    written = glyphs_of(third, 100) + space + glyphs_of(first, 300) + space + glyphs_of(second, 200)
    with pymupdf.open() as pdf:
        layer = read_text_layer(pdf.new_page(), [Run(Frame(1, 0, False), written)])
    # The gaps between the words are wider than those of a line: each is one of its own, ...
    assert texts(layer) == [first, second, third]
    close = glyphs_of(third, 232) + space + glyphs_of(first, 300) + space + glyphs_of(second, 263)
    with pymupdf.open() as pdf:
        layer = read_text_layer(pdf.new_page(), [Run(Frame(1, 0, False), close)])
    # ... and here they are words of one line.
    assert texts(layer) == [f"{first} {second} {third}"]


def test_letters_of_a_right_to_left_ligature_are_in_order() -> None:
    """One glyph for lam and alef: turned around, its widthless alef comes before the lam."""
    seen, lam, alef, meem = "\u0633\u0644\u0627\u0645"
    (first, ligature, last) = glyphs_of(seen + lam + meem, 300)
    widthless = Glyph(alef, ligature.u1, ligature.u1, 50, ligature.style)
    ordered = logical_clusters([first, widthless, ligature, last])
    assert "".join(glyph.char for glyph in ordered) == seen + lam + alef + meem


def test_blank_page_is_sane_and_empty() -> None:
    layer = layer_of(lambda page: page.draw_line((10, 20), (300, 20)))
    assert (layer.lines, layer.problem) == ([], None)


def test_scan_has_no_text() -> None:
    layer = layer_of(lambda page: page.insert_image(page.rect, stream=picture()))
    assert layer.lines == []
    assert "no text" in layer.problem


@pytest.mark.parametrize("over", [True, False])
def test_ocr_behind_a_scan_is_not_trusted(over: bool) -> None:
    """Invisible text on a picture, or visible text under it: somebody's OCR."""

    def draw(page: pymupdf.Page) -> None:
        if over:
            page.insert_image(page.rect, stream=picture())
        page.insert_text((30, 100), SENTENCE, fontsize=9, render_mode=3 if over else 0)
        if not over:
            page.insert_image(page.rect, stream=picture())

    layer = layer_of(draw)
    assert (
        layer.problem == f"100 % of the text {'is invisible' if over else 'lies under a picture'}"
    )
    assert texts(layer) == [SENTENCE]


def test_a_transparent_picture_hides_nothing() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((30, 100), SENTENCE, fontsize=9)
        page.insert_image(page.rect, stream=picture(color="#00000000", mode="RGBA"))
        page.insert_text((30, 200), SENTENCE, fontsize=9)

    layer = layer_of(draw)
    assert layer.problem is None
    assert texts(layer) == [SENTENCE, SENTENCE]


def test_text_on_a_background_picture_is_text() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_image(page.rect, stream=picture("navy"))
        page.insert_text((30, 100), "A slide with a title", fontsize=30, color=(1, 1, 1))

    layer = layer_of(draw)
    assert layer.problem is None
    assert texts(layer) == ["A slide with a title"]


def test_stamp_on_a_scan_is_not_its_text() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_image(page.rect, stream=picture())
        page.insert_text((30, 290), "Downloaded on Monday", fontsize=6)

    assert "picture fills the page" in layer_of(draw).problem


def test_what_nobody_sees_is_left_out() -> None:
    def draw(page: pymupdf.Page) -> None:
        for y in (60, 80, 100, 120):
            page.insert_text((30, y), SENTENCE, fontsize=9)
        page.insert_text((30, 150), "transparent", render_mode=3)
        page.insert_text((30, 170), "white", color=(1, 1, 1))
        page.insert_text((500, 190), "outside")
        page.insert_text((30, 210), "tiny", fontsize=0.2)
        page.draw_rect((20, 220, 200, 250), fill=(0, 0, 0))
        page.insert_text((30, 240), "white on black", color=(1, 1, 1))

    layer = layer_of(draw)
    assert layer.problem is None
    assert texts(layer) == [SENTENCE] * 4 + ["white on black"]


def with_raw_font(codes: bytes, font: str) -> TextLayer:
    """A page that shows ``codes`` in an embedded TrueType font described by ``font``."""
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=400, height=200)
        page.insert_text((30, 100), "x")
        program = pdf.get_new_xref()
        pdf.update_object(program, "<<>>")
        pdf.update_stream(program, b"no usable font program")
        descriptor = pdf.get_new_xref()
        pdf.update_object(
            descriptor,
            "<</Type/FontDescriptor/FontName/ABCDEF+Odd/Flags 4/Ascent 800/Descent -200"
            "/FontBBox[0 -200 1000 800]/ItalicAngle 0/CapHeight 700/StemV 80"
            f"/FontFile2 {program} 0 R>>",
        )
        dictionary = pdf.get_new_xref()
        pdf.update_object(dictionary, font.format(descriptor=f"{descriptor} 0 R"))
        pdf.xref_set_key(page.xref, "Resources", f"<</Font<</F0 {dictionary} 0 R>>>>")
        pdf.update_stream(page.get_contents()[0], b"BT /F0 12 Tf 30 100 Td <" + codes + b"> Tj ET")
        saved = pdf.tobytes()
    with pymupdf.open("pdf", saved) as pdf:
        return read_text_layer(pdf[0])


SIMPLE = (
    "<</Type/Font/Subtype/TrueType/BaseFont/ABCDEF+Odd/FirstChar 33/LastChar 37"
    "/Widths[600 600 600 600 600]/FontDescriptor {descriptor}%s>>"
)


def test_codes_of_a_subset_font_without_a_map_are_not_text() -> None:
    layer = with_raw_font(b"2122232425", SIMPLE % "")
    assert layer.problem == "100 % of the characters have no meaning"


def test_codes_with_an_encoding_are_text() -> None:
    layer = with_raw_font(b"2122232425", SIMPLE % "/Encoding/WinAnsiEncoding")
    assert layer.problem is None
    assert texts(layer) == ['!"#$%']


def test_shifted_letters_do_not_spell_words() -> None:
    """A wrong ToUnicode map gives letters, but not those that words are made of."""
    shifted = "".join(
        chr((ord(c) - 97 + 1) % 26 + 97) if c.isalpha() else c for c in SENTENCE.lower()
    )

    def draw(page: pymupdf.Page) -> None:
        for y in range(50, 250, 20):
            page.insert_text((10, y), shifted, fontsize=9)

    assert layer_of(draw).problem == "the characters do not spell words"


def test_cells_of_a_comb_field_are_one_word() -> None:
    def draw(page: pymupdf.Page) -> None:
        widget = pymupdf.Widget()
        widget.field_name = "comb"
        widget.field_type = pymupdf.PDF_WIDGET_TYPE_TEXT
        widget.field_flags = pymupdf.PDF_TX_FIELD_IS_COMB
        widget.text_maxlen = 8
        widget.rect = pymupdf.Rect(50, 50, 350, 70)
        widget.field_value = "ABCDEFGH"
        widget.text_fontsize = 10
        page.add_widget(widget)

    assert texts(layer_of(draw)) == ["ABCDEFGH"]


def test_accents_that_stand_over_letters_are_composed() -> None:
    style = Style("F", 10, 8, 2, False, False, True, False)

    def glyph(char: str, u0: float, u1: float) -> Glyph:
        return Glyph(char, u0, u1, 0, style)

    before = [glyph("M", 0, 8), glyph("´", 9, 12), glyph("ı", 8, 11), glyph("c", 11, 16)]
    after = [glyph("n", 0, 5), glyph("c", 5, 10), glyph("ˇ", 6, 9), glyph("x", 10, 15)]
    apart = [glyph("x", 0, 5), glyph("^", 5, 8), glyph("2", 8, 12), glyph("~", 12, 15)]
    texts = ["".join(g.char for g in composed(row)) for row in (before, after, apart)]
    assert texts == ["Míc", "nčx", "x^2~"]
