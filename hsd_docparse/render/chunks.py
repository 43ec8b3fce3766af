"""JSON lines for retrieval: pieces of Markdown of about one length, each with the headings that it
stands under and its places on the pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TextIO

from hsd_docparse.document import Document, Page
from hsd_docparse.render.blocks import Numbered, one_line, running_text
from hsd_docparse.render.format import FigureLinks
from hsd_docparse.render.joining import JoiningWriter, Part, Whole
from hsd_docparse.render.markdown import block
from hsd_docparse.render.tables import clean_table

TARGET = 1000
"""Characters from which a chunk takes no further block."""
LONGEST = 1500
"""Characters from which a block is cut: a table between its rows, text between sentences."""
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|(?<=[。！？；])|\n+")
_HEADINGS = ("title", "heading")


@dataclass
class _Piece:
    """A block, or a part of one that is too long, and the regions that it is made of."""

    text: str
    parts: Sequence[Part]

    @property
    def is_heading(self) -> bool:
        return self.parts[0].region.kind in _HEADINGS


class ChunkWriter:
    """Writes a line a chunk. Chunks go on over the ends of pages, and end before headings."""

    def __init__(self, stream: TextIO, document: Document) -> None:
        self._stream = stream
        self._source = document.source
        self._headings: list[tuple[int, str]] = []
        self._pieces: list[_Piece] = []
        self._count = 0

    def write(self, page: Page, figures: FigureLinks) -> None:
        for group in running_text(page, figures):
            for piece in _pieces(group, page.number, figures):
                self._add(piece)

    def finish(self) -> None:
        if self._pieces:
            self._write()

    def _add(self, piece: _Piece) -> None:
        size = sum(len(own.text) + 2 for own in self._pieces)
        full = size + len(piece.text) > TARGET and not self._only_headings()
        if self._pieces and (full or (piece.is_heading and not self._only_headings())):
            self._write()
        if piece.is_heading:
            ((_, region),) = piece.parts
            self._headings = [own for own in self._headings if own[0] < region.level]
            self._headings.append((region.level, one_line(region.text)))
        self._pieces.append(piece)

    def _only_headings(self) -> bool:
        return all(piece.is_heading for piece in self._pieces)

    def _write(self) -> None:
        parts = [part for piece in self._pieces for part in piece.parts]
        boxes = [{"page": page, "box": [round(x, 1) for x in r.box]} for page, r in parts]
        chunk: dict[str, Any] = {
            "index": self._count,
            "source": self._source,
            "headings": [text for _, text in self._headings],
            "text": "\n\n".join(piece.text for piece in self._pieces),
            "pages": list(dict.fromkeys(page for page, _ in parts)),
            "kinds": list(dict.fromkeys(region.kind for _, region in parts)),
            "boxes": boxes,
        }
        self._stream.write(json.dumps(chunk, ensure_ascii=False) + "\n")
        self._count += 1
        self._pieces = []


def _pieces(group: list[Numbered], page: int, figures: FigureLinks) -> Iterator[_Piece]:
    text = block(group, figures)
    parts = _parts(group, page)
    region = group[0].region
    kind = region.kind
    if not text:
        return
    if len(text) <= LONGEST or kind in (*_HEADINGS, "formula", "figure"):
        yield _Piece(text, parts)
    elif len(group) > 1:
        yield from _lists(group, page, figures)
    elif kind == "table":
        yield from (_Piece(part, parts) for part in _tables(region.text))
    elif kind == "code":
        fence, *lines, end = text.split("\n")
        for packed in _packed(lines, "\n"):
            yield _Piece(f"{fence}\n{packed}\n{end}", parts)
    else:
        sentences = filter(None, _SENTENCE_END.split(text))
        yield from (_Piece(part, parts) for part in _packed(list(sentences), " "))


def _parts(group: list[Numbered], page: int) -> list[Part]:
    parts = []
    for _, region in group:
        parts.append(Part(page, region))
        if isinstance(region, Whole):
            parts += region.rest
    return parts


def _lists(group: list[Numbered], page: int, figures: FigureLinks) -> Iterator[_Piece]:
    """A long list in parts, cut between items."""
    part: list[Numbered] = []
    for item in group:
        if part and len(block([*part, item], figures)) > TARGET:
            yield _Piece(block(part, figures), _parts(part, page))
            part = []
        part.append(item)
    yield _Piece(block(part, figures), _parts(part, page))


def _tables(markup: str) -> Iterator[str]:
    """A long table in parts, each with its first row; rows that share a cell stay together."""
    rows = [row for row in clean_table(markup).split("\n") if row.startswith("<tr")]
    groups: list[str] = []
    reach = 0
    for number, row in enumerate(rows):
        if number < reach:
            groups[-1] += f"\n{row}"
        else:
            groups.append(row)
        spans = [int(span) for span in re.findall(r'rowspan="(\d+)"', row)]
        reach = max(reach, number + max(spans, default=1))
    header, *body = groups
    for part in _packed(body, "\n", len(header)):
        yield f"<table>\n{header}\n{part}\n</table>"
    if not body:
        yield f"<table>\n{header}\n</table>"


def _packed(parts: list[str], between: str, taken: int = 0) -> Iterator[str]:
    """Neighbouring ``parts`` together, up to `TARGET` characters less those that are ``taken``."""
    packed = ""
    for part in parts:
        if packed and taken + len(packed) + len(part) > TARGET:
            yield packed
            packed = ""
        packed = f"{packed}{between}{part}" if packed else part
    if packed:
        yield packed


@dataclass(frozen=True)
class ChunkFormat:
    binary: ClassVar[bool] = False
    embeds: ClassVar[bool] = False

    suffix: str = ".chunks.jsonl"

    def writer(
        self, stream: TextIO, document: Document, *, password: str | None = None
    ) -> JoiningWriter:
        return JoiningWriter(ChunkWriter(stream, document))


CHUNKS = ChunkFormat()
