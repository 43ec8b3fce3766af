"""Text that every machine has: the Python manual that ships with the standard library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pydoc_data.topics import topics

_RULES = {"*": "h1", "=": "h2", "-": "h3", "~": "h3"}


def manual() -> Iterator[tuple[str, str]]:
    """Its blocks as (kind, text): headings, paragraphs, list items and code."""
    for topic in topics.values():
        for block in re.split(r"\n{2,}", topic):
            first, _, rest = block.partition("\n")
            if rest and rest[0] in _RULES and set(rest) == {rest[0]}:
                yield _RULES[rest[0]], first
            elif block.startswith("   "):
                yield "code", block
            elif block.startswith("* "):
                yield "li", _flat(block[2:])
            elif block.strip():
                yield "p", _flat(block)


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
