"""PDF files through MuPDF: one page in memory at a time, as the reader sees it.

The bindings raise errors of many classes on damaged data, bare `Exception` among them; every
call into them is therefore guarded by ``except Exception``.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import pymupdf
from PIL import Image

from hsd_docparse.errors import InputError, PageError, PasswordError
from hsd_docparse.sources import DamagedPage, SourceDocument, SourcePage, TextLayer
from hsd_docparse.sources.glyphs import Run, read_runs
from hsd_docparse.sources.optional_content import apply_visibility_expressions, layer_states
from hsd_docparse.sources.page_ranges import select_pages
from hsd_docparse.sources.pixels import capped_scale
from hsd_docparse.sources.text_layer import read_text_layer, without_surrogates

# MuPDF would print to stderr; its messages are kept and end up in the warnings of the page.
pymupdf.TOOLS.mupdf_display_errors(False)
pymupdf.TOOLS.mupdf_display_warnings(False)
# The bindings' own messages go to the `pymupdf` logger, for who wants them.
pymupdf.set_messages(pylogging=True, pylogging_name="pymupdf", pylogging_level=logging.DEBUG)

_STORE_PAGES = 4  # after as many pages MuPDF gives up the fonts and pictures that it keeps
_UPRIGHT_SHARE = 0.8
_FEWEST_GLYPHS = 40
_ROTATION = {(1, 0): 0, (0, -1): 90, (-1, 0): 180, (0, 1): 270}
_METADATA = ("title", "author", "subject", "keywords", "creator", "producer")


class PdfPage:
    """One open page. Page units are points of the page as shown: /Rotate is applied, and a
    page whose text runs up, down or upside down is turned until it reads upright."""

    def __init__(self, document: pymupdf.Document, number: int, layers: dict[int, bool]) -> None:
        self.number = number
        self.turn = 0.0
        self.warnings: list[str] = []
        self._name = document.name
        self._runs: list[Run] | None = None
        page = document.load_page(number - 1)
        # MuPDF shows a blank sheet where the page tree leads to something else.
        keys = document.xref_get_keys(page.xref)
        if not {"Contents", "MediaBox", "Resources", "Type"} & set(keys):
            raise ValueError("the page tree leads to no page")
        apply_visibility_expressions(page, layers)
        self._turn_upright(page)
        self._page: pymupdf.Page | None = page
        self.width, self.height = page.rect.width, page.rect.height

    def _turn_upright(self, page: pymupdf.Page) -> None:
        try:
            runs = read_runs(page)
        except Exception:
            return  # reported where the text is asked for; the picture may still be fine
        directions = Counter[tuple[int, int]]()
        for run in runs:
            if run.slanted is None and not run.frame.vertical:
                visible = sum(glyph.style.painted for glyph in run.glyphs)
                directions[run.frame.dx, run.frame.dy] += visible
        total = sum(len(run.glyphs) for run in runs)
        turn = next(
            (
                _ROTATION[direction]
                for direction, count in directions.items()
                if count >= max(_FEWEST_GLYPHS, _UPRIGHT_SHARE * total)
            ),
            0,
        )
        if turn:
            page.set_rotation((page.rotation + turn) % 360)
            self.turn = float(turn)
            self.warnings.append(f"page turned by {turn} degrees so that its text is upright")
            runs = read_runs(page)
        self._runs = runs

    @property
    def native_dpi(self) -> float | None:
        """Pixels an inch of the largest picture, where pictures fill most of the page."""
        page = self._open_page()
        try:
            images = page.get_image_info()
        except Exception:
            return None
        sheet = page.rect * page.derotation_matrix
        best, covered = None, 0.0
        largest = 0.0
        for image in images:
            box = pymupdf.Rect(image["bbox"])
            area = (box & sheet).get_area()
            covered += area
            if area > largest:
                a, b, *_ = image["transform"]
                largest, best = area, image["width"] / max((a * a + b * b) ** 0.5, 1e-6) * 72
        return best if covered > 0.5 * sheet.get_area() else None

    def render(self, dpi: float) -> Image.Image:
        """RGB picture of the page, at a lower resolution where ``dpi`` would exceed the pixel
        cap. Raises `PageError`."""
        page = self._open_page()
        scale = capped_scale(self.width, self.height, dpi / 72)
        try:
            pixmap = page.get_pixmap(
                matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csRGB, alpha=False
            )
            picture = Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples_mv)
        except Exception as error:
            self._fail("drawn", error)
        self._collect_warnings()
        return picture

    def text_layer(self) -> TextLayer:
        """Lines of text and a verdict on them. Raises `PageError`."""
        page = self._open_page()
        try:
            layer = read_text_layer(page, self._runs)
        except Exception as error:
            self._fail("searched for text", error)
        finally:
            self._runs = None  # consumed: marking doubled glyphs changes them
        self._collect_warnings()
        return layer

    def close(self) -> None:
        self._page = self._runs = None

    def _open_page(self) -> pymupdf.Page:
        if self._page is None:
            raise PageError(f"Page {self.number} of {self._name} is closed already.")
        return self._page

    def _fail(self, verb: str, error: BaseException) -> NoReturn:
        raise PageError(
            f"Page {self.number} of {self._name} cannot be {verb} ({_sentence(error)}); "
            "the file is damaged there."
        ) from error

    def _collect_warnings(self) -> None:
        for message in _mupdf_messages():
            if message not in self.warnings:
                self.warnings.append(message)


class PdfDocument:
    """An open PDF. Raises `InputError` when it is damaged beyond reading or has no pages, and
    `PasswordError` when ``password`` does not open it."""

    def __init__(
        self,
        path: Path,
        *,
        password: str | None = None,
        pages: str | Sequence[int] | None = None,
    ) -> None:
        pymupdf.TOOLS.reset_mupdf_warnings()
        try:
            document = pymupdf.open(path, filetype="pdf")
        except Exception as error:
            raise InputError(
                f"{path} is damaged: it starts like a PDF but cannot be read."
            ) from error
        try:
            if document.needs_pass and not document.authenticate(password or ""):
                raise PasswordError(
                    f"{path} is encrypted; give its password with --password."
                    if password is None
                    else f"{path} is not opened by the password given with --password."
                )
            self.page_count = document.page_count
            if self.page_count < 1:
                raise InputError(f"{path} is damaged: no page can be found in it.")
            self.selected = select_pages(pages, self.page_count)
            information = document.metadata or {}
            self._layers = layer_states(document)
        except InputError:
            document.close()
            raise
        except Exception as error:
            document.close()
            raise InputError(f"{path} is damaged: its pages cannot be listed.") from error
        self.metadata = {
            key: without_surrogates(information[key]) for key in _METADATA if information.get(key)
        }
        self._document = document
        self._path = path

    def pages(self) -> Iterator[SourcePage | DamagedPage]:
        """Selected pages in order; each is closed when the next is asked for."""
        for number in self.selected:
            pymupdf.TOOLS.reset_mupdf_warnings()
            try:
                page = PdfPage(self._document, number, self._layers)
            except Exception as error:
                yield DamagedPage(
                    number,
                    f"Page {number} of {self._path} cannot be opened ({_sentence(error)}).",
                )
                continue
            yield page
            page.close()
            if number % _STORE_PAGES == 0:
                pymupdf.TOOLS.store_shrink(100)

    def __enter__(self) -> SourceDocument:
        return self

    def __exit__(self, *exc: object) -> None:
        self._document.close()


def _sentence(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def _mupdf_messages() -> list[str]:
    """What MuPDF complained about since it was last asked, without its bookkeeping lines."""
    lines = pymupdf.TOOLS.mupdf_warnings().splitlines()
    return [
        "MuPDF: " + "".join(char if char.isprintable() else "?" for char in line)
        for line in lines
        if line and not line.startswith("... repeated")
    ]
