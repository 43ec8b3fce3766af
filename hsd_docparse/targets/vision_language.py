"""Any vision-language model of transformers as a speculative target: tokens and pixels, no text.

Three positions of a token are kept apart. Its *slot* is where the cache stores it. Its
*content position* is the number of tokens before it. Its *rotary coordinates* are what the
model rotates by; an image takes fewer (or other) coordinates than it has tokens, so a row
carries the shift from one to the other and every forward pass is told all coordinates. The
``rope_deltas`` that the model itself remembers are those of its last prefill, and are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from hsd_docparse.errors import TargetError
from hsd_docparse.speculative import DraftTree
from hsd_docparse.speculative.cache import SlotCache
from hsd_docparse.targets.attention import (
    attention_mask,
    cache_argument,
    refuse_what_cannot_rewind,
)
from hsd_docparse.targets.grouped import Group, GroupedTarget, Row, draft_ids


@dataclass(frozen=True)
class VisionPrompt:
    """One row to open.

    ``ids`` has one placeholder token for each image token; ``pixels`` are the flattened
    patches of its images, float ``[patches, values]``, and ``grid`` their size in patches,
    int64 ``[images, 3]`` (time, height, width).
    """

    ids: list[int]
    pixels: Tensor
    grid: Tensor


@dataclass(eq=False)
class VisionRow(Row[Group]):
    """``shift`` is rotary coordinate minus content position, from the pending token on."""

    shift: int = 0


class VisionLanguageModel(GroupedTarget[Group, VisionRow]):
    """The `Target` protocol for a transformers model with rotary positions over image axes.

    ``model`` is one of the ``...ForConditionalGeneration`` classes that compute rotary
    coordinates with ``get_rope_index``. Raises `TargetError` for models whose cache cannot
    take a draft back.
    """

    def __init__(self, model: Any) -> None:
        self.text = model.config.get_text_config()
        refuse_what_cannot_rewind(model, self.text)
        if "sliding_attention" in (getattr(self.text, "layer_types", None) or ()):
            raise TargetError(
                f"{type(model).__name__} has sliding_attention layers, which are verified in "
                "text models only."
            )
        self.model = model.eval()
        self.image_token: int = model.config.image_token_id
        self.cache_argument = cache_argument(model)

    @torch.no_grad()
    def open(self, inputs: Sequence[VisionPrompt]) -> list[VisionRow]:
        """Prefill right-padded prompts in one forward pass; no image may end a prompt."""
        device = self.model.device
        lengths = [len(prompt.ids) - 1 for prompt in inputs]
        width = max(lengths)
        group = Group(SlotCache(len(inputs), device))
        group.cache.prompt_mask(lengths)
        ids = []
        coordinates = []
        for prompt in inputs:
            rotary, shift = self._rotary(prompt)
            # The last token is text, so repeating it pads with no placeholder.
            padding = width - len(prompt.ids) + 1
            ids.append(prompt.ids[:-1] + prompt.ids[-1:] * padding)
            coordinates.append(torch.nn.functional.pad(rotary[:, 0, :-1], (0, padding)))
            group.rows.append(VisionRow(group, prompt.ids[-1], shift=shift))
        # No mask: right padding lies behind every real token, which looks back only.
        self._call(
            group.cache,
            input_ids=torch.tensor(ids, device=device),
            position_ids=torch.stack(coordinates, dim=1).to(device),
            pixel_values=torch.cat([prompt.pixels for prompt in inputs]).to(device),
            image_grid_thw=torch.cat([prompt.grid for prompt in inputs]).to(device),
            logits_to_keep=1,
        )
        return list(group.rows)

    def _forward(
        self, group: Group, rows: list[int], trees: Sequence[DraftTree[int]], sees: Tensor
    ) -> list[Tensor]:
        ids = draft_ids([group.rows[i].pending for i in rows], trees)
        shifts = torch.tensor([group.rows[i].shift for i in rows], device=sees.device)
        coordinates = group.cache.queries + shifts[:, None]
        logits = self._call(
            group.cache,
            input_ids=ids.to(sees.device),
            position_ids=coordinates.expand(self._axes, -1, -1),
            attention_mask=attention_mask(sees, self.model, self.text),
        )
        # Processors and argmax work in at least float32, as generate() does.
        return list(logits.to(torch.promote_types(logits.dtype, torch.float32)))

    def _call(self, cache: SlotCache, **inputs: Any) -> Tensor:
        output = self.model(**inputs, **{self.cache_argument: cache}, use_cache=True)
        logits: Tensor = output.logits
        return logits

    def _rotary(self, prompt: VisionPrompt) -> tuple[Tensor, int]:
        """Coordinates ``[axes, 1, tokens]`` of a prompt, and the shift behind it."""
        ids = torch.tensor([prompt.ids])
        coordinates, shift = self.model.model.get_rope_index(
            ids,
            mm_token_type_ids=(ids == self.image_token).int(),
            image_grid_thw=prompt.grid,
        )
        return coordinates, int(shift)

    @property
    def _axes(self) -> int:
        return len(self.text.rope_parameters["mrope_section"])
