"""What is pooled from the maps as the network has them is what PyMuPDF pools from joined ones."""

from __future__ import annotations

import numpy as np
import pytest

from hsd_docparse.draft.feature_maps import FeatureMaps

BOXES = [
    (0, 0, 600, 800),
    (10, 20, 300, 30),
    (599.5, 799.5, 600, 800),
    (50, 50, 50, 50),
    (-9, 5, 700, 90),
]


def as_bfloat16(values: np.ndarray) -> np.ndarray:
    """The bits, as OpenVINO gives them: two bytes that call themselves float16."""
    return (values.view(np.uint32) >> 16).astype(np.uint16).view(np.float16)


@pytest.mark.parametrize("halved", [False, True])
def test_boxes_are_pooled_as_pymupdf_pools_them(halved: bool) -> None:
    from pymupdf.layout.roi_pooling import extract_bbox_features_by_roi_pooling

    rng = np.random.default_rng(0)
    maps = [rng.normal(size=(30, 40, 4)).astype(np.float32) for _ in range(3)]
    if halved:
        bits = [as_bfloat16(each) for each in maps]
        maps = [(each.view(np.uint16).astype(np.uint32) << 16).view(np.float32) for each in bits]
    joined = np.concatenate(maps, axis=2).transpose(2, 0, 1)[None]
    expected = extract_bbox_features_by_roi_pooling(joined, BOXES, 600, 800)
    found = FeatureMaps(bits if halved else maps).pooled(BOXES, 600, 800)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_the_network_behind_pymupdf_is_the_one_that_keeps_its_maps() -> None:
    """Where a release of PyMuPDF looks different, its own way stays, silently."""
    from inspect import getclosurevars

    import pymupdf

    from hsd_docparse.draft.analyzer import tune_layout

    tune_layout()
    network = getclosurevars(pymupdf._get_layout).nonlocals["MODEL"]._model
    extractor = network.feature_extractor
    extractor.predict(np.full((80, 60, 3), 255, np.uint8))
    assert isinstance(extractor.get_feature_map(), FeatureMaps)
    assert extractor.get_class_logits().shape[2:] == (300, 300)
