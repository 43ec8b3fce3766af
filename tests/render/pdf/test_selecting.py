"""A word that is double-clicked in Chromium's viewer is highlighted where it stands, and copied."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pymupdf
import pytest
from browser import CHROMIUM, needs_browser
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Page, sync_playwright
from serving import until

from hsd_docparse.convert import Settings
from hsd_docparse.document import Box
from hsd_docparse.export import Outputs, exporting, output_path

SCAN = Path(__file__).parents[3] / "samples" / "report-scan.pdf"
WORDS = ("Warehouse", "February", "Operating", "electricity", "Board")
DARK = 160
"""Ink is; the paper of the scan is not."""
LEAST = 0.75
"""Of a word's ink that its highlight covers."""
_SCALE = 96 / 72
_PAPER = 60
"""The viewer's background is darker, the scan's darkest corner lighter."""
_BETWEEN_WORDS = 3
"""Pixels without ink, at least."""

pytestmark = needs_browser


class Viewer(NamedTuple):
    page: Page
    other: Page
    """A page with a text area, to paste into."""

    def picture(self) -> NDArray[np.int16]:
        screenshot = Image.open(io.BytesIO(self.page.screenshot()))
        return np.asarray(screenshot.convert("L")).astype(np.int16)

    def pasted(self) -> str:
        area = self.other.locator("textarea")
        self.other.bring_to_front()
        area.fill("")
        area.press("Control+v")
        self.page.bring_to_front()
        return area.input_value()


@pytest.fixture(scope="module")
def searchable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("searchable") / SCAN.stem
    with exporting(SCAN, base, Settings(mode="draft", pages="1"), Outputs(("pdf",))) as (_, reads):
        list(reads)
    return output_path(base, "pdf")


@pytest.fixture(scope="module")
def viewer(searchable: Path) -> Iterator[Viewer]:
    with sync_playwright() as playwright:
        # Playwright's own way of being headless has no viewer, and its viewports show none.
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            headless=False,
            args=["--headless=new", "--no-sandbox", "--window-size=1000,1300"],
        )
        context = browser.new_context(no_viewport=True)
        page, other = context.new_page(), context.new_page()
        other.set_content("<textarea></textarea>")
        page.bring_to_front()
        page.goto(f"{searchable.as_uri()}#toolbar=0&navpanes=0&zoom=100")
        viewer = Viewer(page, other)
        until(lambda: np.mean(viewer.picture() > _PAPER) > 0.5)
        yield viewer
        browser.close()


def word_at(picture: NDArray[np.int16], place: Box) -> Box:
    """The ink around the middle of ``place``, up to where no ink is on both sides."""
    top, bottom = round(place.y0), round(place.y1)
    inked = (picture[top:bottom] < DARK).any(axis=0)
    left = right = round(place.center[0])
    while inked[left - _BETWEEN_WORDS : left].any():
        left -= 1
    while inked[right : right + _BETWEEN_WORDS].any():
        right += 1
    return Box(left, top, right, bottom)


def around(pixels: NDArray[np.bool_]) -> Box:
    y, x = np.nonzero(pixels)
    return Box(*map(float, (x.min(), y.min(), x.max() + 1, y.max() + 1)))


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_highlighted_where_it_stands(word: str, viewer: Viewer, searchable: Path) -> None:
    before = viewer.picture()
    left, top, *_ = around(before > _PAPER)
    with pymupdf.open(searchable) as document:
        place = next(
            Box(*found[:4]).scaled(_SCALE).moved(left, top)
            for found in document[0].get_text("words")
            if found[4].strip(".,") == word
        )
    viewer.page.mouse.dblclick(*word_at(before, place).center)
    changed: NDArray[np.bool_] = np.array([])

    def is_highlighted() -> bool:
        nonlocal changed
        changed = before - viewer.picture() > 30
        return bool(changed.any())

    until(is_highlighted)
    viewer.page.keyboard.press("Control+c")
    assert viewer.pasted() == word
    own = word_at(before, place)
    ink = before < DARK
    ink[:, : round(own.x0)] = ink[:, round(own.x1) :] = False
    ink[: round(own.y0)] = ink[round(own.y1) :] = False
    # Ink is dark already: what the highlight covers is known by the paper around it.
    highlight = around(changed)
    covered = ink[
        round(highlight.y0) : round(highlight.y1), round(highlight.x0) : round(highlight.x1)
    ]
    assert covered.sum() >= LEAST * ink.sum() > 0
    assert highlight.width < 1.5 * own.width
    viewer.page.mouse.click(left + 4, top + 4)
    until(lambda: not (before - viewer.picture() > 30).any())
