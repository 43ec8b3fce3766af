"""A page picture becomes lines of text with a probability for each character."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hsd_docparse.document import Box, Line
from hsd_docparse.draft.detector import shared_detector
from hsd_docparse.draft.recognizer import shared_recognizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_CONFIDENCE = 0.5
"""Mean probability of the characters below which a line is texture, not text."""
_UPRIGHT = 1.5
"""Height over width from which a crop is text that runs up or down the page."""
_LEVEL = 0.01
"""Slope (height over width) up to which a line is cut out without turning it."""
_SIZE = 0.7
"""Font size over the height of a detected line, which holds ascenders and descenders."""


def read_lines(image: NDArray[np.uint8]) -> list[Line]:
    """Lines of ``image`` ``[height, width, 3]`` (RGB), boxes in its pixels, from top to bottom."""
    quads = shared_detector().find(image)
    quads = quads[np.argsort(quads[:, :, 1].min(axis=1), kind="stable")]
    readings = shared_recognizer().read([_cut(image, quad) for quad in quads])
    lines = []
    for quad, reading in zip(quads, readings, strict=True):
        if not reading.text.strip() or reading.confidence < LEAST_CONFIDENCE:
            continue
        start = len(reading.text) - len(reading.text.lstrip())
        text = reading.text.strip()
        (x0, y0), (x1, y1) = quad.min(axis=0).tolist(), quad.max(axis=0).tolist()
        lines.append(
            Line(
                text,
                Box(x0, y0, x1, y1),
                reading.probabilities[start : start + len(text)],
                "ocr",
                size=_SIZE * float(np.linalg.norm(quad[3] - quad[0])),
            )
        )
    return lines


def _cut(image: NDArray[np.uint8], quad: NDArray[np.float32]) -> NDArray[np.uint8]:
    """The line inside ``quad`` ``[4, 2]``, turned level."""
    import cv2

    width = max(1, round(float(np.linalg.norm(quad[1] - quad[0]))))
    height = max(1, round(float(np.linalg.norm(quad[3] - quad[0]))))
    slope = abs(float(quad[1, 1] - quad[0, 1])) / width
    if slope <= _LEVEL:
        x0, y0 = np.floor(quad.min(axis=0)).astype(int)
        x1, y1 = np.ceil(quad.max(axis=0)).astype(int)
        line = image[max(0, y0) : y1 + 1, max(0, x0) : x1 + 1]
    else:
        corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
        turned = cv2.warpPerspective(
            image,
            cv2.getPerspectiveTransform(quad, corners),
            (width, height),
            flags=cv2.INTER_CUBIC,
            borderMode=cv2.BORDER_REPLICATE,
        )
        line = np.asarray(turned, np.uint8)
    if line.shape[0] >= _UPRIGHT * line.shape[1]:
        line = np.rot90(line)
    return np.ascontiguousarray(line, dtype=np.uint8)
