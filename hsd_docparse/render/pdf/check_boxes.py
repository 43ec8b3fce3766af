"""The check boxes of a page's form: no text says whether they are ticked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from hsd_docparse.sources.check_boxes import EMPTY, TICKED

if TYPE_CHECKING:
    import pikepdf

_PUSH_BUTTON = 1 << 16  # PDF 1.7, table 226
_UNSEEN = 1 << 1 | 1 << 5  # Hidden and NoView, table 165


class CheckBox(NamedTuple):
    """``rectangle``: left, bottom, right and top in the PDF's own space."""

    rectangle: pikepdf.Rectangle
    mark: str


def check_boxes(page: pikepdf.Page) -> Iterator[CheckBox]:
    """Radio buttons too; a page whose form is damaged has those before the damage."""
    import pikepdf

    for widget in page.obj.get("/Annots", ()):
        try:
            flags = int(_inherited(widget, "/Ff") or 0)
            if _inherited(widget, "/FT") != "/Btn" or flags & _PUSH_BUTTON:
                continue
            if int(widget.get("/F", 0)) & _UNSEEN:
                continue
            mark = EMPTY if widget.get("/AS", "/Off") == "/Off" else TICKED
            yield CheckBox(pikepdf.Rectangle(*map(float, widget.Rect.as_list())), mark)
        except (AttributeError, TypeError, ValueError, pikepdf.PdfError):
            return


def _inherited(field: pikepdf.Object | None, key: str) -> pikepdf.Object | None:
    """What the field or one that it belongs to says."""
    for _ in range(16):  # a damaged file may have it belong to itself
        if field is None or key in field:
            break
        field = field.get("/Parent")
    return field.get(key) if field is not None else None
