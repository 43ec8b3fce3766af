"""The pages that a text layer is laid on: those of a PDF, or the pictures of an image file."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from hsd_docparse.errors import InputError, PasswordError
from hsd_docparse.sources import HEAD, content_type

if TYPE_CHECKING:
    import pikepdf
    from PIL import Image

_LARGEST_PAGE = 14_400.0
"""Points; viewers refuse larger pages."""
_UNKNOWN_DPI = 150.0
_LEAST_DPI, _MOST_DPI = 36.0, 4800.0
"""What an image file says beyond that is no resolution."""
_ORIENTATION = 0x0112
_SPACES = {"1": "/DeviceGray", "L": "/DeviceGray", "RGB": "/DeviceRGB", "CMYK": "/DeviceCMYK"}
_UPRIGHT: dict[int, tuple[int, int, int, int, int, int]] = {
    1: (1, 0, 0, 1, 0, 0),
    2: (-1, 0, 0, 1, 1, 0),
    3: (-1, 0, 0, -1, 1, 1),
    4: (1, 0, 0, -1, 0, 1),
    5: (0, -1, -1, 0, 1, 1),
    6: (0, -1, 1, 0, 0, 1),
    7: (0, 1, 1, 0, 0, 0),
    8: (0, 1, -1, 0, 1, 0),
}
"""How each EXIF orientation moves the unit square so that the picture stands upright."""


class Sheet(NamedTuple):
    """A page of the new PDF. ``matrix`` takes places on the page as its file shows it, ``width`` x
    ``height`` page units, y pointing down, to places in the PDF's page."""

    page: pikepdf.Page
    matrix: pikepdf.Matrix
    width: float
    height: float


class Sheets(Protocol):
    pdf: pikepdf.Pdf

    def sheet(self, number: int) -> Sheet:
        """Page ``number`` (from 1) of the file; pages are asked for in ascending order."""
        ...

    def finish(self) -> None:
        """Drop the pages that nobody asked for."""
        ...


def open_sheets(path: Path, password: str | None) -> Sheets:
    """Raises `InputError` where the file cannot be opened."""
    with path.open("rb") as file:
        kind = content_type(file.read(HEAD))
    return PdfSheets(path, password) if kind == "pdf" else ImageSheets(path)


class PdfSheets:
    """The pages of a PDF, with all that belongs to them."""

    def __init__(self, path: Path, password: str | None) -> None:
        import pikepdf

        try:
            self.pdf = pikepdf.open(path, password=password or "")
        except pikepdf.PasswordError:
            raise PasswordError(f"{path} is not opened by the password given.") from None
        except pikepdf.PdfError as error:
            raise InputError(
                f"{path} is too damaged to be written as a PDF again ({error})."
            ) from error
        self._asked: set[int] = set()

    def sheet(self, number: int) -> Sheet:
        self._asked.add(number)
        page = self.pdf.pages[number - 1]
        matrix, width, height = _as_shown(page)
        return Sheet(page, matrix, width, height)

    def finish(self) -> None:
        for number in range(len(self.pdf.pages), 0, -1):
            if number not in self._asked:
                dropped = self.pdf.pages[number - 1].obj
                del self.pdf.pages[number - 1]
                # Links and outlines may still lead there: to a page without content.
                for key in list(dropped.keys()):
                    del dropped[key]


