"""What differs between families of vision-language models: prompts, image tokens and dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hsd_docparse.document import Kind, Region

REGION_MARGIN = 5.0
"""Pixels added around a region before it is cut out (HSD, arXiv 2602.12957)."""


@dataclass(frozen=True)
class Family:
    """A model family.

    ``model_types`` are the values of ``model_type`` in ``config.json``. ``system`` is the
    system message, None for the one of the chat template. ``region_prompts`` maps the kinds
    that have a prompt of their own; all others get ``region_prompt``. ``image_tokens`` says
    how many tokens a grid of merged patches (height, width) takes. ``serialise`` writes a
    region's text the way the family does, and ``""`` for a region that it leaves out.
    """

    model_types: tuple[str, ...]
    system: str | None
    page_prompt: str
    region_prompt: str
    region_prompts: Mapping[Kind, str]
    image_tokens: Callable[[int, int], int]
    serialise: Callable[[Region], str]
    max_tokens: int = 8192
