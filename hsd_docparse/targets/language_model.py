"""Any causal language model of transformers as a speculative target (and as a draft model)."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
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

PROBE = DraftTree([1, 2, 3, 4], [-1, -1, 0, 2])
"""Two branches; what the model says at every node must be what it says of the bare path."""


class LanguageModel(GroupedTarget[Group, Row[Group]]):
    """Prompts are token ids, at least one each; rows of any length share a batch.

    Layers with a sliding window keep all their keys here and see the window by content position,
    so that they rewind as full attention does. Raises `TargetError` for models that cannot
    verify: recurrent ones, and those whose attention does not take a tree (found out by trying).
    """

    def __init__(self, model: Any) -> None:
        self.model = model.eval()
        self.config = model.config.get_text_config()
        self.cache_argument = cache_argument(model)
        refuse_what_cannot_rewind(model, self.config)
        # Nobody reads what a prompt's own tokens predict, and the head is large.
        takes = "logits_to_keep" in inspect.signature(model.forward).parameters
        self.no_logits = {"logits_to_keep": 1} if takes else {}
        self._refuse_what_takes_no_tree()

    @torch.no_grad()
    def open(self, inputs: Sequence[Sequence[int]]) -> list[Row[Group]]:
        group = Group(SlotCache(len(inputs), self.model.device))
        group.rows = [Row(group, prompt[-1]) for prompt in inputs]
        lengths = [len(prompt) - 1 for prompt in inputs]
        if any(lengths):
            sees = group.cache.prompt_mask(lengths)
            ids = torch.zeros(len(inputs), max(lengths), dtype=torch.long)
            for row, prompt in zip(ids, inputs, strict=True):
                row[: len(prompt) - 1] = torch.tensor(prompt[:-1])
            self._call(group.cache, ids, sees, **self.no_logits)
        return list(group.rows)

    def rewind(self, state: Row[Group], count: int, pending: int) -> None:
        state.group.cache.rewind(state.group.rows.index(state), count)
        state.pending = pending

    def _forward(
        self, group: Group, rows: list[int], trees: Sequence[DraftTree[int]], sees: Tensor
    ) -> list[Tensor]:
        ids = draft_ids([group.rows[i].pending for i in rows], trees)
        logits = self._call(group.cache, ids, sees)
        # Processors and argmax work in at least float32, as generate() does.
        return list(logits.to(torch.promote_types(logits.dtype, torch.float32)))

    def _call(self, cache: SlotCache, ids: Tensor, sees: Tensor, **options: Any) -> Tensor:
        output = self.model(
            input_ids=ids.to(self.model.device),
            position_ids=cache.queries,
            attention_mask=self._masks(cache, sees),
            use_cache=True,
            **{self.cache_argument: cache},
            **options,
        )
        logits: Tensor = output.logits
        return logits

    def _masks(self, cache: SlotCache, sees: Tensor) -> Tensor | dict[str, Tensor]:
        full = attention_mask(sees, self.model, self.config)
        window = getattr(self.config, "sliding_window", None)
        layers = getattr(self.config, "layer_types", None)
        if not window or (layers and "sliding_attention" not in layers):
            return full
        near = cache.queries[:, :, None] - cache.position[:, None, :] < window
        sliding = attention_mask(sees & near[:, None], self.model, self.config)
        if not layers:
            return sliding
        return {"full_attention": full, "sliding_attention": sliding}

    @torch.no_grad()
    def _refuse_what_takes_no_tree(self) -> None:
        name = type(self.model).__name__
        try:
            (state,) = self.open([[0, 1]])
            (scores,) = self.score([state], [PROBE])
        except TypeError as error:
            raise TargetError(f"{name} cannot verify a draft: {error}.") from error
        self.close([state])
        for node in range(len(PROBE)):
            path = [PROBE.atoms[i] for i in PROBE.path(node)]
            ids = torch.tensor([[0, 1, *path]], device=self.model.device)
            alone = self.model(input_ids=ids, use_cache=False).logits[0, -1]
            apart = (scores.logits[node + 1] - alone).abs().max()
            if apart > 0.05 * alone.float().std():
                raise TargetError(
                    f"{name} reads a tree of drafts differently from the same tokens alone, so "
                    "it cannot verify drafts."
                )
