"""What can verify: vision-language models behind one interface, one adapter a model family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from hsd_docparse.document import Page, Region
from hsd_docparse.speculative import Budget, Processor, Stop, Target
from hsd_docparse.targets.weighed import WeighedDraft

if TYPE_CHECKING:
    from PIL import Image


PAGES = 8
"""That a target reads in one batch, at most: it remembers so many between its methods."""


class DocumentTarget(Target[Any, Any], Protocol):
    """A speculative `Target` that reads pages, and the dialect that it speaks.

    Inputs are whatever the target's own `open` takes. Drafts are token ids in the target's
    serialisation: a draft in another dialect is rejected at every line, silently.
    """

    name: str
    budget: Budget
    """How much it pays to propose in one call."""

    def covers(self, region: Region) -> bool:
        """Whether the target was made for such a region; if not, its draft stands."""
        ...

    def page_inputs(self, image: Image.Image, page: Page) -> Any:
        """The whole page, with the prompt that asks for its Markdown."""
        ...

    def readable(self, page: Page) -> list[int]:
        """Indices of the regions that stage 1 reads."""
        ...

    def region_inputs(self, image: Image.Image, page: Page, regions: Sequence[int]) -> list[Any]:
        """One input for each of the page's regions at these indices."""
        ...

    def region_draft(self, page: Page, region: int) -> list[int]:
        """What the layout pipeline read there, as the target would write it."""
        ...

    def page_drafts(self, page: Page, outputs: dict[int, list[int]]) -> list[list[int]]:
        """Texts to look for while the page is read. ``outputs`` are the stage-1 outputs by
        region index; regions that are missing there stand in with their draft."""
        ...

    def weighed_draft(self, page: Page) -> WeighedDraft:
        """The page as the layout pipeline read it, and how sure it is of each token."""
        ...

    def stops(self, inputs: Any) -> list[Stop[int]]: ...

    def processors(self, inputs: Any) -> list[Processor]:
        """The logits processors of the target's own greedy decoding."""
        ...

    def regions(self, page: Page, output: Sequence[int]) -> list[Region]:
        """The page that ``output`` says, in its order; boxes and lines from the draft's
        regions, provenance ``accepted`` where the text is the draft's and ``corrected``
        where it is not."""
        ...


def open_target(name: str) -> DocumentTarget:
    """Open ``mini``, a Hugging Face hub id or a folder with a model. Raises `TargetError`."""
    from transformers.utils import logging

    # The bars of transformers would stand in the middle of what docparse prints.
    logging.disable_progress_bar()
    if name == "mini":
        from hsd_docparse.targets.mini import open_mini

        return open_mini()
    from hsd_docparse.targets.huggingface import open_huggingface

    return open_huggingface(name)
