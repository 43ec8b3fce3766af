"""Printed pages as scans, photographs and faxes, and where their words went."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import pymupdf
from numpy.typing import NDArray

from hsd_docparse.document import Box

Pixels = NDArray[np.uint8]

MILD = 0.7
"""Share of the pictures that a good scanner could have made."""
PAPERS = [(255, 255, 255), (250, 248, 240), (240, 240, 240), (228, 226, 220), (235, 225, 205)]


@dataclass
class Scan:
    """A picture ``[height, width, 3]``, and the matrix ``[3, 3]`` that says which pixel a point of
    the page became."""

    pixels: Pixels
    matrix: NDArray[np.float64]

    def moved(self, boxes: Sequence[Box]) -> list[Box]:
        """``boxes`` of the page, in points, as upright boxes of the picture."""
        quads = moved_quads(corners(boxes), self.matrix)
        return boxes_of(quads)


def corners(boxes: Sequence[Box]) -> NDArray[np.float32]:
    """``[n, 4, 2]``, clockwise from the top left."""
    sides = np.asarray(boxes, np.float32).reshape(-1, 4)
    return sides[:, [[0, 1], [2, 1], [2, 3], [0, 3]]]


def boxes_of(quads: NDArray[np.float32]) -> list[Box]:
    low, high = quads.min(axis=1), quads.max(axis=1)
    return [Box(*map(float, (*a, *b))) for a, b in zip(low, high, strict=True)]


def moved_quads(quads: NDArray[np.float32], matrix: NDArray[np.float64]) -> NDArray[np.float32]:
    flat = quads.reshape(1, -1, 2).astype(np.float64)
    if not flat.size:
        return quads
    return cv2.perspectiveTransform(flat, matrix).reshape(quads.shape).astype(np.float32)


def scan(pdf: bytes, rng: random.Random) -> Scan:
    """The page of ``pdf`` as a picture of 100 to 200 dots an inch, more or less spoilt."""
    mild = rng.random() < MILD
    dpi = rng.uniform(140, 200) if mild else rng.uniform(100, 180)
    with pymupdf.open("pdf", pdf) as document:
        pixmap = document[0].get_pixmap(dpi=round(dpi))
        scale = pixmap.width / document[0].rect.width
    size = pixmap.width, pixmap.height
    pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(*size[::-1], 3)
    matrix = np.diag([scale, scale, 1.0])
    if rng.random() < (0.5 if mild else 0.8):
        move = _crooked(size, rng, mild)
        matrix = move @ matrix
        white = (255, 255, 255)
        pixels = np.asarray(cv2.warpPerspective(pixels, move, size, borderValue=white), np.uint8)
    spoilt = _on_paper(pixels, rng, mild)
    if not mild and rng.random() < 0.25:
        return Scan(_black_and_white(spoilt, rng), matrix)
    if rng.random() < 0.6:
        spoilt = _squeezed(spoilt, rng.randint(55, 90) if mild else rng.randint(25, 70))
    return Scan(spoilt, matrix)


def _crooked(size: tuple[int, int], rng: random.Random, mild: bool) -> NDArray[np.float64]:
    """Turned about the middle, and now and then seen from the side."""
    width, height = size
    degrees = rng.gauss(0, 0.4 if mild else 1.2)
    move = np.vstack([cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0), [0, 0, 1]])
    if not mild and rng.random() < 0.3:
        (corner,) = corners([Box(0, 0, width, height)])
        shift = [[rng.uniform(-0.015, 0.015) * side for side in size] for _ in corner]
        tilt = cv2.getPerspectiveTransform(corner, corner + np.array(shift, np.float32))
        move = tilt @ move
    return move


def _on_paper(pixels: Pixels, rng: random.Random, mild: bool) -> Pixels:
    """Faded ink on paper of some colour, under some light, by a lens and sensor of some quality."""
    ink = rng.uniform(0, 30 if mild else 80)
    seen = (ink + pixels * (1 - ink / 255)) * (np.array(rng.choice(PAPERS)) / 255)
    if rng.random() < 0.3:
        seen *= _light(seen.shape[0], seen.shape[1], rng)
    if rng.random() < (0.3 if mild else 0.7):
        seen = cv2.GaussianBlur(seen, (0, 0), rng.uniform(0.4, 0.7 if mild else 1.2))
    if rng.random() < (0.4 if mild else 0.7):
        seeded = np.random.default_rng(rng.getrandbits(32))
        seen = seen + seeded.normal(0, rng.uniform(2, 8 if mild else 22), seen.shape[:2])[..., None]
    return seen.clip(0, 255).astype(np.uint8)


def _light(height: int, width: int, rng: random.Random) -> NDArray[np.float64]:
    """It falls from one side: ``[height, width, 1]``, up to 1."""
    across = np.linspace(1.0, rng.uniform(0.7, 0.95), width)[:: rng.choice([1, -1])]
    down = np.linspace(1.0, rng.uniform(0.8, 1.0), height)[:: rng.choice([1, -1])]
    return (down[:, None] * across)[..., None]


def _black_and_white(pixels: Pixels, rng: random.Random) -> Pixels:
    """As a fax machine sees it."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    black = np.where(grey > np.median(grey) * rng.uniform(0.55, 0.8), 255, 0)
    return np.repeat(black.astype(np.uint8)[..., None], 3, axis=2)


def _squeezed(pixels: Pixels, quality: int) -> Pixels:
    _, coded = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR), np.uint8)
