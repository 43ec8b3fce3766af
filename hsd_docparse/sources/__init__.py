"""A file becomes pages, opened one at a time and released.

``open_source(path)`` picks the reader by content. Every reader yields `SourcePage`
objects lazily; a page holds nothing once the loop has moved on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from hsd_docparse.document import Line
from hsd_docparse.errors import InputError

if TYPE_CHECKING:
    import pymupdf
    from PIL import Image

    from hsd_docparse.sources.annotations import Note
    from hsd_docparse.sources.glyphs import Glyph, Run
    from hsd_docparse.sources.painting import Painted


class SourcePage(Protocol):
    """One page as its file gives it. Boxes are in page units (see `hsd_docparse.document`)."""

    number: int
    """1-based."""
    width: float
    height: float
    turn: float
    """Degrees, clockwise, by which the page is shown turned from what its file says."""
    warnings: list[str]
    """What a reader should know about this page: repairs, parts left out. It grows as the
    page is read."""

    @property
    def native_dpi(self) -> float | None:
        """Resolution of the picture that makes up the page (a scan), for choosing ``dpi``; 72
        for an image, whose units are its pixels; None for a page that is not a picture."""
        ...

    def render(self, dpi: float) -> Image.Image:
        """RGB picture of the page at ``dpi`` (72 units an inch for PDFs; images are already
        pixels, and are scaled down only to respect the pixel cap). The factor actually used
        is ``image.width / page.width``. Raises `PageError`."""
        ...

    def text_layer(self) -> TextLayer | None:
        """The text that the file itself carries, or None (images, scans). Raises `PageError`."""
        ...


@dataclass
class TextLayer:
    """Lines of a born-digital page in the order of the file, and a verdict on them."""

    lines: list[Line]
    problem: str | None = None
    """Why the text cannot be trusted (mojibake, invisible, misplaced), or None when sane."""
    runs: Sequence[Run] = ()
    """All glyphs of the page, hidden ones too, for who needs to know where each stands."""
    written: Sequence[tuple[Line, Sequence[Glyph]]] = ()
    """Those of each line that runs to the right, as the file has them in order: ``lines`` may
    have lost or mended some."""
    notes: Sequence[Note] = ()
    """What readers of the file attached to the page."""
    painted: Sequence[Painted] = ()
    """What the page paints, first to last: its rulings and pictures."""
    page: pymupdf.Page | None = None
    """The open PDF page that the lines were read from: its rulings and pictures help to see
    the layout."""


class SourceDocument(Protocol):
    """An open file. Iterating opens pages one by one; a page that cannot even be opened is
    yielded as a `DamagedPage`, so that nothing is lost silently."""

    page_count: int
    selected: list[int]
    """Numbers of the pages that were asked for, in the order of `pages`."""
    metadata: dict[str, str]

    def pages(self) -> Iterator[SourcePage | DamagedPage]: ...

    def __enter__(self) -> SourceDocument: ...

    def __exit__(self, *exc: object) -> None: ...


@dataclass
class DamagedPage:
    """Stands for a page that the reader could not open; ``error`` is one sentence."""

    number: int
    error: str


_IMAGE_MAGIC = (
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"II*\0",
    b"MM\0*",
    b"II+\0",
    b"MM\0+",
    b"GIF8",
    b"BM",
    b"\0\0\0\x0cjP  ",
)
HEAD = 1024
"""Bytes at the beginning of a file that tell what it is."""
_OFFICE_MAGIC = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


def content_type(head: bytes) -> Literal["pdf", "image"] | None:
    """What a file is by its first kilobyte, ``head``; None for what `open_source` does not read."""
    # The PDF header may follow up to a kilobyte of other bytes (PDF 1.7, appendix H).
    if b"%PDF-" in head:
        return "pdf"
    if head.startswith(_IMAGE_MAGIC) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP"):
        return "image"
    return None


def open_source(
    path: str | Path, *, password: str | None = None, pages: str | Sequence[int] | None = None
) -> SourceDocument:
    """Open a PDF or an image; the type is told by content, never by the name.

    ``pages`` selects 1-based pages, as numbers or as a text like ``"1-3,7"``; None is all of
    them. Raises `InputError` when the file cannot be read or a page does not exist, and
    `PasswordError` when it is encrypted and ``password`` does not open it.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the name.") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; name a file.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    if not head:
        raise InputError(f"{path} is empty.")
    kind = content_type(head)
    if kind == "pdf":
        from hsd_docparse.sources.pdf import PdfDocument

        return PdfDocument(path, password=password, pages=pages)
    if kind == "image":
        from hsd_docparse.sources.image import ImageDocument

        return ImageDocument(path, pages=pages)
    if head.startswith(_OFFICE_MAGIC):
        raise InputError(f"{path} is an office or archive file; save it as PDF first.")
    raise InputError(
        f"{path} is neither a PDF nor an image that docparse reads "
        "(PNG, JPEG, TIFF, GIF, BMP, WebP, JPEG 2000)."
    )
