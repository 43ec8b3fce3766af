"""Writes a searchable PDF page by page.

Pages that were read by OCR get an invisible layer of text; what text they had is muted. Pages
whose own text was good keep it, and get a layer of what it lacks: words in pictures, and whether
boxes are ticked. The same pages give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from hsd_docparse.document import Box, Document, Line, Page, Region
from hsd_docparse.errors import InputError
from hsd_docparse.render.format import FigureLinks
from hsd_docparse.render.pdf.check_boxes import check_boxes
from hsd_docparse.render.pdf.earlier_text import mute
from hsd_docparse.render.pdf.font import GlyphlessFont
from hsd_docparse.render.pdf.layer import FONT, to_sheet, write_layer
from hsd_docparse.render.pdf.sheets import Sheet, open_sheets
from hsd_docparse.render.pdf.tags import Structure, Text, texts


class PdfWriter:
    """Its result is not encrypted, whatever the document was. Where all pages got a layer and the
    document had no structure, it is a tagged PDF."""

    def __init__(self, stream: BinaryIO, document: Document, password: str | None) -> None:
        self._stream = stream
        self._path = Path(document.source)
        self._sheets = open_sheets(self._path, password)
        pdf = self._sheets.pdf
        self._font = GlyphlessFont(pdf)
        self._structure = None if "/StructTreeRoot" in pdf.Root else Structure(pdf)
        self._all_tagged = True

    def write(self, page: Page, figures: FigureLinks) -> None:
        sheet = self._sheets.sheet(page.number)
        if not _is_read_by_ocr(page):
            self._all_tagged &= not page.regions and not page.error
            lacking = Page(page.number, page.width, page.height, rotation=page.rotation)
            lacking.regions = [*_pasted(page.regions), *_ticked(page, sheet)]
            if lacking.regions:
                # The page may have a structure of its own, which knows nothing of these.
                said = [[Text(text.words, ()) for text in texts(r)] for r in lacking.regions]
                self._lay(write_layer(lacking, said, sheet, self._font), sheet)
            return
        said = [texts(region) for region in page.regions]
        layer = write_layer(page, said, sheet, self._font)
        mute(sheet.page, self._sheets.pdf)
        if self._structure:
            sheet.page.contents_add(b"/Artifact BMC q\n", prepend=True)
            sheet.page.contents_add(b"\nQ EMC")
            self._structure.add_page(
                sheet.page, [[text.path for text in region if text.path] for region in said]
            )
        self._lay(layer, sheet)

    def _lay(self, layer: bytes, sheet: Sheet) -> None:
        from pikepdf import Name

        sheet.page.contents_add(layer)
        sheet.page.add_resource(self._font.object, Name.Font, Name(FONT))

    def finish(self) -> None:
        """Raises `InputError` where the file is too damaged to be written again."""
        import pikepdf

        self._sheets.finish()
        self._font.finish()
        if self._structure and self._all_tagged:
            self._structure.finish()
        try:
            self._sheets.pdf.save(self._stream, deterministic_id=True, encryption=False)
        except pikepdf.PdfError as error:
            raise InputError(
                f"{self._path} is too damaged to be written as a PDF again ({error})."
            ) from error
        self._sheets.pdf.close()


def _is_read_by_ocr(page: Page) -> bool:
    """Whether most of what the page says was."""
    letters = {"ocr": 0, "text_layer": 0}
    for region in page.regions:
        for line in region.lines:
            letters[line.source] += len(line.text)
    return letters["ocr"] > letters["text_layer"]


def _pasted(regions: Sequence[Region]) -> list[Region]:
    """What OCR read on a page that has a text layer: words in pictures."""
    pasted = []
    for region in regions:
        lines = [line for line in region.lines if line.source == "ocr"]
        if lines and len(lines) == len(region.lines):
            pasted.append(region)
        elif lines:
            text = " ".join(line.text for line in lines)
            pasted.append(Region("text", region.box, text, lines=lines))
    return pasted


def _ticked(page: Page, sheet: Sheet) -> Iterator[Region]:
    """The check boxes of the page's form, each with the mark that says its state."""
    to_page = to_sheet(page, sheet).inverse()
    for rectangle, mark in check_boxes(sheet.page):
        at = to_page.transform(rectangle)
        box = Box(at.llx, at.lly, at.urx, at.ury)
        yield Region("text", box, mark, lines=[Line(mark, box, source="ocr")])
