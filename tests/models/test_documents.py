"""Printed documents: where their words are, and what is right about the lines found there."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pymupdf
import pytest

import models
from hsd_docparse.document import Box
from hsd_docparse.draft.recognizer import GLYPH
from hsd_docparse.targets.mini.dialect import EOS, H2, REGION, TABLE, TD, TR, Dialect, Hint, P
from models.aligning import align
from models.composing import Stock, compose
from models.documents import make
from models.draft_accuracy import accuracy
from models.fit import excerpt
from models.printed_pages import Pages, SeenPage, written
from models.printing import Block, Printer, Word, chromium, printer
from models.scanning import scan

needs_chromium = pytest.mark.skipif(
    chromium() is None, reason="there is no Chromium with playwright on this machine"
)
DIALECT = Dialect.load(Path(models.__file__).parent / "docparse-mini")


def row(y: float, x: float = 0, width: float = 100) -> Box:
    return Box(x, y, x + width, y + 10)


def words_at(block: int, box: Box, *texts: str, hyphen: bool = False) -> list[Word]:
    """One after the other in ``box``; the last one broken there if ``hyphen``."""
    each = box.width / len(texts)
    boxes = [
        Box(box.x0 + i * each, box.y0, box.x0 + (i + 1) * each, box.y1) for i in range(len(texts))
    ]
    words = [Word(text, place, block) for text, place in zip(texts, boxes, strict=True)]
    if hyphen:
        words[-1] = Word(words[-1].text, words[-1].box, block, hyphen=True)
    return words


def test_lines_get_the_words_that_stand_in_them_in_the_order_of_the_text() -> None:
    # Two columns: the lines are seen row by row, and the right one is read last.
    boxes = [row(0), row(0, 200), row(20), row(20, 200), row(60)]
    blocks = [Block("h2"), Block("p"), Block("p"), Block("furniture")]
    words = [
        *words_at(0, boxes[0], "A", "heading"),
        *words_at(1, boxes[2], "a", "bro", hyphen=True),
        Word("ken", row(0, 200, 40), 1, glued=True),
        Word("word", row(0, 250, 40), 1),
        *words_at(2, boxes[3], "the", "end"),
        *words_at(3, boxes[4], "Page", "1"),
    ]
    readings = ["A heading", "ken word", "a bro-", "the end", "Page 1"]
    truths = align(words, blocks, boxes, readings)
    assert [truth.rank for truth in truths] == [0, 2, 1, 3, -1]
    assert [truth.mark for truth in truths] == [H2, 0, P, P, 0]
    assert (truths[2].text, truths[2].hyphen, truths[1].glued) == ("a bro-", True, True)
    assert all(truth.clear for truth in truths)


def test_cells_open_the_table_its_rows_and_themselves() -> None:
    boxes = [row(0), row(0, 200), row(20), row(20, 200)]
    blocks = [Block("td", 1, r) for r in (0, 0, 1, 1)]
    words = [word for n, box in enumerate(boxes) for word in words_at(n, box, f"cell{n}")]
    truths = align(words, blocks, boxes, [word.text for word in words])
    assert [truth.mark for truth in truths] == [TABLE, TD, TR, TD]


def test_what_the_eye_cannot_read_is_not_clear() -> None:
    words = words_at(0, row(0), "quite", "legible")
    assert align(words, [Block("p")], [row(0)], ["quite legib1e"])[0].clear
    assert not align(words, [Block("p")], [row(0)], ["qui"])[0].clear


def seen_page(**changes: list[int]) -> SeenPage:
    """Two regions: a heading, and a paragraph of two lines with a broken word."""
    texts = ["Title", "a bro-", "ken one"]
    lines = [
        {
            "box": list(row(20 * n)), "read": text, "sure": [1.0] * len(text), "glyphs": len(text),
            "first": sum(map(len, texts[:n])), "hint": [[H2, P, Hint.GOES_ON][n], n], "rank": n,
            "mark": [H2, P, 0][n], "opening": [H2, P, P][n], "text": text, "hyphen": n == 1,
            "glued": n == 2, "clear": n != 2,
        }
        for n, text in enumerate(texts)
    ]  # fmt: skip
    for name, values in changes.items():
        for line, value in zip(lines, values, strict=True):
            line[name] = value
    glyphs = np.zeros((sum(map(len, texts)), GLYPH), np.float16)
    return SeenPage("scan", "report", 200, 300, lines, [[0], [1, 2]], [0, 1], glyphs)


def test_a_page_says_its_lines_without_the_hyphens_of_line_ends() -> None:
    whole = seen_page().whole(DIALECT)
    lines = DIALECT.read(whole.tokens[1:])
    said = [(line.line, line.mark, DIALECT.decode(line.tokens), line.glued) for line in lines]
    assert said == [(0, H2, "Title", False), (1, P, "a bro", False), (2, 0, "ken one", True)]
    # The text that cannot be read is not learned, what says where it stands is.
    unread = len(lines[2].tokens)
    assert whole.tokens[-1] == EOS
    assert list(whole.kept) == [
        *range(len(whole.tokens) - 1 - unread),
        len(whole.tokens) - 1,
    ]


def test_an_excerpt_leaves_out_what_cannot_be_read() -> None:
    whole = seen_page().whole(DIALECT)
    assert set(excerpt(whole, DIALECT)) <= set(whole.kept)


def test_a_region_says_its_own_lines_and_opens_with_a_mark() -> None:
    page = seen_page()
    sample = page.region(1, DIALECT)
    assert sample.tokens[0] == REGION
    assert sample.sight.hints.tolist() == [[P, 0], [Hint.GOES_ON, 1]]
    ((last, _),) = written(page.lines[2:], DIALECT)
    assert (last.mark, last.glued) == (P, False)
    ((first, _),) = written(page.lines[1:2], DIALECT)
    assert DIALECT.decode(first.tokens) == "a bro-"


def test_the_drafts_marks_and_order_are_counted() -> None:
    right = accuracy([seen_page()])
    assert (right["mark"], right["goes on"], right["order"]) == ((2, 2), (1, 1), (3, 3))
    wrong = accuracy([seen_page(rank=[0, 2, 1], mark=[P, P, 0])])
    assert (wrong["mark"], wrong["goes on"], wrong["order"]) == ((1, 2), (1, 1), (1, 3))


def test_words_are_where_a_scan_shows_them() -> None:
    document = pymupdf.open()
    place = Box(300, 500, 360, 520)
    document.new_page().draw_rect(pymupdf.Rect(place), fill=(0, 0, 0))
    for seed in range(8):
        scanned = scan(document.tobytes(), random.Random(seed))
        (box,) = scanned.moved([place])
        x, y = map(round, box.center)
        dark = scanned.pixels[..., 0] < np.median(scanned.pixels) * 0.6
        assert dark[y - 5 : y + 5, x - 20 : x + 20].mean() > 0.95
        assert not dark[round(box.y1) + 20 :].mean() > 0.01


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    prose = "Several considerations of international importance were neglected this year. " * 3
    blocks = [("p", prose), ("h1", "Annual report"), ("h2", "Results"), ("h3", "Methods"),
              ("li", "an item of a list"), ("cell", "Item"), ("fn", "A note"),
              ("code", "print(1)\nprint(2)")]  # fmt: skip
    rows = [json.dumps({"kind": kind, "text": text, "held": False}) for kind, text in blocks]
    path.write_text("\n".join(rows), "utf-8")
    return path


@needs_chromium
def test_pages_are_made_once_and_drawn_as_samples(corpus: Path, tmp_path: Path) -> None:
    make(corpus, tmp_path, 2)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    make(corpus, tmp_path, 2)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
    pages = Pages(tmp_path)
    assert len(pages.pages) + pages.dropped.total() == 2
    drawn = pages.draw(DIALECT, random.Random(0))
    assert drawn.tokens[-1] == EOS
    assert len(drawn.sight.readings) == len(drawn.sight.hints)


@pytest.fixture(scope="module")
def press() -> Iterator[Printer]:
    with printer() as press:
        yield press


@needs_chromium
def test_printed_words_are_where_the_browser_says(press: Printer, corpus: Path) -> None:
    stock = Stock(corpus, held=False)
    for seed in range(6):
        composed = compose(stock, random.Random(seed), held=False)
        printed = press.print(composed.html, composed.width, composed.height)
        with pymupdf.open("pdf", printed.pdf) as document:
            assert len(document) == 1
            found = [Box(*word[:4]) for word in document[0].get_text("words")]
        assert len(printed.words) > 20
        centres = [word.box.center for word in printed.words]
        there = [any(b.x0 - 1 < x < b.x1 + 1 and b.y0 - 1 < y < b.y1 + 1 for b in found)
                 for x, y in centres]  # fmt: skip
        # MuPDF has no right boxes for a few glyphs of fonts that are drawings.
        assert sum(there) > 0.98 * len(there)


@needs_chromium
def test_a_word_broken_at_a_lines_end_is_two_parts(press: Printer) -> None:
    html = (
        '<body style="margin:0"><div class=page style="width:60px;font:16px monospace">'
        "<p data-k=p>an ex\u00adtraordinary well-founded</p></div>"
    )
    words = press.print(html, 200, 200).words
    assert [(word.text, word.glued, word.hyphen) for word in words] == [
        ("an", False, False), ("ex", False, True), ("traordinary", True, False),
        ("well-", False, False), ("founded", True, False),
    ]  # fmt: skip


@needs_chromium
def test_what_is_cut_off_in_part_is_not_printed(press: Printer) -> None:
    html = (
        '<body style="margin:0"><div class=page style="width:200px;height:200px;font:16px serif">'
        '<div class=clip style="height:50px;overflow:hidden">'
        "<p data-k=h1 style='margin:0;line-height:.9'>tall letters</p>"
        "<p data-k=p style='margin:12px 0 0'>shown</p><p data-k=p style='margin:0'>halved</p></div>"
    )
    printed = press.print(html, 200, 200)
    assert [word.text for word in printed.words] == ["tall", "letters", "shown"]
    with pymupdf.open("pdf", printed.pdf) as document:
        assert document[0].get_text().split() == ["tall", "letters", "shown"]
