"""Pages for docparse-mini: which lines it sees, how a draft is written in its dialect, and
how its output becomes regions again."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hsd_docparse.document import FURNITURE, Box, Kind, Line, Page, Region
from hsd_docparse.draft.joining import join_texts
from hsd_docparse.draft.line_breaks import kept_breaks
from hsd_docparse.draft.orientation import UPRIGHT
from hsd_docparse.draft.paragraphs import bounds
from hsd_docparse.draft.recognizer import Reading, shared_recognizer
from hsd_docparse.draft.tables import Cell, to_html
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
    Hint,
    P,
)  # fmt: skip
from hsd_docparse.targets.mini.vision import Sight, anchored, geometry, no_hints, visual_order

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

SPELLING = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011", "-"),
        **dict.fromkeys("\u00a0\u2009\u202f", " "),
        "\u2217": "*",
    }
)
"""Characters of text layers that the eye has no symbol for, as it reads them."""


@dataclass
class PageLines:
    """The lines of a page in visual order, whichever region the draft gave them to.

    ``of_region`` holds the lines of every region in the order of the draft, ``owner`` the
    region of every line, ``drafts`` every region in the target's dialect.
    """

    page: Page
    lines: list[Line]
    boxes: list[Box]
    readings: list[Reading]
    owner: list[int]
    of_region: list[list[int]]
    drafts: list[list[DialectLine]] = field(default_factory=list)

    @classmethod
    def look(
        cls, image: Image.Image, page: Page, dialect: Dialect, covered: Sequence[bool]
    ) -> PageLines:
        """Cut every line of the ``covered`` regions out of the page's picture and read it."""
        seen = [i for i, known in enumerate(covered) if known]
        found = [(line, i) for i in seen for line in page.regions[i].lines]
        order = visual_order([line.box for line, _ in found])
        lines = [found[i][0] for i in order]
        owner = [found[i][1] for i in order]
        place = {i: rank for rank, i in enumerate(order)}
        of_region: list[list[int]] = [[] for _ in page.regions]
        for i, (_, region) in enumerate(found):
            of_region[region].append(place[i])
        pixels = np.asarray(image.convert("RGB"))
        scale = image.width / page.width
        crops = [cut(pixels, line, scale) for line in lines]
        readings = [
            anchored(reading, line.text.translate(SPELLING), line.probabilities)
            for reading, line in zip(shared_recognizer().read(crops), lines, strict=True)
        ]
        self = cls(page, lines, [line.box for line in lines], readings, owner, of_region)
        self.drafts = [write_region(self, region, dialect) for region in range(len(page.regions))]
        return self

    def sight(self, rows: Sequence[int], frame: Box | None = None) -> Sight:
        """What the model sees of the lines ``rows``, in ``frame`` or the box around them."""
        boxes = [self.boxes[i] for i in rows]
        frame = frame or bounds([self.lines[i] for i in rows])
        hints = self.hints[list(rows)]
        # Ranks count within what is seen.
        hints[:, 1] = np.searchsorted(np.sort(hints[:, 1]), hints[:, 1])
        return Sight([self.readings[i] for i in rows], geometry(boxes, frame), hints)

    @cached_property
    def hints(self) -> NDArray[np.int64]:
        """What the draft says of every line (see `vision.Sight`), furniture ranked last."""
        hints = no_hints(len(self.lines))
        rank = 0
        for region in [*self.readable, *self.aside]:
            outside = self.page.regions[region].kind in FURNITURE
            for line in self.drafts[region]:
                hints[line.line] = Hint.FURNITURE if outside else line.mark or Hint.GOES_ON, rank
                rank += 1
        return hints

    @cached_property
    def readable(self) -> list[int]:
        """Regions that have lines and belong to the running text, in the draft's order."""
        return [
            i
            for i, region in enumerate(self.page.regions)
            if region.kind not in FURNITURE and self.of_region[i]
        ]

    def said(self, line: DialectLine, dialect: Dialect) -> Line:
        """The line that an output says; it knows its formulas where its words are the draft's."""
        own = self.lines[line.line]
        drafted = ((each.line, each.tokens) for each in self.drafts[self.owner[line.line]])
        same = (line.line, line.tokens) in drafted
        return replace(own, text=dialect.decode(line.tokens), latex=own.latex if same else None)

    @cached_property
    def formulas(self) -> dict[int, str]:
        """What the draft writes of each line that holds formulas."""
        written: dict[int, str] = {}
        for rows in self.of_region:
            own = [self.lines[row] for row in rows]
            texts = [line.text if line.latex is None else line.latex for line in own]
            for row, text, following in zip(rows, texts, [*texts[1:], ""], strict=False):
                if self.lines[row].latex is not None:
                    written[row] = seam(text, following)[0]
        return written

    @cached_property
    def behind_formulas(self) -> frozenset[int]:
        """The first lines of regions that follow, in the draft's order, a formula of which no line
        is seen."""
        flow = [i for i, region in enumerate(self.page.regions) if region.kind not in FURNITURE]
        return frozenset(
            self.drafts[region][0].line
            for before, region in pairwise(flow)
            if self.page.regions[before].kind == "formula" and not self.of_region[before]
            if self.drafts[region]
        )

    @cached_property
    def aside(self) -> list[int]:
        """The other regions: furniture, and those of which no line is seen."""
        readable = set(self.readable)
        return [i for i in range(len(self.page.regions)) if i not in readable]


