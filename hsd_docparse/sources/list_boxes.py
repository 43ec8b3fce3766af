"""List boxes of a form: the text layer has all their options, of which those that are chosen
stand out by a colour."""

from __future__ import annotations

from collections.abc import Sequence

import pymupdf

from hsd_docparse.document import Box, Line

_SIZE = 10.0
"""Font size in points where no option shows one."""


def with_list_boxes(page: pymupdf.Page, lines: Sequence[Line]) -> list[Line]:
    """``lines`` with the chosen values of every list box of ``page`` in the place of its
    options."""
    kept = list(lines)
    for widget in page.widgets(types=[pymupdf.mupdf.PDF_WIDGET_TYPE_LISTBOX]):
        box = Box(*(widget.rect * page.rotation_matrix).normalize())
        options = [line for line in kept if box.overlap(line.box) > 0.5 * line.box.area]
        kept = [line for line in kept if all(line is not option for option in options)]
        if values := _values(widget):
            size = options[0].size if options else _SIZE
            top = options[0].box.y0 if options else box.y0
            place = Box(box.x0, top, box.x1, min(top + 1.2 * size, box.y1))
            kept.append(Line(", ".join(values), place, size=size))
    return kept


def _values(widget: pymupdf.Widget) -> list[str]:
    """What is chosen, as the options show it."""
    mupdf = pymupdf.mupdf
    field = mupdf.pdf_annot_obj(widget._annot)  # type: ignore[attr-defined]
    value = mupdf.pdf_dict_get_inheritable(field, mupdf.pdf_new_name("V"))
    if mupdf.pdf_is_array(value):
        members = [mupdf.pdf_array_get(value, i) for i in range(mupdf.pdf_array_len(value))]
    else:
        members = [value]
    shown = dict(option for option in widget.choice_values or [] if not isinstance(option, str))
    texts = [mupdf.pdf_to_text_string(member) for member in members]
    return [shown.get(text, text) for text in texts if text]
