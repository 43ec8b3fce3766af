"""A page picture becomes lines of text with a probability for each character."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from hsd_docparse.document import Box, Line
from hsd_docparse.draft import tesseract
from hsd_docparse.draft.detector import shared_detector
from hsd_docparse.draft.doubts import settled
from hsd_docparse.draft.gutters import ink_columns, split_at_gutters
from hsd_docparse.draft.orientation import (
    UPRIGHT,
    is_sideways,
    skew,
    turned,
    turned_quads,
)
from hsd_docparse.draft.recognizer import Reading, shared_recognizer
from hsd_docparse.wording import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL import Image

LEAST_CONFIDENCE = 0.5
"""Mean probability of the characters below which a line is texture, not text."""
_WORD = 3
"""Characters, at least, of a line that every page of text has: textures, shapes and rules are read
as one or two."""
_LONE_CONFIDENCE = 0.95
"""Mean probability of a line on a page without such a line from which it is a page number, say."""
_LEVEL = 0.002
"""Slope (height over width) up to which a line is cut out without turning it: where it is more, the
box of a long line is so much higher that its letters become small."""
_SIZE = 0.7
"""Font size over the height of a detected line, which holds ascenders and descenders."""
_DOUBTFUL = 0.9
"""Mean certainty of a page from which nobody asks whether it stands on its head."""
_SURER = 0.1
"""Certainty by which a page must read better turned before it is turned."""
_READABLE = 0.75
"""Mean probability of the characters below which a line is in no script that the network knows."""
_FOREIGN = 0.1
"""Share of such lines, by length, from which a page has another script: pages in scripts that it
knows have less than 0.04, in print or by hand, others 0.2 and more."""
_STACKING = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Characters that may stand below each other."""
_SAMPLE = 6
"""Lines that are read to tell which way is up."""


@dataclass
class PageReading:
    """What OCR sees on a page: ``lines``, from top to bottom, in pixels of ``image``, which is the
    page picture turned clockwise by ``rotation`` degrees so that its lines are level. With
    ``vertical`` that was done to a page that stands upright, whose lines run down and follow each
    other from right to left, as Chinese and Japanese may."""

    image: Image.Image
    lines: list[Line]
    rotation: float = 0.0
    vertical: bool = False
    warnings: list[str] = field(default_factory=list)


def read_page(image: Image.Image) -> PageReading:
    """Find and read the lines of ``image`` (RGB), turned upright first."""
    quads = shared_detector().find(np.asarray(image))
    rotation, vertical = 0.0, False
    if is_sideways(quads):
        rotation, vertical = _quarter_turn(image, quads)
        image, quads = _turn(image, quads, rotation)
    if vertical:
        readings = _read_columns(image, quads)
        rotation = 270.0
        image, quads = _turn(image, quads, rotation)
    else:
        if angle := skew(quads):
            image, quads = _turn(image, quads, -angle)
            rotation -= angle
        quads = split_at_gutters(np.asarray(image), quads)
        readings = _read(np.asarray(image), quads)
        if _certainty(readings) < _DOUBTFUL and _is_on_its_head(image, quads):
            image, quads = _turn(image, quads, 180)
            rotation += 180
            readings = _read(np.asarray(image), quads)
    pixels = np.asarray(image)
    lines = [
        _line(pixels, quad, each)
        for quad, each in zip(quads, settled(readings), strict=True)
        if each.text.strip() and each.confidence >= LEAST_CONFIDENCE
    ]
    if not any(len(line.text) >= _WORD for line in lines):
        lines = [line for line in lines if _is_lone_text(line)]
    lines.sort(key=lambda line: line.box.y0)
    reading = PageReading(image, lines, rotation % 360, vertical)
    unread = quads[[each.confidence < _READABLE for each in readings]]
    if _length(unread) > _FOREIGN * _length(quads):
        _read_foreign(reading, unread)
    return reading


def read_lines(image: Image.Image, is_wanted: Callable[[Box], bool]) -> list[Line]:
    """Level lines of ``image`` (RGB), in its pixels, whose place is wanted; only such as read
    well, for most of what a picture shows is no text."""
    pixels = np.asarray(image)
    quads = [
        quad
        for quad in shared_detector().find(pixels)
        if is_wanted(Box(*quad.min(axis=0).tolist(), *quad.max(axis=0).tolist()))
    ]
    readings = _read(pixels, quads)
    return [
        _line(pixels, quad, each)
        for quad, each in zip(quads, settled(readings), strict=True)
        if each.text.strip() and each.confidence >= _READABLE
    ]