def cut(pixels: np.ndarray, line: Line, scale: float) -> np.ndarray:
    """``line`` on its page's picture, of so many pixels a unit, level, with a little paper around
    it: above and below, the boxes of a detector have some, those of glyphs none."""
    height, width = pixels.shape[:2]
    box = line.box.scaled(scale)
    runs_up = len(line.text) > 1 and box.height > UPRIGHT * box.width
    thickness = box.width if runs_up else box.height
    along, across = 0.16 * thickness, (0 if line.source == "ocr" else 0.08) * thickness
    beside, above = (across, along) if runs_up else (along, across)
    x0, y0 = max(0, int(box.x0 - beside)), max(0, int(box.y0 - above))
    x1, y1 = min(width, int(box.x1 + beside) + 1), min(height, int(box.y1 + above) + 1)
    if x1 - x0 < 2 or y1 - y0 < 2:
        return np.full((8, 8, 3), 255, np.uint8)
    shown = pixels[y0:y1, x0:x1]
    return np.rot90(shown) if runs_up else shown  # read lying down


def write_region(lines: PageLines, region: int, dialect: Dialect) -> list[DialectLine]:
    """A region's draft in the target's dialect; its pointers are those of the page."""
    block = lines.page.regions[region]
    rows = lines.of_region[region]
    if block.kind == "table":
        return list(_write_table(lines, block, rows, dialect))
    mark = MARKS.get(block.kind, P)
    if block.kind == "heading":
        mark = H2 if block.level <= 2 else H3
    texts = [lines.lines[row].text for row in rows]
    written = []
    glued = False
    for rank, row in enumerate(rows):
        text, glue = seam(texts[rank], texts[rank + 1] if rank + 1 < len(rows) else "")
        tokens = _spelled(text, dialect)
        written.append(DialectLine(row, 0 if rank else mark, tokens, glued))
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
    lines: PageLines, block: Region, rows: Sequence[int], dialect: Dialect
) -> Iterator[DialectLine]:
    """Cells of the draft's HTML, each with the unused lines whose text it holds."""
    unused = list(rows)
    mark = TABLE
    for row in re.findall(r"<tr\b.*?</tr>", block.text, re.S):
        for cell in re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row, re.S):
            text = _letters(html.unescape(re.sub(r"<[^>]*>", " ", cell)))
            for line in list(unused):
                own = _letters(lines.lines[line].text)
                if own and own in text:
                    text = text.replace(own, "", 1)
                    unused.remove(line)
                    yield DialectLine(line, mark, _spelled(lines.lines[line].text, dialect))
                    mark = 0
            mark = mark or TD
        mark = TABLE if mark == TABLE else TR
    for line in unused:
        yield DialectLine(line, mark, _spelled(lines.lines[line].text, dialect))
        mark = TR


def _spelled(text: str, dialect: Dialect) -> list[int]:
    return dialect.encode(text.translate(SPELLING))


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
    regions = [(lines.owner[block[0].line], _region(lines, block, dialect)) for block in blocks]
    pointed = {line.line for line in output}
    for i in lines.aside:
        if any(line in pointed for line in lines.of_region[i]):
            continue
        # After the last region that comes from an earlier one of the draft.
        earlier = [at for at, (owner, _) in enumerate(regions) if owner < i]
        regions.insert(earlier[-1] + 1 if earlier else 0, (i, lines.page.regions[i]))
    return [region for _, region in regions]


