"""Document > Page > Region > Line: what every stage reads and every renderer writes.

Coordinates are *page units*: PDF points for a PDF, pixels for an image, measured from
the top left corner of the page as a reader sees it (rotation already applied).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Kind = Literal[
    "title",
    "heading",
    "text",
    "list_item",
    "table",
    "figure",
    "caption",
    "formula",
    "code",
    "footnote",
    "note",
    "header",
    "footer",
    "page_number",
]
"""What a region is. ``title`` is a heading of level 1; a ``note`` is what a reader of the file
attached to it, and is not part of the page's own text."""

FURNITURE: frozenset[Kind] = frozenset({"header", "footer", "page_number"})
"""Kinds that repeat from page to page; they are kept in JSON and left out of running text."""
FLOWING: frozenset[Kind] = frozenset({"text", "list_item"})
"""Kinds of running text, which may go on in the next column or on the next page."""
ASIDE: frozenset[Kind] = FURNITURE | {"footnote", "note"}
"""Kinds that stand beside the running text, which goes on behind them."""

Source = Literal["text_layer", "ocr"]
Provenance = Literal["draft", "accepted", "corrected"]
"""``draft``: no target read it. ``accepted``: the target agreed with the draft, token for
token. ``corrected``: the target changed it."""


class Box(NamedTuple):
    """Axis-aligned rectangle in page units, ``x0 <= x1`` and ``y0 <= y1``, y pointing down."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def area(self) -> float:
        return max(0.0, self.width) * max(0.0, self.height)

    @property
    def center(self) -> tuple[float, float]:
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2

    def scaled(self, factor: float) -> Box:
        return Box(self.x0 * factor, self.y0 * factor, self.x1 * factor, self.y1 * factor)

    def moved(self, right: float, down: float) -> Box:
        return Box(self.x0 + right, self.y0 + down, self.x1 + right, self.y1 + down)

    def expanded(self, margin: float) -> Box:
        return Box(self.x0 - margin, self.y0 - margin, self.x1 + margin, self.y1 + margin)

    def union(self, other: Box) -> Box:
        return Box(
            min(self.x0, other.x0),
            min(self.y0, other.y0),
            max(self.x1, other.x1),
            max(self.y1, other.y1),
        )

    def overlap(self, other: Box) -> float:
        """Area shared with ``other``."""
        width = min(self.x1, other.x1) - max(self.x0, other.x0)
        if width <= 0:
            return 0.0
        height = min(self.y1, other.y1) - max(self.y0, other.y0)
        return width * max(0.0, height)


@dataclass
class Line:
    """One line of text as the page shows it.

    ``probabilities`` holds one number in 0..1 for each character of ``text`` where the
    reader knows it (OCR); it is empty where it does not (text layer). ``size`` is the font
    size in page units, 0 where unknown; ``bold`` and ``mono`` (fixed pitch) hold for most of
    the line. ``latex`` is the text with LaTeX between dollars for formulas within it, and None
    where none is known: a formula that goes on in the next line stands whole where it begins.
    """

    text: str
    box: Box
    probabilities: list[float] = field(default_factory=list)
    source: Source = "text_layer"
    size: float = 0.0
    bold: bool = False
    mono: bool = False
    latex: str | None = None


@dataclass
class Region:
    """A block of the page: one paragraph, heading, list item, table, figure...

    ``text`` is plain text with lines already joined, and with LaTeX between dollars for formulas
    within it that are known; for a table it is an HTML ``<table>``, for a formula LaTeX where
    known. ``level`` is 1..6 for headings and titles, the nesting depth (from 1) for list items, and
    0 otherwise. ``lines`` are in reading order. ``confidence`` is the share of their words, 0..1,
    that is expected to be right.

    ``continues``: the region is the rest of one before it, cut by the end of a column or of a
    page. A table goes on from the last table before it, text from the last paragraph or list item.
    """

    kind: Kind
    box: Box
    text: str = ""
    level: int = 0
    lines: list[Line] = field(default_factory=list)
    confidence: float = 1.0
    provenance: Provenance = "draft"
    continues: bool = False


@dataclass
class Speculation:
    """How a page was read by the target: what speculation proposed and what came of it.

    ``accepted`` counts draft tokens that the target agreed with, ``proposed`` those it was
    asked about; ``tokens`` is what the target emitted in the page pass. A target call is
    one forward pass, whatever the number of rows in it. ``committed`` are the tokens that each
    call of the page pass gave, in order. ``seconds`` may have ``see`` (vision encoder and prefill),
    ``regions``, ``page``, and ``fastest_call`` of the page pass, which plain decoding would need
    at least for every token. ``changed`` counts tokens that are the draft's where the target would
    have gone on with another: none in mode ``lossless``.
    """

    target: str
    mode: str
    lossless: bool
    tokens: int = 0
    accepted: int = 0
    proposed: int = 0
    region_calls: int = 0
    page_calls: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    committed: list[int] = field(default_factory=list)
    changed: int = 0


@dataclass
class Page:
    """One page. ``regions`` are in reading order.

    ``rotation`` is by how many degrees, clockwise, the page as its file shows it was turned to be
    read: sizes and boxes are those of the turned page.
    A page that could not be read has ``error`` set to one sentence and is still part of
    its document; ``warnings`` say what a reader should know (text layer ignored, region
    fell back to its draft, script that no dictionary covers).
    ``confidence`` is the share of the words of all regions, 0..1, that is expected to be right.
    """

    number: int
    width: float
    height: float
    regions: list[Region] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    error: str | None = None
    speculation: Speculation | None = None
    rotation: float = 0.0
    confidence: float = 1.0

    def to_markdown(self) -> str:
        """GitHub-flavoured Markdown, with tables as HTML."""
        from hsd_docparse.render.markdown import MARKDOWN

        return MARKDOWN.page(self, {})

    def to_html(self) -> str:
        """A ``<section>`` to put into a page of your own."""
        from hsd_docparse.render.html import HTML

        return HTML.page(self, {})

    def to_dict(self) -> dict[str, Any]:
        """The page's part of the JSON format: strings, numbers, lists and dictionaries."""
        from hsd_docparse.render.json import to_dict

        return to_dict(self)


@dataclass
class Document:
    """A converted file: its pages, in order, and how they were obtained."""

    source: str
    page_count: int
    pages: list[Page] = field(default_factory=list)
    mode: str = "draft"
    target: str = "none"
    metadata: dict[str, str] = field(default_factory=dict)

    def to_markdown(self) -> str:
        """GitHub-flavoured Markdown, with tables as HTML and a comment before each page."""
        from hsd_docparse.render import render

        return render(self, "md")

    def to_html(self) -> str:
        """One self-contained HTML5 page."""
        from hsd_docparse.render import render

        return render(self, "html")

    def to_dict(self) -> dict[str, Any]:
        """What the JSON format says: strings, numbers, lists and dictionaries."""
        from hsd_docparse.render.json import to_dict

        return to_dict(self)
