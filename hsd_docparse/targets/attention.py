"""What every model of transformers must allow before its drafts can be verified in one pass."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor

from hsd_docparse.errors import TargetError

REWINDABLE = {"full_attention", "sliding_attention"}
"""Layer types whose keys can be forgotten. Recurrent states cannot be: a model that has them
would have to replay what it kept, one token at a time, so verifying could never pay."""


def cache_argument(model: Any) -> str:
    """transformers 5.24 renamed it."""
    known = inspect.signature(type(model).forward).parameters
    return "cache" if "cache" in known else "past_key_values"


def attention_mask(sees: Tensor, model: Any, text: Any) -> Tensor:
    """``sees``, bool ``[rows, 1, queries, slots]``, as the model's attention wants it."""
    if text._attn_implementation != "eager":
        return sees
    mask = torch.zeros(sees.shape, dtype=model.dtype, device=sees.device)
    return mask.masked_fill_(~sees, torch.finfo(model.dtype).min)


def refuse_what_cannot_rewind(model: Any, text: Any) -> None:
    """Raise `TargetError` for models whose cache cannot take a draft back."""
    name = type(model).__name__
    if text._attn_implementation not in ("eager", "sdpa"):
        raise TargetError(
            f"{name} was loaded with {text._attn_implementation} attention, which takes no tree "
            "mask: load it with sdpa or eager."
        )
    if "local" in (getattr(text, "attention_layers", None) or ()):
        raise TargetError(
            f"{name} has local attention layers, which count slots and not positions, so it "
            "cannot verify drafts."
        )
    if layers := set(getattr(text, "layer_types", None) or ()) - REWINDABLE:
        raise TargetError(
            f"{name} has {', '.join(sorted(layers))} layers, whose cache cannot take rejected "
            "tokens back, so it cannot verify drafts."
        )
    rope = getattr(text, "rope_parameters", None) or {}
    kinds = rope.values() if all(isinstance(v, dict) for v in rope.values()) else [rope]
    for each in kinds:
        if each.get("rope_type") in ("dynamic", "longrope") and not each.get("alpha"):
            raise TargetError(
                f"{name} uses {each['rope_type']} rotary positions, which change with the length "
                "of the sequence, so what is cached cannot be reused."
            )
