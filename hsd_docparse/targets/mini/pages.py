"""Pages for docparse-mini: which lines it sees, how a draft is written in its dialect, and
how its output becomes regions again."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hsd_docparse.document import FURNITURE, Box, Kind, Line, Page, Region
from hsd_docparse.draft.joining import join_texts
from hsd_docparse.draft.recognizer import Reading, shared_recognizer
from hsd_docparse.targets.mini.dialect import (
    CAP,
    CELLS,
    CODE,
    FN,
    H1,
    H2,
    H3,
    LI,
    TABLE,
    TD,
    TR,
    Dialect,
    DialectLine,
    P,
)  # fmt: skip
from hsd_docparse.targets.mini.vision import visual_order

if TYPE_CHECKING:
    from PIL import Image

MARKS: dict[Kind, int] = {
    "title": H1, "text": P, "list_item": LI, "caption": CAP, "code": CODE, "footnote": FN,
    "formula": P, "figure": P,
}  # fmt: skip
KINDS: dict[int, tuple[Kind, int]] = {
    P: ("text", 0), H1: ("title", 1), H2: ("heading", 2), H3: ("heading", 3),
    LI: ("list_item", 1), CAP: ("caption", 0), CODE: ("code", 0), FN: ("footnote", 0),
    TABLE: ("table", 0),
}  # fmt: skip


@dataclass
class PageLines:
    """The lines of a page in visual order, whichever region the draft gave them to.

    ``of_region`` holds the lines of every region in the order of the draft, ``owner`` the
    region of every line.
    """

    page: Page
    lines: list[Line]
    boxes: list[Box]
    readings: list[Reading]
    owner: list[int]
    of_region: list[list[int]]

    @classmethod
    def look(cls, image: Image.Image, page: Page) -> PageLines:
        """Cut every line out of the page's picture and read it."""
        found = [(line, region) for region, r in enumerate(page.regions) for line in r.lines]
        order = visual_order([line.box for line, _ in found])
        lines = [found[i][0] for i in order]
        owner = [found[i][1] for i in order]
        place = {i: rank for rank, i in enumerate(order)}
        of_region: list[list[int]] = [[] for _ in page.regions]
        for i, (_, region) in enumerate(found):
            of_region[region].append(place[i])
        pixels = np.asarray(image.convert("RGB"))
        scale = image.width / page.width
        crops = [cut(pixels, line.box.scaled(scale)) for line in lines]
        readings = shared_recognizer().read(crops)
        return cls(page, lines, [line.box for line in lines], readings, owner, of_region)

    @property
    def readable(self) -> list[int]:
        """Regions that have lines and belong to the running text, in the draft's order."""
        return [
            i
            for i, region in enumerate(self.page.regions)
            if region.kind not in FURNITURE and self.of_region[i]
        ]


def cut(pixels: np.ndarray, box: Box) -> np.ndarray:
    """The part of a picture inside ``box`` (pixels), a little more than the line itself."""
    height, width = pixels.shape[:2]
    margin = 0.08 * box.height
    x0, y0 = max(0, int(box.x0 - 2 * margin)), max(0, int(box.y0 - margin))
    x1, y1 = min(width, int(box.x1 + 2 * margin) + 1), min(height, int(box.y1 + margin) + 1)
    if x1 - x0 < 2 or y1 - y0 < 2:
        return np.full((8, 8, 3), 255, np.uint8)
    line = pixels[y0:y1, x0:x1]
    # Text that runs up the page is read lying down.
    return np.rot90(line) if line.shape[0] > 1.5 * line.shape[1] else line


def write_region(
    lines: PageLines, region: int, place: dict[int, int], dialect: Dialect
) -> list[DialectLine]:
    """A region's draft; ``place`` says which pointer each of its lines has."""
    block = lines.page.regions[region]
    rows = lines.of_region[region]
    if block.kind == "table":
        return list(_write_table(lines, block, rows, place, dialect))
    mark = MARKS.get(block.kind, P)
    if block.kind == "heading":
        mark = H2 if block.level <= 2 else H3
    texts = [lines.lines[row].text for row in rows]
    written = []
    glued = False
    for rank, row in enumerate(rows):
        text, glue = seam(texts[rank], texts[rank + 1] if rank + 1 < len(rows) else "")
        written.append(DialectLine(place[row], 0 if rank else mark, dialect.encode(text), glued))
        glued = glue
    return written


