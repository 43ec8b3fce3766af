"""Which texts docparse-mini was made for."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from functools import cache

LEAST = 0.9
"""Share of a text's letters that have to be in a known script: formulas and names bring others."""


def is_written_in(text: str, scripts: Collection[str]) -> bool:
    """Whether ``text`` is in ``scripts``, the first words of Unicode names (``LATIN``); what has no
    letters is in any, and no ``scripts`` are all of them."""
    letters = [_script(character) for character in text if character.isalpha()]
    known = sum(script in scripts for script in letters)
    return not scripts or known >= LEAST * len(letters)


@cache
def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]
