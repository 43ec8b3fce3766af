"""Random causal language models of the real classes, and what they say without a cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

VOCABULARY = 64
WINDOW = 6
NAMES = ("llama", "qwen3", "gemma3", "gpt2")


def build(name: str, attention: str = "sdpa", layers: int = 3, window: int = WINDOW) -> Any:
    """In float64. Gemma 3 sees ``window`` tokens in two of three layers."""
    torch.manual_seed(0)
    size: dict[str, Any] = {
        "vocab_size": VOCABULARY,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": 256,
        # Tied, random embeddings say again whatever they see.
        "tie_word_embeddings": False,
    }
    config: Any
    if name == "gpt2":
        config = GPT2Config(
            vocab_size=VOCABULARY, n_embd=32, n_layer=layers, n_head=4, tie_word_embeddings=False
        )
        kind: Any = GPT2LMHeadModel
    elif name == "gemma3":
        kinds = ["sliding_attention", "full_attention", "sliding_attention"] * layers
        config = Gemma3TextConfig(**size, sliding_window=window, layer_types=kinds[:layers])
        kind = Gemma3ForCausalLM
    elif name == "qwen3":
        config, kind = Qwen3Config(**size), Qwen3ForCausalLM
    else:
        config, kind = LlamaConfig(**size), LlamaForCausalLM
    model = kind._from_config(config, attn_implementation=attention).eval()
    with torch.no_grad():
        # Large enough for the next token to depend on all that it sees.
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(std=0.35)
    return model.double()


def prompts(count: int, seed: int = 0, longest: int = 12) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, longest + 1, (count,), generator=generator).tolist()
    return [torch.randint(0, VOCABULARY, (n,), generator=generator).tolist() for n in lengths]


@torch.no_grad()
def greedy(model: Any, prompts: Sequence[Sequence[int]], length: int) -> list[list[int]]:
    """A whole forward pass for every token; prompts of one length share it."""
    outputs: list[list[int]] = [[] for _ in prompts]
    for size in {len(prompt) for prompt in prompts}:
        rows = [i for i, prompt in enumerate(prompts) if len(prompt) == size]
        ids = torch.tensor([list(prompts[i]) for i in rows])
        for _ in range(length):
            best = model(input_ids=ids, use_cache=False).logits[:, -1].argmax(-1)
            ids = torch.cat([ids, best[:, None]], 1)
        for i, row in zip(rows, ids[:, size:].tolist(), strict=True):
            outputs[i] = row
    return outputs
