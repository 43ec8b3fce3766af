"""Some layers of a model as a draft model that costs no memory (self-speculation).

Early exit takes the first layers (LayerSkip, arXiv 2404.16710; HiSpec, 2510.01336), layer skipping
any subset (Draft & Verify, 2309.08168); the head is the model's own.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from torch import nn

LAYER_LISTS = ("layers", "h")
"""What transformers calls the list of decoder layers."""


def with_layers(model: Any, keep: Sequence[int]) -> Any:
    """``model``, a causal language model of transformers, with its decoder layers ``keep`` only,
    in that order. All parameters are shared; the original is left as it was.

    Raises `ValueError` for an architecture whose layers are not found.
    """
    small = _apart(model)
    config = copy.deepcopy(model.config)
    text = config.get_text_config()
    text.num_hidden_layers = len(keep)
    if getattr(text, "layer_types", None):
        text.layer_types = [text.layer_types[i] for i in keep]
    small.config = config
    decoder = model.get_decoder()
    name = next((n for n in LAYER_LISTS if hasattr(decoder, n)), None)
    if name is None:
        raise ValueError(f"{type(model).__name__} has no list of layers to choose from.")
    parent = next((n for n, module in model.named_children() if module is decoder), None)
    if parent is None:
        raise ValueError(f"{type(model).__name__} keeps its decoder where it cannot be replaced.")
    short = _apart(decoder)
    short.config = text
    layers = getattr(decoder, name)
    setattr(short, name, nn.ModuleList(_numbered(layers[i], n) for n, i in enumerate(keep)))
    setattr(small, parent, short)
    return small


def _apart(module: Any) -> Any:
    """A module of its own with the same parameters and children."""
    other = copy.copy(module)
    other._modules = dict(module._modules)
    return other


def _numbered(layer: Any, index: int) -> Any:
    """The layer as layer ``index``, which is where it writes in the cache."""
    other = _apart(layer)
    if hasattr(other, "layer_idx"):
        other.layer_idx = index
    for name, child in layer.named_children():
        if any(hasattr(module, "layer_idx") for module in child.modules()):
            setattr(other, name, _numbered(child, index))
    return other
