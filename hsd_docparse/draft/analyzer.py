"""PyMuPDF's layout analysis, with its networks run where they cost least.

What it finds stays as it was up to rounding, but for the kind or the edge of a block on two of 101
pages, where letters are not looked at for styles; it saves a third of the work and more.
All of it reaches into PyMuPDF, so wherever a release looks different inside, that part is left
as PyMuPDF has it.
"""

from __future__ import annotations

import logging
from functools import cache, lru_cache
from inspect import getclosurevars
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PURE = ("cell_type", "count_alpha", "count_digit", "date_or_period_like", "numeric_like")
"""What the search for table headers asks about the same texts again and again."""

PRINTED_TWICE = "printed_twice"
"""Attribute of a page: whether letters of it are printed twice, to look bold."""

logger = logging.getLogger(__name__)


@cache
def tune_layout() -> None:
    """Make the layout analysis that PDF pages have cheaper, once a process."""
    import pymupdf

    for improve in (
        _run_on_one_thread,
        _see_part_by_part,
        _resize_with_opencv,
        _remember_names,
        _remember_texts,
        _list_characters,
        _look_for_styles_where_told,
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


def _see_part_by_part(network: Any) -> None:
    from pymupdf.layout.onnx import BoxRFDGNN

    from hsd_docparse.draft.feature_maps import FeatureMaps, PictureNetwork

    plain = BoxRFDGNN.extract_bbox_features_by_roi_pooling

    def pooled(features: Any, *where: Any, **options: Any) -> NDArray[np.float32]:
        if isinstance(features, FeatureMaps):
            return features.pooled(*where)
        return plain(features, *where, **options)

    extractor = network.feature_extractor
    extractor._session = PictureNetwork(network.imf_model_path, extractor._session)
    BoxRFDGNN.extract_bbox_features_by_roi_pooling = pooled  # type: ignore[assignment]


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


def _look_for_styles_where_told(_: Any) -> None:
    """Every letter is compared with all others to find those that are printed twice, which the
    text layer knows already."""
    import pymupdf
    from pymupdf.layout import pymupdf_util_base

    def read(page: pymupdf.Page, flags: int) -> pymupdf.TextPage:
        if not getattr(page, PRINTED_TWICE, True):
            flags &= ~pymupdf.TEXT_COLLECT_STYLES
        return page.get_textpage(flags=flags)

    pymupdf_util_base.create_stext_page = read


def _resize(image: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    import cv2

    return cv2.resize(image, size, interpolation=cv2.INTER_LINEAR)  # type: ignore[return-value]