class ImageSheets:
    """A page for each frame of an image file, as large as its resolution makes it. A JPEG stays as
    it is; everything else is packed without loss."""

    def __init__(self, path: Path) -> None:
        import pikepdf

        self.pdf = pikepdf.new()
        self._path = path

    def sheet(self, number: int) -> Sheet:
        import pikepdf
        from PIL import Image

        from hsd_docparse.sources.image import own_size_limit

        try:
            with own_size_limit(), Image.open(self._path) as image:
                image.seek(number - 1)
                orientation = image.getexif().get(_ORIENTATION, 1)
                width, height = image.size
                dpi = image.info.get("dpi", (0, 0))
                as_is = image.format in ("JPEG", "MPO") and image.mode in _SPACES
                stream = self._jpeg(image) if as_is else self._packed(image)
        except Exception:  # Pillow's decoders raise errors of many classes
            page = self.pdf.add_blank_page()
            return Sheet(page, pikepdf.Matrix(), *map(float, page.mediabox[2:]))
        dpi_x, dpi_y = (float(n) if _LEAST_DPI <= n <= _MOST_DPI else _UNKNOWN_DPI for n in dpi)
        if orientation > 4:
            width, height, dpi_x, dpi_y = height, width, dpi_y, dpi_x
        shrunk = min(1.0, _LARGEST_PAGE / max(72 * width / dpi_x, 72 * height / dpi_y))
        across, down = 72 * shrunk / dpi_x, 72 * shrunk / dpi_y
        size = (width * across, height * down)
        page = self.pdf.add_blank_page(page_size=size)
        page.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(Picture=stream))
        scale = pikepdf.Matrix(size[0], 0, 0, size[1], 0, 0)
        upright = pikepdf.Matrix(*_UPRIGHT.get(orientation, _UPRIGHT[1])) @ scale
        page.Contents = self.pdf.make_stream(b"q %s cm /Picture Do Q" % upright.encode())
        shown = pikepdf.Matrix(across, 0, 0, -down, 0, size[1])
        return Sheet(page, shown, float(width), float(height))

    def finish(self) -> None:
        """Nothing to do: a frame becomes a page when it is asked for."""

    def _jpeg(self, image: Image.Image) -> pikepdf.Stream:
        from pikepdf import Array, Name

        stream = self._stream(image.mode, image.size, self._path.read_bytes(), Name.DCTDecode)
        if image.mode == "CMYK" and "adobe" in image.info:
            stream.Decode = Array([1, 0] * 4)  # such files hold how much ink is not there
        return stream

    def _packed(self, image: Image.Image) -> pikepdf.Stream:
        from pikepdf import Name

        from hsd_docparse.sources.image import to_rgb

        plain = image.mode in ("1", "L", "RGB") and "transparency" not in image.info
        pixels = image if plain else to_rgb(image)
        data = zlib.compress(pixels.tobytes())
        return self._stream(pixels.mode, pixels.size, data, Name.FlateDecode)

    def _stream(
        self, mode: str, size: tuple[int, int], data: bytes, packing: pikepdf.Name
    ) -> pikepdf.Stream:
        from pikepdf import Name

        return self.pdf.make_stream(
            data,
            Type=Name.XObject,
            Subtype=Name.Image,
            Width=size[0],
            Height=size[1],
            ColorSpace=Name(_SPACES[mode]),
            BitsPerComponent=1 if mode == "1" else 8,
            Filter=packing,
        )


def _as_shown(page: pikepdf.Page) -> tuple[pikepdf.Matrix, float, float]:
    """Points of a PDF page as a viewer shows it (y pointing down) to those of its own space, and
    its width and height as shown."""
    import pikepdf

    media, crop = _box(page.mediabox), _box(page.cropbox)
    x0, y0 = max(media[0], crop[0]), max(media[1], crop[1])
    x1, y1 = min(media[2], crop[2]), min(media[3], crop[3])
    if x0 >= x1 or y0 >= y1:
        x0, y0, x1, y1 = media
    unit = float(page.obj.get("/UserUnit", 1))
    width, height = (x1 - x0) * unit, (y1 - y0) * unit
    s = 1 / unit
    turn = round(page.rotation / 90) % 4
    values = {
        0: (s, 0, 0, -s, x0, y1),
        1: (0, s, s, 0, x0, y0),
        2: (-s, 0, 0, s, x1, y0),
        3: (0, -s, -s, 0, x1, y1),
    }[turn]
    if turn % 2:
        width, height = height, width
    return pikepdf.Matrix(*values), width, height


def _box(box: pikepdf.Array) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = (float(value) for value in box)
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
