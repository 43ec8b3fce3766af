"""Invented pages: rendered blocks placed in columns, with tables, lists and furniture around.

A sample is what docparse-mini would be given for such a page (line boxes in visual order and
their glyphs) and what it should write (see `hsd_docparse.targets.mini.dialect`).
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsd_docparse.document import Box
from hsd_docparse.draft.recognizer import Reading
from hsd_docparse.targets.mini.dialect import (
    CAP,
    CODE,
    EOS,
    FN,
    H1,
    H2,
    H3,
    LI,
    PAGE,
    REGION,
    TABLE,
    TD,
    TR,
    Dialect,
    DialectLine,
    Hint,
    P,
)  # fmt: skip
from hsd_docparse.targets.mini.vision import Sight, anchored, geometry, no_hints, visual_order

MARKS = {"h1": H1, "h2": H2, "h3": H3, "p": P, "li": LI, "cap": CAP, "code": CODE, "fn": FN}
DROPPED_GLYPHS = 0.01
SHAPES = [(595, 842), (595, 842), (612, 792), (612, 792), (842, 595), (720, 540), (320, 700)]
NO_HINTS = 0.1
"""Share of the samples of which no layout pipeline says anything."""
WRONG = [0.0, 0.03, 0.1, 0.25]
"""Shares of blocks that it has wrong, one share a page."""
STATED = 0.4
"""Share of the samples whose file states its characters; the others were read by the eye."""
STRANGE = [
    range(0x370, 0x400), range(0x2190, 0x2300), range(0x25A0, 0x2700), range(0xF020, 0xF100),
    range(0xFFFD, 0xFFFE),
]  # fmt: skip
"""Ranges of characters that fonts of files have and the eye may not know."""
LOST = 0.75
"""A block is not used if the recogniser found less than this share of a line's characters: what
cannot be seen would teach the model to invent."""


@dataclass
class Block:
    kind: str
    lines: list[dict[str, Any]]
    glyphs: NDArray[np.float16]

    @property
    def width(self) -> float:
        """Of the longest line, in ems."""
        return max(0.5, *(line["width"] for line in self.lines))


class Pool:
    """Rendered blocks of some shards, by kind."""

    def __init__(self, shards: list[Path]) -> None:
        self.blocks: dict[str, list[Block]] = {}
        for path in shards:
            glyphs = np.load(path.with_suffix(".npy"), mmap_mode="r")
            for block in json.loads(path.read_text("utf-8")):
                lines = [line for line in block["lines"] if line["target"].strip()]
                if lines and all(_seen(line) for line in lines):
                    self.blocks.setdefault(block["kind"], []).append(
                        Block(block["kind"], lines, glyphs)
                    )

    def draw(self, rng: random.Random, kind: str, widest: float = 1e9) -> Block:
        """A block of this kind; a paragraph where the pool is too small to have one."""
        for _ in range(8):
            block = rng.choice(self.blocks.get(kind) or self.blocks["p"])
            if block.width <= widest:
                break
        return block


def _seen(line: dict[str, Any]) -> bool:
    return bool(line["glyphs"] >= LOST * len(line["target"]) - 1)


@dataclass
class Placed:
    """A line on the page: its box, whose line it is, and what the output says of it."""

    line: dict[str, Any]
    block: Block
    box: Box
    mark: int = 0
    glued: bool = False


@dataclass
class Composer:
    """Fills one page. ``script`` is the right output: placed lines in reading order."""

    pool: Pool
    rng: random.Random
    script: list[Placed] = field(default_factory=list)
    furniture: list[Placed] = field(default_factory=list)

    def page(self, most: int) -> None:
        """Compose a page of at most about ``most`` lines."""
        rng = self.rng
        self.width, self.height = rng.choice(SHAPES)
        large = self.height == 540 and rng.random() < 0.6
        self.em = rng.uniform(16, 30) if large else rng.uniform(7, 13)
        self.leading = rng.uniform(1.05, 1.7)
        self.tall = rng.uniform(0.9, 1.4)
        sizes = sorted((rng.uniform(1.0, 1.9) for _ in range(3)), reverse=True)
        self.factors = {"h1": sizes[0] + 0.3, "h2": sizes[1] + 0.1, "h3": sizes[2],
                        "fn": 0.8, "cap": 0.9, "code": 0.9}  # fmt: skip
        self.broken = rng.choice([0, 0, 0.03, 0.1])
        self.scrambled = rng.choice([0, 0, 0.1, 0.3])
        margin = self.width * rng.uniform(0.05, 0.15)
        top, bottom = self.height * rng.uniform(0.04, 0.12), self.height * rng.uniform(0.88, 0.96)
        columns = 1 if self.width < 400 or large else rng.choices([1, 2, 3], [0.5, 0.4, 0.1])[0]
        self.left = most
        if rng.random() < 0.45:
            self.band(margin, top * 0.5)
        if rng.random() < 0.5:
            self.band(margin, bottom + (self.height - bottom) * 0.45)
        y = top
        inner = self.width - 2 * margin
        if rng.random() < 0.5:
            y = self.title(margin, y, inner)
        while y < bottom - 3 * self.em and self.left > 0:
            if columns == 1 or rng.random() < 0.15:
                end = bottom if columns == 1 else min(bottom, y + self.em * rng.uniform(6, 20))
                y = self.column(margin, y, inner, end)
                if columns == 1:
                    break
            else:
                end = min(bottom, y + (bottom - y) * rng.choice([1, 1, 1, 0.5]))
                gutter = self.em * rng.uniform(1.0, 3.0)
                each = (inner - gutter * (columns - 1)) / columns
                ends = [
                    self.column(margin + i * (each + gutter), y, each, end) for i in range(columns)
                ]
                y = max(ends) + self.em

    def band(self, x: float, y: float) -> None:
        """A running header or footer: seen, and not written."""
        for _ in range(self.rng.choice([1, 1, 2])):
            block = self.pool.draw(self.rng, "furniture", 30)
            em = self.em * self.rng.uniform(0.7, 1.0)
            at = self.rng.choice(
                [x, self.width / 2 - block.width * em / 2, self.width - x - block.width * em]
            )
            box = self.box(at, y, block.lines[0], em)
            if not any(box.overlap(other.box) for other in self.furniture):
                self.furniture.append(Placed(block.lines[0], block, box))

    def title(self, x: float, y: float, width: float) -> float:
        y = self.block("h1", x, y, width, centred=self.rng.random() < 0.5)
        if self.rng.random() < 0.5:
            y = self.stacks(x, y + self.em * 0.5, width)
        return y + self.em

    def stacks(self, x: float, y: float, width: float) -> float:
        """One to three groups of short lines side by side: addresses, authors."""
        rng = self.rng
        count = rng.choice([1, 1, 2, 3])
        share = width / count if count > 1 else width * rng.uniform(0.4, 1)
        if count == 1 and rng.random() < 0.3:
            x += width - share
        align = rng.choice([0, 0, 0.5, 1])
        end = y
        for i in range(count):
            at, mark = y, P
            for _ in range(rng.randint(2, 6)):
                block = self.pool.draw(rng, "cell", share / self.em)
                em = min(self.em, share * 0.95 / block.width)
                slack = share - block.lines[0]["width"] * em
                self.put(block.lines[0], block, x + i * share + slack * align, at, em, mark)
                at, mark = at + em * self.leading, 0
            end = max(end, at)
        return end

    def column(self, x: float, y: float, width: float, end: float) -> float:
        rng = self.rng
        while y < end - self.em * 2 and self.left > 0:
            kind = rng.choices(
                ["p", "h2", "h3", "li", "table", "figure", "code", "fn", "cell", "pairs",
                 "formula", "stacks"],
                [10, 1.6, 1.6, 1.5, 1.3, 0.7, 0.6, 0.4, 0.5, 0.6, 0.8, 0.3],
            )[0]  # fmt: skip
            if kind == "li":
                for _ in range(rng.randint(1, 5)):
                    y = self.block("li", x, y, width, end=end)
            elif kind == "table":
                y = self.table(x, y, width, end)
            elif kind == "pairs":
                y = self.pairs(x, y, width, end)
            elif kind == "formula":
                y = self.formula(x, y, width, end)
            elif kind == "stacks":
                y = self.stacks(x, y, width) if y < end - 9 * self.em else y
            elif kind == "figure":
                y = min(end, y + rng.uniform(4, 16) * self.em)
                y = self.block("cap", x, y, width, end=end, centred=rng.random() < 0.5)
            else:
                y = self.block(kind, x, y, width, end=end)
            y += self.em * rng.choice([0.1, 0.4, 0.7, 1.0])
        return y

    def block(
        self, kind: str, x: float, y: float, width: float, end: float = 1e9, centred: bool = False
    ) -> float:
        """Place one block and return the y below it; a block that does not fit is cut."""
        rng = self.rng
        em = self.em * self.factors.get(kind, 1.0)
        words = rng.choice(["h1", "h2", "h3", "cell"]) if kind in ("h1", "h2", "h3") else kind
        block = self.pool.draw(rng, words, width / em * 1.02)
        em = min(em, width / block.width)
        # Justified text fills its column, except for the last line.
        fill = kind == "p" and rng.random() < 0.5
        indent = em * rng.uniform(0.8, 2) if kind == "p" and rng.random() < 0.25 else 0.0
        hang = em * rng.uniform(0.8, 1.6) if kind == "li" and rng.random() < 0.7 else 0.0
        mark = MARKS.get(kind, P)
        glued = False
        full = block.width * em
        for i, line in enumerate(block.lines):
            if y + em > end or self.left <= 0:
                break
            shift = (indent if i == 0 else hang) if len(block.lines) > 1 else 0.0
            at = x + min(shift, max(0.0, width - line["width"] * em))
            if centred:
                at = x + (width - line["width"] * em) / 2
            pieces = _pieces(line, rng) if rng.random() < self.broken else [line]
            if rng.random() < self.scrambled:
                pieces = [_scrambled(piece, rng) for piece in pieces]
            for piece in pieces:
                placed = self.put(piece, block, at, y, em, mark, glued)
                at += piece["width"] * em + 0.3 * em
                mark, glued = 0, False
            if fill and i + 1 < len(block.lines) and len(pieces) == 1:
                box = placed.box
                placed.box = box._replace(x1=max(box.x0 + em, x + full))
            glued = line["glued"]
            y += em * self.leading
        return y

    def formula(self, x: float, y: float, width: float, end: float) -> float:
        """A displayed formula as text layers have it: scattered pieces, some raised or lowered."""
        rng = self.rng
        if y + 3 * self.em > end:
            return y
        at = x + width * rng.uniform(0, 0.3)
        middle = y + self.em * rng.uniform(0.5, 1.5)
        pieces: list[tuple[dict[str, Any], Block, Box]] = []
        for _ in range(rng.randint(1, 12)):
            block = self.pool.draw(rng, "cell", rng.choice([1.5, 3, 6, 12]))
            line, em = block.lines[0], self.em * rng.choice([1, 1, 0.7])
            if at + line["width"] * em > x + width:
                break
            shift = rng.choice([0, 0, 0, -0.5, 0.5, -0.9, 0.9]) * self.em
            pieces.append((line, block, self.box(at, middle + shift, line, em)))
            at += line["width"] * em + self.em * rng.uniform(-0.1, 0.8)
        mark = P
        for rank in visual_order([box for *_, box in pieces]):
            line, block, box = pieces[rank]
            self.script.append(Placed(line, block, box, mark))
            self.left -= 1
            mark = 0
        return middle + 2.2 * self.em

    def pairs(self, x: float, y: float, width: float, end: float) -> float:
        """Label on the left, value on the right, one visual line: receipts and forms. Whether
        that is a table is a matter of taste, and the layout pipeline's is followed."""
        table = self.rng.random() < 0.5
        gap = self.rng.uniform(0.3, 0.9) * width
        for row in range(self.rng.randint(1, 14)):
            if y + self.em > end or self.left <= 1:
                break
            label, value = (self.pool.draw(self.rng, "cell", width * 0.3 / self.em) for _ in "lv")
            em = min(self.em, gap * 0.95 / label.width, (width - gap) / value.width + self.em * 0.2)
            left, right = (TR if row else TABLE, TD) if table else (P, 0)
            for block, at, mark in ((label, x, left), (value, x + gap, right)):
                self.put(block.lines[0], block, at, y, em, mark)
            y += self.em * self.leading
        return y

    def table(self, x: float, y: float, width: float, end: float) -> float:
        rng = self.rng
        if rng.random() < 0.4:
            y = self.block("cap", x, y, width, end=end)
        long = rng.random() < 0.25
        columns = rng.randint(2, 12 if long and width > 350 else 7 if width > 350 else 4)
        shares = [rng.uniform(0.6, 1.6) for _ in range(columns)]
        shares[0] *= rng.uniform(1.0, 2.5)
        edges = [x + width * sum(shares[:i]) / sum(shares) for i in range(columns + 1)]
        align = [rng.choice([0, 0, 0.5, 1]) for _ in range(columns)]
        em = self.em * rng.uniform(0.7, 1.0)
        empty = rng.choice([0, 0, 0.1, 0.25])
        first = True
        if rng.random() < 0.25 and columns > 2 and y + 3 * em < end:
            # A row of headings, each over several columns.
            column, mark = rng.randint(0, 1), TABLE
            while column < columns:
                last = min(columns, column + rng.randint(1, 3))
                y0, mark = self.cell(y, edges[column], edges[last], em, 0.5, mark), TD
                column = last
            y, first = y0 + em * 0.3, False
        for _ in range(rng.randint(9, 35) if long else rng.randint(2, 9)):
            if y + em > end or self.left < columns:
                break
            bottom = y
            mark = TABLE if first else TR
            for column in range(columns):
                if rng.random() < empty and not (first and column == 0):
                    continue
                below = self.cell(y, edges[column], edges[column + 1], em, align[column], mark)
                bottom, mark = max(bottom, below), TD
            first = False
            y = bottom + em * (self.leading - 1 + rng.uniform(0.1, 0.4))
        return y

    def cell(self, y: float, x0: float, x1: float, em: float, align: float, mark: int) -> float:
        room = (x1 - x0) * 0.94
        block = self.pool.draw(self.rng, "cell", room / em)
        size = min(em, room / block.width)
        for line in block.lines[:3]:
            self.put(line, block, x0 + (room - line["width"] * size) * align, y, size, mark)
            y, mark = y + size * 1.15, 0
        return y

    def put(
        self, line: dict[str, Any], block: Block, x: float, y: float, em: float, mark: int = 0,
        glued: bool = False,
    ) -> Placed:  # fmt: skip
        placed = Placed(line, block, self.box(x, y, line, em), mark, glued)
        self.script.append(placed)
        self.left -= 1
        return placed

    def box(self, x: float, y: float, line: dict[str, Any], em: float) -> Box:
        """The line's box with the sloppiness of real ones."""
        jitter = self.rng.gauss
        high = em * self.tall * max(0.8, min(1.25, jitter(1, 0.04)))
        wide = line["width"] * em
        left, top = x + jitter(0, 0.05) * em, y + jitter(0, 0.04) * em
        return Box(left, top, x + wide + jitter(0, 0.08) * em, top + high)


