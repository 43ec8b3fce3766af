"""What of a page is read: all running text that the layout pipeline found, and nothing else; and
what it does not see is not read across."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import torch

from hsd_docparse.speculative import DraftTree
from hsd_docparse.targets.mini.dialect import BLOCKS, EOS, PAGE, Hint

if TYPE_CHECKING:
    from hsd_docparse.targets.mini.vision import Sight

MARGIN = 0.08
"""Share of a page at its top and bottom where the model alone decides what is running text."""


class ReadEveryLine:
    """A logits processor: no end while a line that the pipeline takes for running text is
    unread. In the margins of a page a line may be a header that the pipeline missed."""

    def __init__(self, sight: Sight, prompt: int, vocabulary: int) -> None:
        middle = (sight.geometry[:, 1] + sight.geometry[:, 3]) / 2
        inner = (middle > MARGIN) & (middle < 1 - MARGIN) | (prompt != PAGE)
        text = (sight.hints[:, 0] != Hint.NONE) & (sight.hints[:, 0] != Hint.FURNITURE)
        self.pointers = frozenset((vocabulary + (inner & text).nonzero()[0]).tolist())

    def __call__(
        self, logits: torch.Tensor, sequence: Sequence[int], tree: DraftTree[int]
    ) -> torch.Tensor:
        missing = [self.pointers.difference(sequence)]
        if not missing[0]:
            return logits
        for atom, parent in zip(tree.atoms, tree.parents, strict=True):
            missing.append(missing[parent + 1] - {atom})
        unread = [row for row, pointers in enumerate(missing) if pointers]
        logits = logits.clone()
        logits[unread, EOS] = -torch.inf
        return logits


class LeaveFurniture:
    """A logits processor: lines that the pipeline takes for running headers and footers are not
    read. On public documents it errs there more rarely than docparse-mini does."""

    def __init__(self, sight: Sight, vocabulary: int) -> None:
        outside = sight.hints[:, 0] == Hint.FURNITURE
        self.pointers = torch.from_numpy(vocabulary + outside.nonzero()[0])

    def __call__(
        self, logits: torch.Tensor, sequence: Sequence[int], tree: DraftTree[int]
    ) -> torch.Tensor:
        return logits.index_fill(1, self.pointers.to(logits.device), -torch.inf)


class OpenBehindFormulas:
    """A logits processor: ``lines``, before which stands a formula that docparse-mini does not see,
    open a block."""

    def __init__(self, lines: Collection[int], vocabulary: int) -> None:
        self.pointers = frozenset(vocabulary + line for line in lines)

    def __call__(
        self, logits: torch.Tensor, sequence: Sequence[int], tree: DraftTree[int]
    ) -> torch.Tensor:
        said = [*(sequence[-1:] or [PAGE]), *tree.atoms]
        heads = [row for row, token in enumerate(said) if token in self.pointers]
        if not heads:
            return logits
        marks = torch.tensor(sorted(BLOCKS), device=logits.device)
        opened = torch.full_like(logits[heads], -torch.inf)
        opened[:, marks] = logits[heads][:, marks]
        logits = logits.clone()
        logits[heads] = opened
        return logits
