"""Text line recognition with the PP-OCRv6 small model that ships inside the rapidocr package.

One pass gives two readings of a line: the characters with their probabilities (what the
layout pipeline drafts with) and, for each character, what the network saw there (what
docparse-mini reads with). The network is a CTC recogniser: a line of height 48 becomes one
frame of 120 numbers for every 8 pixels, and a linear head scores 18,710 symbols a frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hsd_docparse.draft.networks import compile_network

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEIGHT = 48
"""Pixels; lines are scaled to this height."""
FRAME = 120
"""Numbers a frame."""
GLYPH = 2 * FRAME
"""Numbers a glyph: its frame, and the mean of the two frames beside it."""
MAX_WIDTH = 3200
"""Pixels at height 48; longer lines are squeezed to it."""
CHOICES = 4
"""Symbols a frame that a reading is told of."""
DOUBT = 0.01
"""Probability from which another symbol is told of."""
BATCH_PIXELS = 1600
"""Total width of the lines that share one call: scores of 18,710 symbols a frame take memory."""


@dataclass
class Reading:
    """A line as the recogniser read it.

    ``probabilities`` holds one number in 0..1 a character of ``text``; ``glyphs`` is
    float32 ``[len(text), GLYPH]``. ``others`` holds what a character, by its place in ``text``,
    may be instead: symbols ("" for none) with their probabilities, likely ones first; ``spaces``
    the places before which there may be a space that was not read, with its probability.
    """

    text: str
    probabilities: list[float]
    glyphs: NDArray[np.float32]
    others: dict[int, dict[str, float]] = field(default_factory=dict)
    spaces: dict[int, float] = field(default_factory=dict)

    @property
    def confidence(self) -> float:
        return float(np.mean(self.probabilities)) if self.probabilities else 0.0


class Recognizer:
    """Reads line pictures. A line's result depends on that line alone, never on its batch:
    only lines padded to the same width share a call."""

    def __init__(self, threads: int = 0) -> None:
        self._network, self.symbols = _compile(threads)

    def read(self, lines: Sequence[NDArray[np.uint8]]) -> list[Reading]:
        """Read line pictures, each ``[height, width, 3]`` in RGB, in any number and size."""
        prepared = [_prepare(line) for line in lines]
        order = sorted(range(len(lines)), key=lambda i: prepared[i].shape[-1])
        readings: list[Reading | None] = [None] * len(lines)
        start = 0
        while start < len(order):
            width = prepared[order[start]].shape[-1]
            end = start + 1
            while (
                end < len(order)
                and prepared[order[end]].shape[-1] == width
                and (end + 1 - start) * width <= BATCH_PIXELS
            ):
                end += 1
            rows = order[start:end]
            batch = np.stack([prepared[i] for i in rows])
            frames, best, probability = self._network(batch).values()
            for row, i in enumerate(rows):
                readings[i] = self._decode(frames[row], best[row], probability[row])
            start = end
        self._network.release_memory()
        return [reading for reading in readings if reading is not None]

    def _decode(
        self,
        frames: NDArray[np.float32],
        choices: NDArray[np.integer[Any]],
        probabilities: NDArray[np.float32],
    ) -> Reading:
        """CTC: collapse runs of one symbol, drop blanks; a run is seen where it is surest.
        ``choices`` and ``probabilities``: ``[frames, CHOICES]``, the likeliest first."""
        best, probability = choices[:, 0], probabilities[:, 0]
        changes = np.flatnonzero(np.diff(best)) + 1
        starts = np.concatenate([[0], changes])
        ends = np.concatenate([changes, [len(best)]])
        peaks = [
            s + int(probability[s:e].argmax())
            for s, e in zip(starts, ends, strict=True)
            if best[s] != 0
        ]
        if not peaks:
            return Reading("", [], np.zeros((0, GLYPH), np.float32))
        at = np.asarray(peaks)
        beside = (frames[np.maximum(at - 1, 0)] + frames[np.minimum(at + 1, len(frames) - 1)]) / 2
        others = {
            place: {self.symbols[choices[i, k]]: float(probabilities[i, k]) for k in doubtful}
            for place, i in enumerate(peaks)
            if len(doubtful := np.flatnonzero(probabilities[i, 1:] >= DOUBT) + 1)
        }
        return Reading(
            "".join(self.symbols[best[i]] for i in peaks),
            probability[at].tolist(),
            np.concatenate([frames[at], beside], axis=1).astype(np.float32),
            others,
            self._unread_spaces(at, choices, probabilities),
        )

    def _unread_spaces(
        self,
        peaks: NDArray[np.integer[Any]],
        choices: NDArray[np.integer[Any]],
        probabilities: NDArray[np.float32],
    ) -> dict[int, float]:
        space = len(self.symbols) - 1
        spaces: dict[int, float] = {}
        for frame, rank in zip(*np.nonzero(choices == space), strict=True):
            place = int(np.searchsorted(peaks, frame))
            inner = 0 < place < len(peaks) and space not in choices[peaks[place - 1 : place + 1], 0]
            if inner and rank and probabilities[frame, rank] >= DOUBT:
                spaces[place] = max(spaces.get(place, 0.0), float(probabilities[frame, rank]))
        return spaces


@cache
def shared_recognizer() -> Recognizer:
    """The recogniser of this process: drafter and docparse-mini use the same one."""
    return Recognizer()


def _prepare(line: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Scale to height 48, pad to a width of its class, map 0..255 to -1..1: ``[3, 48, width]``."""
    import cv2

    height, width = line.shape[:2]
    scaled = min(MAX_WIDTH, max(16, round(width * HEIGHT / max(1, height))))
    how = cv2.INTER_AREA if height > HEIGHT else cv2.INTER_CUBIC
    resized = cv2.resize(line, (scaled, HEIGHT), interpolation=how)
    step = 64 if scaled <= 960 else 160
    padded = np.zeros((3, HEIGHT, -(-scaled // step) * step), np.float32)
    # The network was trained on blue-green-red pictures.
    padded[:, :, :scaled] = resized[:, :, ::-1].transpose(2, 0, 1) / 127.5 - 1.0
    return padded


def _compile(threads: int) -> tuple[Any, list[str]]:
    """Cut the network so that it returns frames, the likeliest symbols and their probabilities.

    The full score matrix (18,710 numbers a frame) never leaves the network.
    """
    import openvino as ov
    import rapidocr
    from openvino import opset13 as ops

    path = Path(rapidocr.__file__).parent / "models" / "PP-OCRv6_rec_small.onnx"
    model = ov.Core().read_model(path)
    softmax = model.output(0).get_node().input_value(0)
    operations = reversed(model.get_ordered_ops())
    head = next(op for op in operations if op.get_type_name() == "MatMul")
    top = ops.topk(
        softmax, np.int64(CHOICES), axis=-1, mode="max", sort="value", index_element_type="i32"
    )
    symbols = model.get_rt_info(["framework", "character"]).astype(str).split("\n")
    cut = ov.Model([head.input_value(0), top.output(1), top.output(0)], model.get_parameters())
    return compile_network(cut, threads), ["", *symbols, " "]
