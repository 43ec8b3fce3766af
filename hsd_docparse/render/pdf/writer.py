"""Writes a searchable PDF page by page.

Pages that were read by OCR get an invisible layer of text; what text they had is muted. Pages
whose own text was good stay as they are. The same pages give the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from hsd_docparse.document import Document, Page
from hsd_docparse.errors import InputError
from hsd_docparse.render.format import FigureLinks
from hsd_docparse.render.pdf.earlier_text import mute
from hsd_docparse.render.pdf.font import GlyphlessFont
from hsd_docparse.render.pdf.layer import FONT, write_layer
from hsd_docparse.render.pdf.sheets import open_sheets
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
        from pikepdf import Name

        sheet = self._sheets.sheet(page.number)
        read = any(line.source == "ocr" for region in page.regions for line in region.lines)
        if not read:
            self._all_tagged &= not page.regions and not page.error
            return
        said: list[list[Text]] = [texts(region) for region in page.regions]
        layer = write_layer(page, said, sheet, self._font)
        mute(sheet.page, self._sheets.pdf)
        if self._structure:
            sheet.page.contents_add(b"/Artifact BMC q\n", prepend=True)
            sheet.page.contents_add(b"\nQ EMC")
            self._structure.add_page(
                sheet.page, [[text.path for text in region if text.path] for region in said]
            )
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
