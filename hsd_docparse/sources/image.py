"""Images: a photo or scan is one page, a multi-page TIFF as many as it has frames.

Pillow's decoders raise errors of many classes on damaged data; every call into them is therefore
guarded by ``except Exception``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from PIL import Image, ImageOps, UnidentifiedImageError

from hsd_docparse.errors import InputError, PageError
from hsd_docparse.sources import DamagedPage, SourceDocument, SourcePage, TextLayer
from hsd_docparse.sources.page_ranges import select_pages
from hsd_docparse.sources.pixels import capped_scale

MAX_PIXELS = 300_000_000
"""A frame that claims more is refused before any of it is decoded."""

# Only documents are paged; the frames of an animation or the previews of a photo are not.
_PAGED_FORMATS = {"TIFF"}
_EXIF_ORIENTATION = 0x0112


class ImagePage:
    """One frame. Page units are pixels of the upright picture."""

    native_dpi = 72.0
    turn = 0.0

    def __init__(self, path: Path, number: int, image: Image.Image) -> None:
        self.number = number
        self.warnings: list[str] = []
        self._path = path
        self._image: Image.Image | None = image
        width, height = image.size
        # EXIF orientations 5 to 8 lay the picture on its side.
        if image.getexif().get(_EXIF_ORIENTATION, 1) in (5, 6, 7, 8):
            width, height = height, width
        self.width, self.height = float(width), float(height)

    def render(self, dpi: float) -> Image.Image:
        """RGB picture, at its own size or scaled down to the pixel cap. Raises `PageError`."""
        if self._image is None:
            raise PageError(f"Page {self.number} of {self._path} is closed already.")
        try:
            # Upright before anything else: converting drops the orientation.
            upright = ImageOps.exif_transpose(self._image)
            picture = to_rgb(upright)
        except Exception as error:
            raise PageError(_undecodable(self._path, self.number, error)) from error
        scale = capped_scale(picture.width, picture.height, 1.0)
        if scale < 1:
            size = (max(1, int(picture.width * scale)), max(1, int(picture.height * scale)))
            picture = picture.resize(size, Image.Resampling.BOX)
        return picture

    def text_layer(self) -> TextLayer | None:
        """None: an image carries no text."""
        return None

    def close(self) -> None:
        self._image = None


class ImageDocument:
    """An image file. Raises `InputError` when Pillow cannot identify it or it is a bomb."""

    def __init__(self, path: Path, *, pages: str | Sequence[int] | None = None) -> None:
        self._path = path
        try:
            with own_size_limit():
                self._image = Image.open(path)
                paged = self._image.format in _PAGED_FORMATS
                self.page_count = getattr(self._image, "n_frames", 1) if paged else 1
        except UnidentifiedImageError:
            raise InputError(f"{path} is damaged: its image data cannot be read.") from None
        except Exception as error:
            raise InputError(f"{path} cannot be read as an image ({error}).") from error
        try:
            self._check_size(1)
            self.selected = select_pages(pages, self.page_count)
        except InputError:
            self._image.close()
            raise
        self.metadata: dict[str, str] = {}

    def pages(self) -> Iterator[SourcePage | DamagedPage]:
        """Selected frames in order; each is closed when the next is asked for."""
        for number in self.selected:
            try:
                with own_size_limit():
                    self._image.seek(number - 1)
                self._check_size(number)
                # A PNG is decoded here: its EXIF data may follow the pixels.
                page = ImagePage(self._path, number, self._image)
            except InputError as error:
                yield DamagedPage(number, str(error))
                continue
            except Exception as error:
                yield DamagedPage(number, _undecodable(self._path, number, error))
                continue
            yield page
            page.close()

    def _check_size(self, number: int) -> None:
        width, height = self._image.size
        if width * height > MAX_PIXELS:
            raise InputError(
                f"Page {number} of {self._path} has {width} x {height} pixels, more than the "
                f"{MAX_PIXELS // 1_000_000} million that docparse reads; scale it down first."
            )

    def __enter__(self) -> SourceDocument:
        return self

    def __exit__(self, *exc: object) -> None:
        self._image.close()


def _undecodable(path: Path, number: int, error: BaseException) -> str:
    return f"Page {number} of {path} cannot be decoded ({error}); it is truncated or damaged."


@contextmanager
def own_size_limit() -> Iterator[None]:
    """Pillow's limit warns from 89 million pixels and refuses from 179; ours is `MAX_PIXELS`,
    checked on the header."""
    limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
    try:
        yield
    finally:
        Image.MAX_IMAGE_PIXELS = limit


def to_rgb(image: Image.Image) -> Image.Image:
    """Any Pillow mode as RGB, transparency laid on white."""
    if image.mode == "RGB" and "transparency" not in image.info:
        # The open file stays the caller's: its pixels are handed out, not the file.
        return image.copy()
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return _to_eight_bits(image)
    if image.mode in ("LA", "La", "PA", "RGBa", "RGBA") or "transparency" in image.info:
        layers = image.convert("RGBA")
        white = Image.new("RGBA", layers.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, layers).convert("RGB")
    return image.convert("RGB")


def _to_eight_bits(image: Image.Image) -> Image.Image:
    """16-bit and 32-bit grey. Pillow clips such values when converting, so scale them."""
    import numpy as np

    values = np.asarray(image, dtype=np.float32)
    top = float(values.max(initial=0.0))
    # Values that fit eight bits or a unit range keep their meaning; others span sixteen bits.
    full = 1.0 if image.mode == "F" and top <= 1 else 255.0 if top <= 255 else max(65535.0, top)
    grey = np.clip(values * (255.0 / full), 0, 255).astype(np.uint8)
    return Image.fromarray(grey).convert("RGB")
