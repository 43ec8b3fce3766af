"""Text line detection with the PP-OCRv6 small model that ships inside the rapidocr package.

The network gives every pixel a probability of lying in the core of a text line; lines are
the connected components of that map, grown back to full size (differentiable
binarisation, Liao et al. 2020).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hsd_docparse.draft.networks import compile_network

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONG_SIDE = 1280
"""Pixels; larger pictures are scaled down to it for detection only."""
SHORT_SIDE = 320
"""Pixels; smaller pictures are scaled up to it: glyphs of a few pixels are not found."""
MULTIPLE = 32
"""The network halves its input five times."""
_CONTRAST = 64
"""Grey levels between ink and paper, at least."""
_PAPER = 100
"""Pixels of paper around what is looked at from near by."""
_SPOT = 0.25
"""Share of the picture that may be looked at so, at most."""


class Detector:
    """Finds lines of text in pictures."""

    def __init__(self) -> None:
        from rapidocr.ch_ppocr_det.utils import DBPostProcess

        self._network = _compile()
        self._boxes = DBPostProcess(
            thresh=0.3, box_thresh=0.5, max_candidates=3000, unclip_ratio=1.6, use_dilation=True
        )

    def find(self, image: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Lines of ``image`` ``[height, width, 3]`` (RGB) as quadrilaterals ``[n, 4, 2]``: x and
        y in pixels of the corners from the top left, clockwise. In no particular order.

        A word alone on an empty page is too small for the network: where it finds nothing, it is
        shown what there is once more, from near by."""
        quads = self._find(image)
        if not len(quads) and (spot := _inked(image)):
            left, top, right, bottom = spot
            quads = self._find(image[top:bottom, left:right]) + np.array([left, top], np.float32)
        return quads

    def _find(self, image: NDArray[np.uint8]) -> NDArray[np.float32]:
        import cv2

        height, width = image.shape[:2]
        scale = min(LONG_SIDE / max(height, width), max(1.0, SHORT_SIDE / min(height, width)))
        size = [max(1, round(side * scale / MULTIPLE)) * MULTIPLE for side in (width, height)]
        resized = cv2.resize(image, size, interpolation=cv2.INTER_AREA if scale < 1 else 1)
        probability = self._network(resized[None])[0]
        self._network.release_memory()  # the next page has a size of its own
        quads, _ = self._boxes(probability, (height, width))
        return np.asarray(quads, np.float32).reshape(-1, 4, 2)


def _inked(image: NDArray[np.uint8]) -> tuple[int, int, int, int] | None:
    """Left, top, right and bottom, in pixels, of the one small place of ``image`` where there is
    anything, and some paper around it."""
    grey = image.mean(axis=2, dtype=np.float32)
    rows, columns = np.nonzero(np.abs(grey - np.median(grey)) > _CONTRAST)
    if not len(rows):
        return None
    height, width = grey.shape
    left, right = max(0, columns.min() - _PAPER), min(width, columns.max() + _PAPER)
    top, bottom = max(0, rows.min() - _PAPER), min(height, rows.max() + _PAPER)
    if (right - left) * (bottom - top) > _SPOT * width * height:
        return None
    return int(left), int(top), int(right), int(bottom)


@cache
def shared_detector() -> Detector:
    """The detector of this process."""
    return Detector()


def _compile() -> Any:
    import openvino as ov
    import rapidocr
    from openvino.preprocess import ColorFormat, PrePostProcessor

    path = Path(rapidocr.__file__).parent / "models" / "PP-OCRv6_det_small.onnx"
    processor = PrePostProcessor(ov.Core().read_model(path))
    picture = processor.input()
    picture.tensor().set_element_type(ov.Type.u8).set_layout(ov.Layout("NHWC"))
    picture.tensor().set_color_format(ColorFormat.RGB)
    picture.model().set_layout(ov.Layout("NCHW"))
    # The network was trained on blue-green-red pictures in -1..1.
    steps = picture.preprocess().convert_element_type(ov.Type.f32)
    steps.convert_color(ColorFormat.BGR).mean(127.5).scale(127.5)
    return compile_network(processor.build())