def _pieces(line: dict[str, Any], rng: random.Random) -> list[dict[str, Any]]:
    """A line in two, cut at a space, where its reading is right; as text layers have lines with
    a wide gap or a change of font."""
    spaces = [i for i, c in enumerate(line["target"]) if c == " "]
    if line["read"] != line["target"] or not spaces:
        return [line]
    cut = rng.choice(spaces)
    share = cut / len(line["target"])
    left, right = dict(line), dict(line)
    left |= {"target": line["target"][:cut], "read": line["read"][:cut], "glyphs": cut,
             "sure": line["sure"][:cut], "width": line["width"] * share}  # fmt: skip
    right |= {"target": line["target"][cut + 1 :], "read": line["read"][cut + 1 :],
              "glyphs": line["glyphs"] - cut - 1, "first": line["first"] + cut + 1,
              "sure": line["sure"][cut + 1 :], "width": line["width"] * (1 - share)}  # fmt: skip
    return [left, right]


def _scrambled(line: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A line of which some words have their letters in another order, where its reading is
    right: words that no text has taught, so that they have to be read."""
    if line["read"] != line["target"]:
        return line
    order: list[int] = []
    start = 0
    for word in line["target"].split(" "):
        letters = list(range(start, start + len(word)))
        if rng.random() < 0.4:
            rng.shuffle(letters)
        order += letters
        start += len(word) + 1
        order.append(start - 1)
    order = order[:-1]
    text = "".join(line["target"][i] for i in order)
    return line | {"target": text, "order": order}


@dataclass
class Sample:
    """What the model sees, and what it should write, prompt and end included.

    ``kept`` holds the places of the tokens that training looks at, all of them at first.
    """

    sight: Sight
    tokens: list[int]
    kept: Sequence[int] = ()

    def __post_init__(self) -> None:
        self.kept = self.kept or range(len(self.tokens))


def sample(pool: Pool, dialect: Dialect, rng: random.Random, lines: int) -> Sample:
    """A page of up to ``lines`` lines, or (about a third of the time) a region of one."""
    composer = Composer(pool, rng)
    while not composer.script:
        composer.page(lines)
    script = composer.script
    prompt = PAGE
    if rng.random() < 0.35:
        prompt = REGION
        script = _one_region(script, rng)
        composer.furniture = []
    shown = script + composer.furniture
    if rng.random() < STATED:
        for item in shown:
            item.line = _stated(item.line, rng)
    boxes = [item.box for item in shown]
    order = visual_order(boxes)
    frame = Box(0, 0, composer.width, composer.height)
    if prompt == REGION:
        frame = boxes[0]
        for box in boxes:
            frame = frame.union(box)
    place = {id(shown[i]): rank for rank, i in enumerate(order)}
    readings = [_reading(shown[i], rng) for i in order]
    hints = no_hints(len(shown))
    if rng.random() >= NO_HINTS:
        for rank, (hint, item) in enumerate(guess(script, composer.furniture, rng)):
            hints[place[id(item)]] = hint, rank
    sight = Sight(readings, geometry([boxes[i] for i in order], frame), hints)
    written = []
    for index, item in enumerate(script):
        text = item.line["target"]
        following = script[index + 1] if index + 1 < len(script) else None
        if following and following.glued and text.endswith("-"):
            text = text[:-1]
        line = DialectLine(place[id(item)], item.mark, dialect.encode(text), item.glued)
        written.append(line)
    return Sample(sight, [prompt, *dialect.write(written), EOS])


def guess(
    script: Sequence[Placed], furniture: Sequence[Placed], rng: random.Random
) -> list[tuple[int, Placed]]:
    """What a layout pipeline might say of a page: its lines in the order in which it would read
    them, each with a hint (`hsd_docparse.targets.mini.vision.Sight`); more or less wrong."""
    wrong = rng.choice(WRONG)
    blocks: list[list[tuple[int, Placed]]] = []
    for item in script:
        if not blocks or item.mark not in (0, TR, TD):
            blocks.append([])
        blocks[-1].append((item.mark or Hint.GOES_ON, item))
    for at, block in enumerate(blocks):
        if rng.random() < wrong:
            blocks[at] = _mistaken(block, rng, first=at == 0)
    outside = [(Hint.FURNITURE, item) for item in furniture]
    for at, (_, item) in enumerate(outside):
        if rng.random() < wrong:
            outside[at] = (P, item)
    if blocks and rng.random() < wrong / 2:
        at = rng.choice([0, -1])
        blocks[at] = [(Hint.FURNITURE, item) for _, item in blocks[at]]
    taken = [[each] for each in outside if each[0] == P]
    blocks = rng.choice([taken + blocks, blocks + taken])
    confused = rng.random()
    if confused < 0.03:
        rng.shuffle(blocks)
    elif confused < 0.1:
        blocks.sort(key=lambda block: block[0][1].box.y0)
    elif confused < 0.25 and len(blocks) > 1:
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(blocks) - 1)
            blocks[at : at + 2] = reversed(blocks[at : at + 2])
    lines = [each for block in blocks for each in block] + [o for o in outside if o[0] != P]
    return sorted(lines, key=lambda each: each[0] == Hint.FURNITURE)


def _mistaken(
    block: list[tuple[int, Placed]], rng: random.Random, first: bool
) -> list[tuple[int, Placed]]:
    """A block of the wrong kind, in pieces, or run into the one before."""
    hints, items = [hint for hint, _ in block], [item for _, item in block]
    how = rng.choice(["kind", "kind", "split", "merge"])
    if hints[0] == TABLE:
        hints = [P] * len(hints) if how == "split" else [P] + [Hint.GOES_ON] * (len(hints) - 1)
    elif how == "kind":
        hints[0] = rng.choice([P, P, H2, H2, H3, H3, LI, CAP, FN, CODE, TABLE])
        if hints[0] == TABLE:
            hints[1:] = [TR] * (len(hints) - 1)
    elif how == "split" and len(hints) > 1:
        hints[rng.randrange(1, len(hints))] = P
    elif how == "merge" and not first:
        hints[0] = Hint.GOES_ON
    return list(zip(hints, items, strict=True))


def _one_region(script: list[Placed], rng: random.Random) -> list[Placed]:
    starts = [i for i, item in enumerate(script) if item.mark and item.mark not in (TR, TD)]
    first = rng.randrange(len(starts))
    last = min(len(starts), first + rng.choice([1, 1, 1, 2]))
    end = starts[last] if last < len(starts) else len(script)
    return script[starts[first] : end]


def _stated(line: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A line of which the file states the characters, now and then such as no text has taught."""
    text, how = line["target"], rng.random()
    if how < 0.1:
        letters = sorted(set(text) - {" "})
        for old in rng.sample(letters, min(len(letters), 3)):
            text = text.replace(old, _strange(rng))
    elif how < 0.15:
        text = f"{rng.choice([_strange(rng), '☐', '•'])} {text}"
    elif how < 0.18:
        text += rng.choice([" ", ""]) + rng.choice("._-*") * rng.randint(3, 40)
    return line | {"target": text, "stated": True}


def _strange(rng: random.Random) -> str:
    return chr(rng.choice(rng.choice(STRANGE)))


def _reading(placed: Placed, rng: random.Random) -> Reading:
    """The reading of a line, now and then with a glyph lost."""
    if placed.line.get("stated"):
        seen = reading_of(placed.line, placed.block.glyphs, range(placed.line["glyphs"]))
        return anchored(seen, placed.line["target"], [])
    dropped = DROPPED_GLYPHS * (rng.random() < 0.3)
    order = placed.line.get("order") or range(placed.line["glyphs"])
    kept = [i for i in order if rng.random() >= dropped]
    return reading_of(placed.line, placed.block.glyphs, kept)


def reading_of(line: dict[str, Any], glyphs: NDArray[np.float16], kept: Sequence[int]) -> Reading:
    """The stored reading of a line, of which ``kept`` characters remain."""
    first = line["first"]
    own = glyphs[first : first + line["glyphs"]][list(kept)].astype(np.float32)
    return Reading("".join(line["read"][i] for i in kept), [line["sure"][i] for i in kept], own)
