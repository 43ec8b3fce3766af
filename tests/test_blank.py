"""Nothing is read on pages that hold no text; ``python -m benchmarks.blank`` tries hundreds."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from benchmarks.blank import KINDS, blank_page, invented
from hsd_docparse import parse

READ_AS_LETTERS = [23, 25, 38, 45]
"""Pages on which single letters and boxes were read once."""
PAGES = sorted({*range(2 * len(KINDS)), *READ_AS_LETTERS})


@pytest.mark.parametrize("number", PAGES)
def test_nothing_is_invented(number: int, tmp_path: Path) -> None:
    assert invented(parse(blank_page(number, tmp_path), mode="draft", deadline=None)) == []


def test_a_target_invents_nothing_either(tmp_path: Path) -> None:
    assert invented(parse(blank_page(1, tmp_path), target="mini", deadline=None)) == []


@pytest.mark.parametrize("text", ["7", "42", "OK!"])
def test_a_page_may_hold_little_text(text: str, tmp_path: Path) -> None:
    image = Image.new("RGB", (1240, 1754), "white")
    ImageDraw.Draw(image).text((600, 1650), text, "black", ImageFont.load_default(36))
    image.save(tmp_path / "page.png")
    document = parse(tmp_path / "page.png", mode="draft", deadline=None)
    assert [region.text for page in document.pages for region in page.regions] == [text]