def _read_foreign(reading: PageReading, quads: NDArray[np.float32]) -> None:
    """Replace what was read at ``quads``, which nobody should take for text, by what Tesseract
    reads there, and say so."""
    from PIL import Image

    at = [Box(*quad.min(axis=0).tolist(), *quad.max(axis=0).tolist()) for quad in quads]
    reading.lines = [
        line
        for line in reading.lines
        if all(box.overlap(line.box) < 0.9 * line.box.area for box in at)
    ]
    alone = Image.new("RGB", reading.image.size, "white")
    for quad in quads:
        (x0, y0), (x1, y1) = quad.min(axis=0).astype(int), quad.max(axis=0).astype(int)
        box = (max(0, x0 - 2), max(0, y0 - 2), x1 + 3, y1 + 3)
        alone.paste(reading.image.crop(box), box[:2])
    script = tesseract.script_of(alone)
    languages = tesseract.languages_for(script) if script else []
    what = f"{script} script" if script else "a script or a hand that the bundled OCR cannot read"
    lines = counted(len(quads), "line")
    found = tesseract.read_lines(alone, languages) if languages else []
    if not found:
        advice = f": tesseract-ocr-{tesseract.LANGUAGES[script][0]}" if script else ""
        reading.warnings.append(
            f"{lines} in {what} left out; Tesseract is asked where it and "
            f"its package for the language are installed{advice}."
        )
        return
    reading.lines = sorted([*reading.lines, *found], key=lambda line: line.box.y0)
    reading.warnings.append(f"{lines} in {what} read by Tesseract ({'+'.join(languages)}).")


def _is_lone_text(line: Line) -> bool:
    """Whether a line that stands on a page without a word is text, and no drawing."""
    certainty = sum(line.probabilities) / len(line.probabilities)
    return line.text.isalnum() and certainty >= _LONE_CONFIDENCE


def _length(quads: NDArray[np.float32]) -> float:
    return float(np.ptp(quads, axis=1).max(axis=1).sum()) if len(quads) else 0.0


def _line(image: NDArray[np.uint8], quad: NDArray[np.float32], reading: Reading) -> Line:
    start = len(reading.text) - len(reading.text.lstrip())
    text = reading.text.strip()
    box = np.concatenate([quad.min(axis=0), quad.max(axis=0)])
    x0, y0, x1, y1 = box.tolist()
    if x1 - x0 > y1 - y0 and (inked := ink_columns(image, box)):
        # The detector leaves room at the ends, where the next column may begin.
        x0, x1 = float(inked[0]), float(inked[-1] + 1)
    thickness = min(np.linalg.norm(quad[3] - quad[0]), np.linalg.norm(quad[1] - quad[0]))
    return Line(
        text,
        Box(x0, y0, x1, y1),
        reading.probabilities[start : start + len(text)],
        "ocr",
        size=_SIZE * float(thickness),
    )


def _turn(
    image: Image.Image, quads: NDArray[np.float32], degrees: float
) -> tuple[Image.Image, NDArray[np.float32]]:
    if not degrees:
        return image, quads
    upright = turned(image, degrees)
    return upright, turned_quads(quads, degrees, image.size, upright.size)


def _read(pixels: NDArray[np.uint8], quads: Iterable[NDArray[np.float32]]) -> list[Reading]:
    """Readings of lines; of a tall one, which may run down the page, up the page, or be a single
    letter, the surest."""
    crops = [_cut(pixels, quad) for quad in quads]
    tall = [i for i, crop in enumerate(crops) if _is_tall(crop)]
    ways = [
        [_level(crop) for crop in crops],
        [_level(crops[i])[::-1, ::-1] for i in tall],
        [crops[i] for i in tall],
    ]
    down, up, standing = map(shared_recognizer().read, ways)
    for i, risen, letter in zip(tall, up, standing, strict=True):
        laid = [reading for reading in (down[i], risen) if len(reading.text) > 1]
        down[i] = max([*laid, letter], key=lambda reading: reading.confidence)
    return down


def _read_columns(image: Image.Image, quads: NDArray[np.float32]) -> list[Reading]:
    """Readings of lines that run down the page: laid down, where letters lie on their side, or in
    pieces side by side, where they stand; whichever is surer."""
    pixels = np.asarray(image)
    crops = [_cut(pixels, quad) for quad in quads]
    laid = shared_recognizer().read([_level(crop) for crop in crops])
    stacked = shared_recognizer().read(
        [_stacked(crop) if _is_tall(crop) else crop for crop in crops]
    )
    return [
        max(pair, key=lambda reading: reading.confidence)
        for pair in zip(laid, stacked, strict=True)
    ]


