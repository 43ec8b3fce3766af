from __future__ import annotations

import pymupdf
import pytest

from hsd_docparse import parse
from hsd_docparse.document import Document
from hsd_docparse.sources.annotations import read_notes

FOX = "The quick brown fox jumps over the lazy dog near the river bank. "


def annotated() -> pymupdf.Document:
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    page.insert_textbox((60, 60, 400, 200), FOX * 6, fontsize=11)
    page.insert_text((60, 250), "Another paragraph stands here alone.", fontsize=11)
    page.add_text_annot((420, 80), "Is this fox quick?")
    mark = page.add_highlight_annot(page.search_for("lazy dog")[0])
    mark.set_info(content="Which\ndog?", title="Ann")
    mark.update()
    page.add_highlight_annot(page.search_for("river bank")[0])
    page.add_freetext_annot((60, 300, 300, 330), "A text box", fontsize=11)
    hidden = page.add_text_annot((420, 250), "Nobody sees this")
    hidden.set_flags(pymupdf.mupdf.PDF_ANNOT_IS_HIDDEN)
    hidden.update()
    state = page.add_text_annot((420, 270), "Accepted by Ann")
    document.xref_set_key(state.xref, "StateModel", "(Review)")
    return document


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    path = tmp_path_factory.mktemp("notes") / "notes.pdf"
    annotated().save(path)
    return parse(path, mode="draft", deadline=None)


def test_notes_say_who_wrote_them_and_about_what() -> None:
    texts = [note.text for note in read_notes(annotated()[0])]
    assert texts == ["Is this fox quick?", "Ann, “lazy dog”: Which dog?"]


def test_notes_of_a_turned_page_are_where_it_shows_them() -> None:
    document = annotated()
    (_, upright) = read_notes(document[0])
    document[0].set_rotation(90)
    (_, turned) = read_notes(document[0])
    box = upright.box
    assert turned.text == upright.text
    assert turned.box == pytest.approx((842 - box.y1, box.x0, 842 - box.y0, box.x1), abs=0.1)


def test_notes_stand_behind_what_they_are_attached_to(document: Document) -> None:
    kinds = [region.kind for region in document.pages[0].regions]
    assert kinds == ["text", "note", "note", "text", "text"]
    markdown = document.to_markdown()
    assert "\n\n> Is this fox quick?\n\n> Ann, “lazy dog”: Which dog?\n\nAnother" in markdown
    assert markdown.count("A text box") == 1
    assert '<aside id="p1-b2" dir="auto">Ann, “lazy dog”' in document.to_html()
