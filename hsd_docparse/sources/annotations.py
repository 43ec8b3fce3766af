"""What readers wrote on a PDF page: sticky notes, and remarks on marked words. The page shows an
icon or a colour alone; text boxes and stamps are part of its text."""

from __future__ import annotations

import logging
from typing import NamedTuple

import pymupdf
from pymupdf import mupdf

from hsd_docparse.document import Box

_SHOWN = (mupdf.PDF_ANNOT_FREE_TEXT, mupdf.PDF_ANNOT_STAMP)
"""Annotations whose words are seen on the page."""
_NO_NOTES = (mupdf.PDF_ANNOT_LINK, mupdf.PDF_ANNOT_POPUP, mupdf.PDF_ANNOT_WIDGET)
_MARKS = (
    mupdf.PDF_ANNOT_HIGHLIGHT,
    mupdf.PDF_ANNOT_UNDERLINE,
    mupdf.PDF_ANNOT_SQUIGGLY,
    mupdf.PDF_ANNOT_STRIKE_OUT,
)
_UNSEEN = mupdf.PDF_ANNOT_IS_HIDDEN | mupdf.PDF_ANNOT_IS_NO_VIEW
_LONGEST_QUOTE = 80
"""Characters; longer passages are not repeated."""

logger = logging.getLogger(__name__)


class Note(NamedTuple):
    """``text`` begins with its author and the words that it is about, where they are known;
    ``box`` is what it is attached to, in page units."""

    box: Box
    text: str


def read_notes(page: pymupdf.Page) -> list[Note]:
    """Notes on ``page`` in the order of the file, up to one that is damaged."""
    notes = []
    try:
        for annotation in page.annots():
            if note := _note(page, annotation):
                notes.append(note)
    except Exception:
        logger.debug("page %d has a damaged annotation", page.number + 1, exc_info=True)
    return notes


def _note(page: pymupdf.Page, annotation: pymupdf.Annot) -> Note | None:
    from hsd_docparse.sources.text_layer import clean_text

    if annotation.type[0] in (*_SHOWN, *_NO_NOTES) or annotation.flags & _UNSEEN:
        return None
    text = clean_text(annotation.info["content"])
    if not text or _is_state(annotation):
        return None
    about = [clean_text(annotation.info["title"])]
    quote = clean_text(_marked_words(page, annotation))
    if quote and len(quote) <= _LONGEST_QUOTE:
        about.append(f"“{quote}”")
    before = ", ".join(filter(None, about))
    box = Box(*(annotation.rect * page.rotation_matrix).normalize())
    return Note(box, f"{before}: {text}" if before else text)


def _is_state(annotation: pymupdf.Annot) -> bool:
    """Whether it only says that somebody accepted or rejected another one."""
    kind, _ = annotation.parent.parent.xref_get_key(annotation.xref, "StateModel")
    return bool(kind != "null")


def _marked_words(page: pymupdf.Page, annotation: pymupdf.Annot) -> str:
    """The words under a highlight, an underline or a line through them."""
    if annotation.type[0] not in _MARKS:
        return ""
    corners = annotation.vertices or []
    quads = [pymupdf.Quad(corners[i : i + 4]).rect for i in range(0, len(corners) - 3, 4)]
    return " ".join(
        word
        for x0, y0, x1, y1, word, *_ in page.get_text("words")
        if any(pymupdf.Point((x0 + x1) / 2, (y0 + y1) / 2) in quad for quad in quads)
    )