def seam(text: str, following: str) -> tuple[str, bool]:
    """What of ``text`` is written before the line ``following``, and whether that is glued on:
    without a space, and without a hyphen that is the line end's alone."""
    joined = join_texts([text, following])
    if following and joined == text[:-1] + following:
        return text[:-1], True
    return text, bool(following) and joined == text + following


def _write_table(
    lines: PageLines, block: Region, rows: Sequence[int], place: dict[int, int], dialect: Dialect
) -> Iterator[DialectLine]:
    """Cells of the draft's HTML, each with the unused lines whose text it holds."""
    unused = list(rows)
    first = True
    for row in re.findall(r"<tr\b.*?</tr>", block.text, re.S):
        for column, cell in enumerate(re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row, re.S)):
            mark = TD if column else (TABLE if first else TR)
            first = False
            text = _letters(html.unescape(re.sub(r"<[^>]*>", " ", cell)))
            held = []
            for line in list(unused):
                own = _letters(lines.lines[line].text)
                if own and own in text:
                    text = text.replace(own, "", 1)
                    held.append(line)
                    unused.remove(line)
            if not held:
                yield DialectLine(-1, mark, [])
            for rank, line in enumerate(held):
                tokens = dialect.encode(lines.lines[line].text)
                yield DialectLine(place[line], 0 if rank else mark, tokens)
    for line in unused:
        mark, first = (TABLE if first else TR), False
        yield DialectLine(place[line], mark, dialect.encode(lines.lines[line].text))


def _letters(text: str) -> str:
    return re.sub(r"\s", "", text)


def read_page(lines: PageLines, output: Sequence[DialectLine], dialect: Dialect) -> list[Region]:
    """Regions that the output says, in its order; figures and furniture, of which the model
    does not speak, stay where the draft had them."""
    blocks: list[list[DialectLine]] = []
    for line in output:
        if (
            not blocks
            or (line.mark and line.mark not in (TR, TD))
            or (line.mark in CELLS and blocks[-1][0].mark != TABLE)
        ):
            blocks.append([])
        blocks[-1].append(line)
    regions: list[tuple[int, Region]] = []
    for block in blocks:
        region = _region(lines, block, dialect)
        if region.lines:
            regions.append((lines.owner[_first(block)], region))
    silent = [
        i
        for i, region in enumerate(lines.page.regions)
        if region.kind in FURNITURE or not region.lines
    ]
    pointed = {line.line for line in output}
    for i in silent:
        if any(line in pointed for line in lines.of_region[i]):
            continue
        # After the last region that comes from an earlier one of the draft.
        earlier = [at for at, (owner, _) in enumerate(regions) if owner < i]
        regions.insert(earlier[-1] + 1 if earlier else 0, (i, lines.page.regions[i]))
    return [region for _, region in regions]


def _first(block: Sequence[DialectLine]) -> int:
    return next(line.line for line in block if line.line >= 0)


def _region(lines: PageLines, block: Sequence[DialectLine], dialect: Dialect) -> Region:
    texts = [dialect.decode(line.tokens) for line in block]
    shown = [
        replace(lines.lines[line.line], text=text)
        for line, text in zip(block, texts, strict=True)
        if 0 <= line.line < len(lines.lines)
    ]
    mark = block[0].mark or P
    kind, level = KINDS.get(mark, ("table", 0))
    if kind == "table":
        text = _table(block, texts)
    else:
        text = texts[0]
        for line, piece in zip(block[1:], texts[1:], strict=True):
            text += piece if line.glued else f"\n{piece}" if kind == "code" else f" {piece}"
    box = shown[0].box if shown else Box(0, 0, 0, 0)
    for read in shown:
        box = box.union(read.box)
    owners = {lines.owner[line.line] for line in block if 0 <= line.line < len(lines.lines)}
    confidence, accepted = 1.0, False
    if owners:
        drafts = [lines.page.regions[i] for i in owners]
        confidence = min(region.confidence for region in drafts)
        accepted = len(drafts) == 1 and _letters(drafts[0].text) == _letters(text)
        if accepted and kind == "heading":
            level = drafts[0].level if drafts[0].kind == "heading" else level
    return Region(
        kind, box, text.strip(), level, shown, confidence, "accepted" if accepted else "corrected"
    )


def _table(block: Sequence[DialectLine], texts: Sequence[str]) -> str:
    rows: list[list[str]] = []
    for line, text in zip(block, texts, strict=True):
        if line.mark in (TABLE, TR) or not rows:
            rows.append([text])
        elif line.mark == TD:
            rows[-1].append(text)
        else:
            rows[-1][-1] += " " + text
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell.strip())}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table>{body}</table>"
