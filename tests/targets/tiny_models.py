"""Random models of the real classes, small enough to judge exactness in float64 on a CPU."""

from __future__ import annotations

from typing import Any

import torch
from transformers import (
    HunYuanVLConfig,
    HunYuanVLForConditionalGeneration,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
)

from hsd_docparse.targets.hunyuan import HUNYUAN
from hsd_docparse.targets.qwen_vl import QWEN_VL
from hsd_docparse.targets.vision_language import VisionPrompt

VOCABULARY = 96
WORDS = 80
"""Tokens from here on are marks."""
IMAGE, START, END, EOS, PAD = 90, 91, 92, 93, 94
PATCH = 4
NAMES = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "hunyuan_vl")


def build(name: str, attention: str = "sdpa", vocabulary: int = VOCABULARY, **ids: int) -> Any:
    """Two text layers of hidden size 32, a vision tower of two layers of size 16. ``ids`` are
    the marks, where they differ from those above, and ``words`` the number of other tokens."""
    torch.manual_seed(0)
    text: dict[str, Any] = {
        "vocab_size": vocabulary,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        "eos_token_id": ids.get("eos", EOS),
        "bos_token_id": ids.get("eos", EOS),
        "pad_token_id": ids.get("pad", PAD),
    }
    tokens = {
        "image_token_id": ids.get("image", IMAGE),
        "video_token_id": vocabulary - 1,
        "vision_start_token_id": ids.get("start", START),
        "vision_end_token_id": ids.get("end", END),
        "tie_word_embeddings": False,
    }
    vision: dict[str, Any] = {"depth": 2, "num_heads": 2, "patch_size": PATCH}
    if name == "qwen2_vl":
        text |= {"rope_parameters": _mrope([1, 1, 2])}
        vision |= {"embed_dim": 16, "hidden_size": 32, "mlp_ratio": 2}
        config = Qwen2VLConfig(text_config=text, vision_config=vision, **tokens)
        model: Any = Qwen2VLForConditionalGeneration
    elif name == "qwen2_5_vl":
        text |= {"rope_parameters": _mrope([1, 1, 2])}
        vision |= {"hidden_size": 16, "intermediate_size": 24, "out_hidden_size": 32}
        vision |= {"window_size": 16, "fullatt_block_indexes": [1]}
        config = Qwen2_5_VLConfig(text_config=text, vision_config=vision, **tokens)
        model = Qwen2_5_VLForConditionalGeneration
    elif name == "qwen3_vl":
        text |= {"head_dim": 12, "rope_parameters": _mrope([2, 2, 2])}
        vision |= {"hidden_size": 16, "intermediate_size": 24, "out_hidden_size": 32}
        vision |= {"num_position_embeddings": 64, "deepstack_visual_indexes": [0]}
        config = Qwen3VLConfig(text_config=text, vision_config=vision, **tokens)
        model = Qwen3VLForConditionalGeneration
    else:
        rope = {"rope_type": "xdrope", "alpha": 1000.0, "factor": 1.0, "rope_theta": 1e4}
        text |= {"head_dim": 8, "rope_parameters": rope | {"xdrope_section": [1, 1, 1, 1]}}
        vision = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2}
        vision |= {"num_attention_heads": 2, "patch_size": PATCH, "max_image_size": 32}
        config = HunYuanVLConfig(
            text_config=text,
            vision_config=vision,
            image_token_id=tokens["image_token_id"],
            im_start_id=tokens["vision_start_token_id"],
            im_end_id=tokens["vision_end_token_id"],
            tie_word_embeddings=False,
        )
        model = HunYuanVLForConditionalGeneration
    built = model._from_config(config, attn_implementation=attention).eval()
    with torch.no_grad():
        # Weights of this size make the next token depend on the picture and on the order of
        # the text; at the usual scale a random model repeats one token whatever it sees.
        for weight in built.parameters():
            if weight.ndim > 1:
                weight.normal_(std=0.8 * weight[0].numel() ** -0.5 if weight.ndim > 2 else 0.35)
        # Marks are not words: a text that holds one would be read as having another picture.
        built.lm_head.weight[ids.get("words", WORDS) :] = 0
    return built.to(torch.get_default_dtype())


def prompt(name: str, height: int, width: int, seed: int, words: int) -> VisionPrompt:
    """A picture of ``height x width`` patches and ``words`` words around it."""
    generator = torch.Generator().manual_seed(seed)
    family = HUNYUAN if name == "hunyuan_vl" else QWEN_VL
    values = 3 * PATCH**2 * (1 if name == "hunyuan_vl" else 2)
    count = family.image_tokens(height // 2, width // 2)
    text = torch.randint(0, WORDS, (words,), generator=generator).tolist()
    ids = [text[0], START, *[IMAGE] * count, END, *text[1:]]
    pixels = torch.randn(height * width, values, generator=generator)
    return VisionPrompt(ids, pixels, torch.tensor([[1, height, width]]))


def _mrope(section: list[int]) -> dict[str, Any]:
    return {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": section}
