"""What docparse-mini sees: the lines of a picture, each a row of glyphs and a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hsd_docparse.document import Box
from hsd_docparse.draft.recognizer import GLYPH, Reading
from hsd_docparse.targets.mini.dialect import Hint
from hsd_docparse.targets.weighed import TEXT_LAYER

if TYPE_CHECKING:
    import torch

    from hsd_docparse.targets.mini.dialect import Dialect
    from hsd_docparse.targets.mini.modeling import Lines


@dataclass
class Sight:
    """One page or region: its lines in visual order, as read, where they stand, and what the
    layout pipeline takes them for.

    ``geometry`` is float32 ``[lines, 8]``; ``hints`` int64 ``[lines, 2]``: a mark (see
    `dialect.Hint`) and the line's rank in the pipeline's reading order, -1 where it has none.
    """

    readings: list[Reading]
    geometry: NDArray[np.float32]
    hints: NDArray[np.int64]


def anchored(reading: Reading, text: str, probabilities: Sequence[float]) -> Reading:
    """``reading`` with the characters that the draft has for its line, and how sure it is of them
    (none: the file itself states them), each with the glyph that the eye saw there or beside it.
    Document anchoring (olmOCR, arXiv 2502.18443), character by character."""
    from rapidfuzz.distance import Levenshtein

    seen = np.zeros(len(text), np.int64)
    for step in Levenshtein.opcodes(reading.text, text):
        written = np.arange(step.dest_start, step.dest_end)
        at = step.src_start + (written - step.dest_start) * (step.src_end > step.src_start)
        seen[written] = np.minimum(at, max(0, len(reading.text) - 1))
    glyphs = reading.glyphs[seen] if reading.text else np.zeros((len(text), GLYPH), np.float32)
    return Reading(text, [*(probabilities or [TEXT_LAYER] * len(text))], glyphs)


def no_hints(lines: int) -> NDArray[np.int64]:
    return np.tile(np.array([Hint.NONE, -1]), (lines, 1))


def visual_order(boxes: Sequence[Box]) -> list[int]:
    """Top to bottom, then left to right: says nothing about columns, which are for the model
    to find. Boxes whose middle lies within another's height share its row."""
    order = sorted(range(len(boxes)), key=lambda i: (boxes[i].center[1], boxes[i].x0))
    rows: list[list[int]] = []
    for i in order:
        if rows and boxes[i].center[1] < boxes[rows[-1][0]].y0 + 0.75 * boxes[rows[-1][0]].height:
            rows[-1].append(i)
        else:
            rows.append([i])
    return [i for row in rows for i in sorted(row, key=lambda i: boxes[i].x0)]


def geometry(boxes: Sequence[Box], frame: Box) -> NDArray[np.float32]:
    """Where lines stand in ``frame``: left, top, right, bottom as shares of its *width* and
    height, log of the height to the median height, length in heights / 50, the median height
    as a share of the frame's height (the unit of vertical distances), and the number of
    lines / 100: float32 ``[lines, 8]``."""
    corners = np.asarray(boxes, np.float32).reshape(-1, 4)
    shape = np.array([frame.width, frame.height] * 2, np.float32).clip(1)
    origin = np.array([frame.x0, frame.y0] * 2, np.float32)
    heights = (corners[:, 3] - corners[:, 1]).clip(1e-3)
    median = float(np.median(heights)) if len(heights) else 1.0
    out = np.empty((len(corners), 8), np.float32)
    out[:, :4] = (corners - origin) / shape
    out[:, 4] = np.log(heights / median)
    out[:, 5] = (corners[:, 2] - corners[:, 0]) / heights / 50
    out[:, 6] = median / shape[1]
    out[:, 7] = len(corners) / 100
    return out


def collate(sights: Sequence[Sight], dialect: Dialect, dtype: torch.dtype | None = None) -> Lines:
    """Pack sights for `DocparseMiniForConditionalGeneration.encode`; a sight without lines
    gets one that holds nothing."""
    import torch

    from hsd_docparse.targets.mini.modeling import BYTES, NO_BYTE, Lines

    dtype = dtype or torch.float32
    blank = Reading("", [], np.zeros((0, GLYPH), np.float32))
    readings = [reading for sight in sights for reading in (sight.readings or [blank])]
    places = [s.geometry if len(s.geometry) else np.zeros((1, 8), np.float32) for s in sights]
    hints = [sight.hints if len(sight.hints) else no_hints(1) for sight in sights]
    width = max(1, *(len(reading.text) for reading in readings))
    glyphs = np.zeros((len(readings), width, GLYPH), np.float32)
    symbols = np.full((len(readings), width, BYTES), NO_BYTE, np.int64)
    read = np.zeros((len(readings), width, BYTES), np.int64)
    sure, whole = np.zeros((2, len(readings), width), np.float32)
    starting = dialect.starting([reading.text for reading in readings])
    of_byte = np.array([*dialect.of_byte, 0])
    for row, reading in enumerate(readings):
        n = len(reading.text)
        glyphs[row, :n] = reading.glyphs
        sure[row, :n] = reading.probabilities
        for column, token in enumerate(starting[row]):
            end = column + max(1, len(dialect.bytes[token].decode(errors="ignore")))
            whole[row, column] = min(reading.probabilities[column:end])
        for column, character in enumerate(reading.text):
            coded = character.encode()[:BYTES]
            symbols[row, column, : len(coded)] = list(coded)
        read[row] = of_byte[symbols[row]]
        read[row, :n, 0] = starting[row]
    return Lines(
        torch.from_numpy(glyphs).to(dtype),
        torch.from_numpy(symbols),
        torch.from_numpy(read),
        torch.from_numpy(sure).to(dtype),
        torch.from_numpy(whole).to(dtype),
        torch.tensor([len(reading.text) for reading in readings]),
        torch.from_numpy(np.concatenate(places)).to(dtype),
        torch.from_numpy(np.concatenate(hints)),
        [len(place) for place in places],
    )


def pointed_at(gazes: Sequence[Sequence[frozenset[int]]], most: int) -> NDArray[np.float32]:
    """Which of a row's ``most`` lines each of its gazes has seen: ``[rows, gazes, most]``."""
    seen = np.zeros((len(gazes), max(map(len, gazes)), most), np.float32)
    for row, own in enumerate(gazes):
        for i, lines in enumerate(own):
            # A draft may point past the last line; such a node is never accepted.
            seen[row, i, [line for line in lines if line < most]] = 1
    return seen