def _region(lines: PageLines, block: Sequence[DialectLine], dialect: Dialect) -> Region:
    (owner, *others) = {lines.owner[line.line] for line in block}
    draft = lines.page.regions[owner]
    drafted = [] if others else lines.drafts[owner]
    if drafted == block:
        return replace(draft, provenance="accepted")
    shown = [lines.said(line, dialect) for line in block]
    kind, level = KINDS.get(block[0].mark or P, ("table", 0))
    if kind != "table":
        text = ""
        kept = kept_breaks(shown) if kind == "text" else [kind == "code"] * len(shown)
        for broken, line, read in zip([False, *kept], block, shown, strict=False):
            own = read.text if read.latex is None else lines.formulas[line.line]
            between = "" if line.glued or not (text and own) else "\n" if broken else " "
            text += between + own
    elif [(d.line, d.mark) for d in drafted] == [(b.line, b.mark) for b in block]:
        text = _refill(draft.text, _cells(block, shown))
    else:
        text = to_html(grid(_cells(block, shown)))
    confidence = min(lines.page.regions[i].confidence for i in (owner, *others))
    return Region(kind, bounds(shown), text.strip(), level, shown, confidence, "corrected")


def _refill(table: str, cells: Sequence[Cell]) -> str:
    """The draft's HTML with other words in its cells that hold something."""
    texts = iter([html.escape(cell.text, quote=False) for cell in cells if cell.text])

    def fill(match: re.Match[str]) -> str:
        start, held, end = match.groups()
        return f"{start}{next(texts, held) if _letters(held) else held}{end}"

    return re.sub(r"(<t[dh]\b[^>]*>)(.*?)(</t[dh]>)", fill, table, flags=re.S)


def _cells(block: Sequence[DialectLine], shown: Sequence[Line]) -> list[Cell]:
    """The cells of a table, all in the first column: the model says rows alone."""
    cells: list[Cell] = []
    row = -1
    for line, read in zip(block, shown, strict=True):
        # A table may begin with any cell: its opening mark is the model's to forget.
        row += line.mark in (TABLE, TR) or not cells
        if line.mark:
            cells.append(Cell(row, 0, read.box, text=read.text))
        else:
            cells[-1].text += " " + read.text
            cells[-1].box = cells[-1].box.union(read.box)
    return cells


def grid(cells: Sequence[Cell]) -> list[Cell]:
    """Cells of which the rows are known, in columns by their place, and empty ones between.

    Narrow cells make the columns; what lies over several of them spans them.
    """
    columns: list[tuple[float, float]] = []
    for cell in sorted(cells, key=lambda cell: cell.box.width):
        x0, x1 = cell.box.x0, cell.box.x1
        met = [i for i, column in enumerate(columns) if _covers(cell.box, column)]
        if not met:
            columns.append((x0, x1))
        elif len(met) == 1:
            columns[met[0]] = (min(x0, columns[met[0]][0]), max(x1, columns[met[0]][1]))
    columns.sort()
    placed: dict[tuple[int, int], Cell] = {}
    for cell in cells:
        met = [i for i, column in enumerate(columns) if _covers(cell.box, column)]
        cell.column, cell.column_span = met[0], met[-1] - met[0] + 1
        taken = next((placed[slot] for slot in sorted(cell.slots()) if slot in placed), None)
        if taken is None:
            placed |= dict.fromkeys(cell.slots(), cell)
        else:
            taken.text += " " + cell.text
    rows = range(1 + max(cell.row for cell in cells))
    every = {(r, c) for r in rows for c in range(len(columns))}
    empty = [Cell(r, c, Box(0, 0, 0, 0)) for r, c in every - placed.keys()]
    return [*{id(cell): cell for cell in placed.values()}.values(), *empty]


def _covers(box: Box, column: tuple[float, float]) -> bool:
    """Whether a cell stands in a column: shares half the width of the narrower of the two."""
    shared = min(box.x1, column[1]) - max(box.x0, column[0])
    return shared > 0.5 * min(box.width, column[1] - column[0])
