"""Any causal language model of transformers as a speculative target (and as a draft model)."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from hsd_docparse.errors import TargetError
from hsd_docparse.speculative import DraftTree, Scores
from hsd_docparse.speculative.cache import SlotCache
from hsd_docparse.targets.attention import (
    attention_mask,
    cache_argument,
    refuse_what_cannot_rewind,
)
from hsd_docparse.targets.grouped import Group, GroupedTarget, Row, draft_ids

PROBE = DraftTree([1, 2, 3, 4], [-1, -1, 0, 2])
"""Two branches; what the model says at every node must be what it says of the bare path."""


@dataclass(eq=False)
class TextGroup(Group):
    """``skipped``: inputs of the last pass whose logits were left out, in every row."""

    skipped: int = 0


@dataclass(eq=False)
class TextRow(Row[TextGroup]):
    """``prompt``: the tokens before the pending one, until the first call has fed them."""

    prompt: list[int] = field(default_factory=list)


class LanguageModel(GroupedTarget[TextGroup, TextRow]):
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
        self.may_skip = "logits_to_keep" in inspect.signature(model.forward).parameters
        self._refuse_what_takes_no_tree()

    def open(self, inputs: Sequence[Sequence[int]]) -> list[TextRow]:
        if not all(isinstance(prompt[0], int) for prompt in inputs):
            raise TargetError("A prompt is a list of token ids: call tolist() on a tensor.")
        group = TextGroup(SlotCache(len(inputs), self.model.device))
        group.rows = [TextRow(group, prompt[-1], prompt=list(prompt[:-1])) for prompt in inputs]
        return list(group.rows)

    def score(self, states: Sequence[TextRow], trees: Sequence[DraftTree[int]]) -> list[Scores]:
        """One forward pass a group. The first one of a row feeds its prompt too."""
        waiting = [(state, state.prompt, state.pending) for state in states]
        whole = [
            tree if not state.prompt else _behind_prompt(state, tree)
            for state, tree in zip(states, trees, strict=True)
        ]
        all_scores = super().score(states, whole)
        for (state, prompt, pending), tree, scores in zip(waiting, trees, all_scores, strict=True):
            first = len(prompt) - state.group.skipped
            scores.logits = scores.logits[first : first + 1 + len(tree)]
            if prompt:
                super().keep(state, range(len(prompt) - 1), pending)
                state.prompt = []
        return all_scores

    def cached(self, state: TextRow) -> int:
        return super().cached(state) + len(state.prompt)

    def room(self, state: TextRow) -> float:
        """How many tokens may be drafted before positions run out."""
        positions = getattr(self.config, "max_position_embeddings", None)
        return positions - self.cached(state) - 1 if positions else float("inf")

    def rewind(self, state: TextRow, count: int, pending: int) -> None:
        state.group.cache.rewind(state.group.rows.index(state), count)
        state.pending = pending

    def _forward(
        self, group: TextGroup, rows: list[int], trees: Sequence[DraftTree[int]], sees: Tensor
    ) -> list[Tensor]:
        ids = draft_ids([group.rows[i].pending for i in rows], trees)
        # Nobody reads what a prompt's own tokens predict, and the head is large.
        group.skipped = min(len(group.rows[i].prompt) for i in rows) if self.may_skip else 0
        keep = {"logits_to_keep": ids.shape[1] - group.skipped} if group.skipped else {}
        logits = self._call(group.cache, ids, sees, **keep)
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
        except Exception as error:
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


def _behind_prompt(row: TextRow, tree: DraftTree[int]) -> DraftTree[int]:
    """Makes the first token of the prompt pending, and returns all others with ``tree`` behind."""
    first, *chain = [*row.prompt, row.pending]
    row.pending = first
    parents = [*range(-1, len(chain) - 1), *(len(chain) + parent for parent in tree.parents)]
    return DraftTree([*chain, *tree.atoms], parents)
