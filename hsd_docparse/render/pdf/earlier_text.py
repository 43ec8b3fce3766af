"""Takes the text that a page has already from those who search and copy: it was found wrong, or
nobody can see it, and the new layer says the same again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pikepdf

_MUTE = b"/Span <</ActualText <FEFF0020>>> BDC q\n"
_END = b"\nQ EMC"
"""What stands between says a space instead (PDF 2.0, 14.9.4), and looks as before."""
_OF_ITS_BYTES = ("/Length", "/Filter", "/DecodeParms")


def mute(page: pikepdf.Page, pdf: pikepdf.Pdf) -> None:
    """Extractors that heed replacement text find no other on ``page`` any more."""
    page.contents_add(_MUTE, prepend=True)
    page.contents_add(_END)
    page.Resources = _muted(page.resources, pdf, {})


def _muted(
    resources: pikepdf.Object, pdf: pikepdf.Pdf, done: dict[tuple[int, int], pikepdf.Object]
) -> pikepdf.Dictionary:
    """``resources`` with muted copies of its forms: other pages may show the same, and not every
    extractor hands replacement text down to them."""
    from pikepdf import Dictionary, Name

    own = Dictionary(dict(resources.items()))
    if "/XObject" not in own:
        return own
    own.XObject = Dictionary(dict(own.XObject.items()))
    for key, form in own.XObject.items():
        if form.get("/Subtype") != Name.Form:
            continue
        if form.objgen not in done:
            keys = {key: value for key, value in form.items() if key not in _OF_ITS_BYTES}
            copy = pdf.make_stream(_MUTE + form.read_bytes() + _END, keys)
            done[form.objgen] = copy
            if "/Resources" in form:
                copy.Resources = _muted(form.Resources, pdf, done)
        own.XObject[key] = done[form.objgen]
    return own
