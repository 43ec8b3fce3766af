"""A searchable PDF: the pages as they were, with what was read on them as invisible text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, ClassVar

from hsd_docparse.document import Document

if TYPE_CHECKING:
    from hsd_docparse.render.pdf.writer import PdfWriter


@dataclass(frozen=True)
class PdfFormat:
    """Named ``.ocr.pdf``, so that no document is overwritten by its own result."""

    binary: ClassVar[bool] = True
    embeds: ClassVar[bool] = False

    suffix: str = ".ocr.pdf"

    def writer(
        self, stream: BinaryIO, document: Document, *, password: str | None = None
    ) -> PdfWriter:
        """Raises `InputError` where the document's file cannot be opened again."""
        from hsd_docparse.render.pdf.writer import PdfWriter

        return PdfWriter(stream, document, password)


PDF = PdfFormat()