def _quarter_turn(image: Image.Image, quads: NDArray[np.float32]) -> tuple[float, bool]:
    """By how many degrees, clockwise, to turn a page of tall lines, and whether to leave it, as
    its script runs down the page."""
    widths, heights = np.ptp(quads, axis=1).T
    tall = [crop for crop in _sample(image, quads[heights > widths]) if _is_tall(crop)]
    read = shared_recognizer().read
    standing = read([_stacked(crop) for crop in tall])
    left = _certainty(read([np.rot90(crop) for crop in tall]))
    right = _certainty(read([np.rot90(crop, -1) for crop in tall]))
    text = "".join(reading.text for reading in standing)
    stacks = 2 * len(_STACKING.findall(text)) > len(text)
    # The network knows letters on their side from such columns, so both may read well.
    if stacks and _certainty(standing) > max(left, right) - _SURER:
        return 0.0, True
    if max(left, right) < _READABLE:
        return 0.0, False  # a script that the network does not know, or no text
    return (270.0 if left > right else 90.0), False


def _is_on_its_head(image: Image.Image, quads: NDArray[np.float32]) -> bool:
    sample = [_level(crop) for crop in _sample(image, quads)]
    if len(sample) < 2:
        return False
    read = shared_recognizer().read
    flipped = _certainty(read([np.rot90(crop, 2) for crop in sample]))
    # A script that the network does not know reads badly either way.
    return flipped > max(_READABLE, _certainty(read(sample)) + _SURER)


def _sample(image: Image.Image, quads: NDArray[np.float32]) -> list[NDArray[np.uint8]]:
    """Pictures of the longest lines."""
    lengths = np.ptp(quads, axis=1).max(axis=1)
    pixels = np.asarray(image)
    return [_cut(pixels, quads[i]) for i in np.argsort(-lengths)[:_SAMPLE]]


def _certainty(readings: Sequence[Reading]) -> float:
    characters = sum(len(reading.text) for reading in readings)
    return sum(sum(reading.probabilities) for reading in readings) / characters if characters else 0


def _is_tall(crop: NDArray[np.uint8]) -> bool:
    return crop.shape[0] >= UPRIGHT * crop.shape[1]


def _level(crop: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A line; one that runs down the page, laid down."""
    return np.ascontiguousarray(np.rot90(crop)) if _is_tall(crop) else crop


def _stacked(crop: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A column of letters as a row: cut where least ink is, near where square letters end."""
    height, width = crop.shape[:2]
    count = max(1, round(height / width))
    grey = crop.mean(axis=(1, 2)) if crop.ndim == 3 else crop.mean(axis=1)
    ink = np.abs(grey - np.median(crop))
    pitch = height / count
    reach = max(1, round(0.25 * pitch))
    cuts = [0]
    for i in range(1, count):
        start = max(cuts[-1] + 1, round(i * pitch) - reach)
        end = min(height - 1, round(i * pitch) + reach)
        cuts.append(start + int(ink[start : end + 1].argmin()) if start <= end else start)
    side = round(pitch)
    pieces = np.split(crop, cuts[1:])
    row = np.full((max(max(map(len, pieces)), side), 0, 3), 255, np.uint8)
    for piece in pieces:
        padded = np.full((len(row), width, 3), int(np.median(crop)), np.uint8)
        top = (len(row) - len(piece)) // 2
        padded[top : top + len(piece)] = piece
        row = np.concatenate([row, padded], axis=1)
    return row


def _cut(image: NDArray[np.uint8], quad: NDArray[np.float32]) -> NDArray[np.uint8]:
    """The line inside ``quad`` ``[4, 2]``, turned level."""
    import cv2

    width = max(1, round(float(np.linalg.norm(quad[1] - quad[0]))))
    height = max(1, round(float(np.linalg.norm(quad[3] - quad[0]))))
    slope = abs(float(quad[1, 1] - quad[0, 1])) / width
    if slope <= _LEVEL:
        x0, y0 = np.floor(quad.min(axis=0)).astype(int)
        x1, y1 = np.ceil(quad.max(axis=0)).astype(int)
        return np.ascontiguousarray(image[max(0, y0) : y1 + 1, max(0, x0) : x1 + 1])
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    turned = cv2.warpPerspective(
        image,
        cv2.getPerspectiveTransform(quad, corners),
        (width, height),
        flags=cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.asarray(turned, np.uint8)
