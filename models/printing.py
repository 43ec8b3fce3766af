"""HTML pages printed by headless Chromium, and the truth about them: every word and its place.

A page is one box of the paper's size; what does not fit is cut off, so that the rectangles of the
screen are those of the PDF. Elements with ``data-k`` are blocks, in the order of the document; what
an element with the class ``clip`` cuts off, or the page, is not printed.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hsd_docparse.document import Box
from hsd_docparse.targets.mini.vision import visual_order

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

POINTS = 0.75
"""A CSS pixel."""
_WORDS = """() => {
  const blocks = [];
  const sheet = document.querySelector('.page').getBoundingClientRect();
  const range = document.createRange();
  for (const element of document.querySelectorAll('[data-k]')) {
    const clips = [sheet];
    for (let e = element; (e = e.parentElement?.closest('.clip'));)
      clips.push(e.getBoundingClientRect());
    const words = [];
    let word = null, last = null, shy = false;
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode());)
      for (let i = 0; i < node.data.length; i++) {
        const character = node.data[i];
        if (/\\s/.test(character)) { word = null; shy = false; continue; }
        if (character === '\\u00ad') { shy = true; continue; }
        range.setStart(node, i); range.setEnd(node, i + 1);
        const rect = [...range.getClientRects()].pop();
        if (!rect) continue;
        const r = [rect.left, rect.top, rect.right, rect.bottom];
        const high = last ? Math.max(r[3] - r[1], last[3] - last[1]) : 0;
        const moved = last && (r[0] < last[0] - 1 ||
          Math.abs(r[1] + r[3] - last[1] - last[3]) > 1.6 * high);
        if (!word || moved) {
          if (word) word.hyphen = shy;
          word = {text: '', box: r.slice(), glued: Boolean(word), hyphen: false};
          words.push(word);
        }
        word.text += character;
        word.box = [Math.min(word.box[0], r[0]), Math.min(word.box[1], r[1]),
                    Math.max(word.box[2], r[2]), Math.max(word.box[3], r[3])];
        last = r; shy = false;
      }
    const inside = w => clips.every(c => {
      const x = (w.box[0] + w.box[2]) / 2;
      // Tall fonts reach out of their lines: no ink is there.
      const spare = 0.3 * (w.box[3] - w.box[1]);
      return x > c.left && x < c.right &&
        w.box[1] > c.top - spare && w.box[3] < c.bottom + spare;
    });
    const met = w => clips.every(c => w.box[0] < c.right && w.box[2] > c.left &&
      w.box[1] < c.bottom && w.box[3] > c.top);
    const shown = words.filter(inside);
    // Of lines of which only a part is seen nothing is right, and so they are not printed.
    if (shown.length < words.filter(met).length || !shown.length)
      element.style.visibility = words.length ? 'hidden' : 'visible';
    else {
      const {k, t, r} = element.dataset;
      blocks.push({kind: k, table: Number(t ?? -1), row: Number(r ?? -1), words: shown});
    }
  }
  return blocks;
}"""


@dataclass(frozen=True)
class Word:
    """What stands on one line between spaces, or of a word broken at a line's end the part that
    stands there: ``glued`` to the part before it, ``hyphen`` where a hyphen was printed behind it
    that the word does not have. ``block`` is an index; the box is in points."""

    text: str
    box: Box
    block: int
    glued: bool = False
    hyphen: bool = False


@dataclass(frozen=True)
class Block:
    """``kind`` is one of `models.layouts.MARKS`, ``td``, or what is not running text:
    ``furniture`` or the words in a ``figure``. Cells say of which table and row they are."""

    kind: str
    table: int = -1
    row: int = -1


@dataclass(frozen=True)
class Printed:
    """A PDF of one page, ``width`` times ``height`` points, and its words in reading order."""

    pdf: bytes
    width: float
    height: float
    blocks: list[Block]
    words: list[Word]


class Printer:
    """Prints with a browser that is open."""

    def __init__(self, browser: Browser) -> None:
        self._page: Page = browser.new_page(viewport={"width": 1400, "height": 1400})
        self._page.emulate_media(media="print")

    def print(self, html: str, width: float, height: float) -> Printed:
        """``html`` on a page of so many points, on which the element ``.page`` fills the sheet."""
        self._page.set_content(html, wait_until="load")
        found: list[dict[str, Any]] = self._page.evaluate(_WORDS)
        pdf = self._page.pdf(
            width=f"{width / POINTS}px",
            height=f"{height / POINTS}px",
            print_background=True,
            page_ranges="1",
        )
        blocks, words = _read(found)
        return Printed(pdf, width, height, blocks, words)


def _read(found: Sequence[dict[str, Any]]) -> tuple[list[Block], list[Word]]:
    blocks: list[Block] = []
    words: list[Word] = []
    for each in found:
        kind, said = each["kind"], each["words"]
        boxes = [Box(*word["box"]).scaled(POINTS) for word in said]
        order = visual_order(boxes) if kind == "figure" else range(len(said))
        above: Box | None = None
        for n, i in enumerate(order):
            word, box = said[i], boxes[i]
            # What goes on in the next column is a block of its own there, as in drafts.
            back = above is not None and box.y1 < above.y0 and kind != "td"
            if n == 0 or back:
                going_on = kind == "li" and n > 0
                blocks.append(Block("p" if going_on else kind, each["table"], each["row"]))
            words.append(Word(word["text"], box, len(blocks) - 1, word["glued"], word["hyphen"]))
            above = box
    return blocks, words


def chromium() -> str | None:
    """The browser, where it and what drives it are installed."""
    names = ("chromium", "chromium-browser", "google-chrome")
    driven = find_spec("playwright") is not None
    return next(filter(None, map(shutil.which, names)), None) if driven else None


@contextmanager
def printer() -> Iterator[Printer]:
    """A printer, and its browser for as long."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Hinted letters are as wide as the screen's pixels say, and not as the paper's.
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--font-render-hinting=none"]
        )
        try:
            yield Printer(browser)
        finally:
            browser.close()
