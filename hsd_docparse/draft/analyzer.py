"""PyMuPDF's layout analysis, with its networks run where they cost least.

What it finds stays as it was up to rounding; on one core's worth of work it saves about a third.
All of it reaches into PyMuPDF, so wherever a release looks different inside, that part is left
as PyMuPDF has it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cache, lru_cache
from inspect import getclosurevars
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PURE = ("cell_type", "count_alpha", "count_digit", "date_or_period_like", "numeric_like")
"""What the search for table headers asks about the same texts again and again."""

logger = logging.getLogger(__name__)


@cache
def tune_layout() -> None:
    """Make the layout analysis that PDF pages have cheaper, once a process."""
    import pymupdf

    for improve in (
        _run_on_one_thread,
        _see_with_openvino,
        _resize_with_opencv,
        _remember_names,
        _remember_texts,
        _list_characters,
    ):
        try:
            # PyMuPDF builds the model as it is imported, and keeps it in a closure.
            found = getclosurevars(pymupdf._get_layout)  # type: ignore[arg-type]
            improve(found.nonlocals["MODEL"]._model)
        except Exception:
            logger.debug("%s does not fit this PyMuPDF", improve.__name__, exc_info=True)


def _run_on_one_thread(network: Any) -> None:
    """Threads that wait for each other cost more than they save on networks of this size."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False
    options.intra_op_num_threads = 1
    grids = network.table_grid_extractor
    for owner, name in ((network, "session"), (grids, "_grid_sess"), (grids, "_conn_sess")):
        plain = getattr(owner, name)
        if plain is not None:
            path, providers = plain._model_path, ["CPUExecutionProvider"]
            session = onnxruntime.InferenceSession(path, options, providers=providers)
            setattr(owner, name, session)


def _see_with_openvino(network: Any) -> None:
    extractor = network.feature_extractor
    extractor._session = _OpenVinoSession(network.imf_model_path, extractor._session)


def _resize_with_opencv(_: Any) -> None:
    """Not for the grids of tables: one grey level moves what is at a threshold there."""
    from pymupdf.layout.onnx import ImageFeatureExtractorV1

    ImageFeatureExtractorV1.resize_image = _resize  # type: ignore[assignment]


def _remember_names(_: Any) -> None:
    """The features of every line are looked up by name, and Python sorts the names anew."""
    from pymupdf.layout import pymupdf_util_rf

    names = cache(dir)
    pymupdf_util_rf.dir = lambda each: names(type(each))  # type: ignore[attr-defined,arg-type]


def _remember_texts(_: Any) -> None:
    from pymupdf import _table_headers

    for name in _PURE:
        setattr(_table_headers, name, lru_cache(1 << 14)(getattr(_table_headers, name)))


def _list_characters(_: Any) -> None:
    from pymupdf import table

    from hsd_docparse.draft.table_characters import make_chars

    table.make_chars = make_chars  # type: ignore[assignment]


class _OpenVinoSession:
    """An OpenVINO network that is called like one of onnxruntime."""

    def __init__(self, path: str, plain: Any) -> None:
        from hsd_docparse.draft.networks import compile_network

        self.get_inputs, self.get_outputs = plain.get_inputs, plain.get_outputs
        self._names = [output.name for output in plain.get_outputs()]
        self._network = compile_network(path)

    def run(self, names: Sequence[str], inputs: dict[str, NDArray[Any]]) -> list[NDArray[Any]]:
        (values,) = inputs.values()
        outputs = self._network(values).values()
        self._network.release_memory()
        found = dict(zip(self._names, outputs, strict=True))
        return [found[name] for name in names]


def _resize(image: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    import cv2

    return cv2.resize(image, size, interpolation=cv2.INTER_LINEAR)  # type: ignore[return-value]
