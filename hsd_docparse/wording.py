"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """``1 page``, ``2 pages``, ``1,000 pages``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
