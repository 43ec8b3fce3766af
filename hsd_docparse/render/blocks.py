"""What the formats share: which regions are read together, and what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from hsd_docparse.document import FURNITURE, Page, Region
from hsd_docparse.render.format import FigureLinks
from hsd_docparse.render.joining import Whole, join

BULLET = re.compile(r"[-*+•◦▪■●○‣–·]\s+")
NUMBER = re.compile(r"(\d{1,9}[.)])\s+")
MATH_DELIMITERS = (("$$", "$$"), (r"\[", r"\]"), (r"\(", r"\)"), ("$", "$"))

_FORMULA = re.compile(
    r"\$\$[^$\n]+\$\$|\\\(.+?\\\)|\\\[.+?\\\]"
    # With a command, a script or braces: spaces stand on both sides of it, or on none.
    r"|\$(?=[^$\n]*(?:\\[a-zA-Z{}|]|[\^_]))(?:[^\s$](?:[^$\n]*[^\s$])?| [^$\n]+ )\$(?!\d)"
    # Of bare letters and signs: nothing that a price or the name of a variable may be part of.
    r"|(?<![\w$\\])\$(?=[^\s$]*[^\W\d_])[^\s$]*[^\W_]['|)\]}]*\$(?![\dA-Z$])"
)
"""A formula within a line; dollars that stand for money are none."""


class Numbered(NamedTuple):
    """A region and its place among the page's regions, which names it in links and ids."""

    place: int
    region: Region


def running_text(page: Page, figures: FigureLinks) -> Iterator[list[Numbered]]:
    """Regions in reading order without headers, footers and page numbers, each with what goes on
    from it; items of one list come together, everything else alone. A figure whose words OCR found
    on a page with a text layer is there for its picture: without a link to one it is left out."""
    layered = any(map(_has_text_layer, page.regions))
    numbered = [
        Numbered(place, region.joined() if isinstance(region, Whole) else region)
        for place, region in enumerate(join(page, {}).regions)
        if region.kind not in FURNITURE
        and (region.kind == "figure" or region.text.strip())
        and (region.kind != "figure" or place in figures or not layered or _has_text_layer(region))
    ]
    for is_list, group in groupby(numbered, key=lambda n: n.region.kind == "list_item"):
        if is_list:
            yield list(group)
        else:
            yield from ([one] for one in group)


def _has_text_layer(region: Region) -> bool:
    return any(line.source == "text_layer" for line in region.lines)


def split_marker(text: str) -> tuple[str, str]:
    """A list item's number with its delimiter (``"3."``, empty for a bullet) and its text."""
    text = text.strip()
    if match := NUMBER.match(text):
        return match[1], text[match.end() :]
    if match := BULLET.match(text):
        return "", text[match.end() :]
    return "", text


def latex(text: str) -> str:
    """A formula without its delimiters and without blank lines."""
    text = text.strip()
    for opening, closing in MATH_DELIMITERS:
        if len(text) > len(opening + closing) and text.startswith(opening):
            text = text.removeprefix(opening).removesuffix(closing)
            break
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def split_formulas(text: str) -> Iterator[tuple[str, bool]]:
    """``text`` in parts, and which of them are formulas, still with their delimiters."""
    end = 0
    for found in _FORMULA.finditer(text):
        yield text[end : found.start()], False
        yield found[0], True
        end = found.end()
    yield text[end:], False


def one_line(text: str) -> str:
    return " ".join(text.split())
