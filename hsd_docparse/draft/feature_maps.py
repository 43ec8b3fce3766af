"""What the layout's picture network sees on a page, pooled box by box.

The network puts five maps of different detail on top of each other, as one picture of 160 channels
and 58 MB, of which only the mean and the largest value inside of boxes are ever asked for. Here it
gives the maps as they are inside of it, half as precise and never joined: that takes half the time
and much less memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hsd_docparse.draft.networks import compile_network

if TYPE_CHECKING:
    from numpy.typing import NDArray

Boxes = Sequence[Sequence[float]]


class FeatureMaps:
    """Maps ``[height, width, channels]`` of one page, float32 or the bits of bfloat16."""

    def __init__(self, maps: Sequence[NDArray[Any]]) -> None:
        self._maps = maps

    def pooled(self, boxes: Boxes, width: float, height: float) -> NDArray[np.float32]:
        """Means, then largest values, of all channels in each of ``boxes``: ``[boxes, 2 *
        channels]``. ``width`` and ``height`` are those of the page, in the units of the boxes."""
        rows, columns = self._maps[0].shape[:2]
        scale = np.array([columns / width, rows / height] * 2)
        corners = np.asarray(boxes, np.float64).reshape(-1, 4) * scale
        last = np.array([columns - 1, rows - 1])
        begin = np.floor(corners[:, :2]).astype(int).clip(0, last)
        end = np.maximum(begin, (np.ceil(corners[:, 2:]).astype(int) - 1).clip(0, last)) + 1
        places = [*zip(begin.tolist(), end.tolist(), strict=True)]
        sums: list[list[NDArray[np.float32]]] = []
        maxima: list[list[NDArray[np.float32]]] = []
        for each in self._maps:
            channels = each.shape[2]
            # Row by row first, so that what is reduced lies side by side.
            values = each.reshape(rows, -1)
            sums.append([])
            maxima.append([])
            for (x0, y0), (x1, y1) in places:
                band = _widened(values[y0:y1, x0 * channels : x1 * channels])
                sums[-1].append(_reduced(np.add, band, channels))
                maxima[-1].append(_reduced(np.maximum, band, channels))
        areas = (end - begin).prod(axis=1, keepdims=True)
        means = np.concatenate(sums, axis=1) / areas
        return np.concatenate([means, *maxima], axis=1, dtype=np.float32)


def _reduced(operation: np.ufunc, band: NDArray[np.float32], channels: int) -> NDArray[np.float32]:
    return operation.reduce(operation.reduce(band, 0).reshape(-1, channels), 0)


def _widened(values: NDArray[Any]) -> NDArray[np.float32]:
    if values.dtype == np.float32:
        return values
    return (values.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


class PictureNetwork:
    """The network behind the interface of onnxruntime: `FeatureMaps` in the place of the joined
    maps. Raises `ValueError` where the network does not end in such maps."""

    def __init__(self, path: str | Path, plain: Any) -> None:
        inputs, outputs = plain.get_inputs(), plain.get_outputs()
        self.get_inputs, self.get_outputs = (lambda: inputs), (lambda: outputs)
        self._network = _compile(path)

    def run(self, names: Sequence[str], inputs: dict[str, NDArray[Any]]) -> list[Any]:
        (picture,) = inputs.values()
        # Nothing is copied: what is found holds until the next picture is seen.
        *maps, logits = self._network(picture, share_outputs=True).values()
        found = {"combined": FeatureMaps([each[0] for each in maps]), "logits": logits}
        return [found[name] for name in names]


def _compile(path: str | Path) -> Any:
    import openvino as ov
    from openvino.preprocess import PrePostProcessor

    core = ov.Core()
    whole = core.read_model(path)
    # One picture at a time: what is known of its shape is not worked out at every call.
    shape = whole.input().get_partial_shape()
    shape[0] = 1
    whole.reshape(shape)
    joined, logits = (_source(whole.output(name)) for name in ("combined", "logits"))
    if joined.get_node().get_type_name() != "Concat":
        raise ValueError("the picture network does not join maps")
    maps = [value.get_source_output() for value in joined.get_node().inputs()]
    processor = PrePostProcessor(ov.Model([*maps, logits], whole.get_parameters()))
    halved = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    for index in range(len(maps)):
        processor.output(index).model().set_layout(ov.Layout("NCHW"))
        tensor = processor.output(index).tensor().set_layout(ov.Layout("NHWC"))
        if halved:
            tensor.set_element_type(ov.Type.bf16)
    return compile_network(processor.build(), 1)


def _source(result: Any) -> Any:
    return result.get_node().inputs()[0].get_source_output()
