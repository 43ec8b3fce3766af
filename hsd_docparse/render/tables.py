"""HTML tables, rebuilt from an allow-list: a model wrote them, so nothing else may pass."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape, unescape
from html.parser import HTMLParser

SECTIONS = frozenset({"thead", "tbody"})
CELLS = frozenset({"td", "th"})
INLINE = {"sub": "sub", "sup": "sup", "b": "b", "strong": "b", "i": "i", "em": "i"}
HIDDEN = frozenset({"script", "style"})
SPANS = frozenset({"rowspan", "colspan"})
LARGEST_SPAN = 1000


def clean_table(markup: str) -> str:
    """``markup`` as one well-formed ``<table>``, a row a line, or ``""`` if it holds no text.

    Kept are rows, cells with their spans, sections, line breaks, bold, italics, sub- and
    superscripts; of everything else only the text. Missing tags are supplied, and a table
    within a cell becomes text of that cell.
    """
    cleaner = _Cleaner()
    cleaner.feed(markup)
    cleaner.close()
    return cleaner.table() if cleaner.has_text else ""


def table_rows(markup: str) -> list[list[str]]:
    """The cells' plain text, row by row; a cell that spans is written once."""
    return [
        [
            unescape(re.sub(r"<[^>]*>", "", cell.replace("<br>", " "))).strip()
            for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)
        ]
        for row in re.findall(r"<tr>(.*?)</tr>", clean_table(markup))
    ]


def join_tables(tables: Sequence[str]) -> str:
    """Tables of the same columns as one, clean; a header that returns is left out."""
    whole: list[str] = []
    for markup in tables:
        rows = re.findall(r"<tr>.*?</tr>", clean_table(markup))
        header = _header(whole)
        whole += rows[len(header) :] if header == rows[: len(header)] else rows
    return "\n".join(["<table>", *whole, "</table>"]) if whole else ""


def _header(rows: Sequence[str]) -> Sequence[str]:
    """The first row, and those that its cells reach down to or are divided in."""
    if not rows:
        return []
    reach = max([1, *map(int, re.findall(r'rowspan="(\d+)"', rows[0]))])
    return rows[: max(reach, 2 if "colspan" in rows[0] else 1)]


class _Cleaner(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.has_text = False
        self._out: list[str] = []
        self._open: list[str] = []
        self._hidden = 0
        self._nested = 0

    def table(self) -> str:
        self._close_to("")
        body = re.sub(r"\s+", " ", "".join(self._out))
        body = re.sub(r" ?(<(?:tr|/?thead|/?tbody)>) ?", r"\n\1", body)
        body = re.sub(r" ?(</?t[dhr]\b[^>]*>) ?", r"\1", body).strip()
        return f"<table>\n{body}\n</table>"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in HIDDEN:
            self._hidden += 1
        elif tag == "table":
            self._nested += bool(self._cell())
        elif self._nested:
            self._out.append(" ")
        elif tag in SECTIONS:
            self._close_to("")
            self._start(tag)
        elif tag == "tr":
            self._close_to(*SECTIONS)
            self._start(tag)
        elif tag in CELLS:
            self._close_to("tr")
            if "tr" not in self._open:
                self._start("tr")
            self._start(tag, _spans(attrs))
        elif tag == "br":
            self._out.append("<br>" if self._cell() else " ")
        elif tag in INLINE and self._cell():
            self._start(INLINE[tag])

    def handle_endtag(self, tag: str) -> None:
        tag = INLINE.get(tag, tag)
        if tag in HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag == "table":
            self._nested = max(0, self._nested - 1)
        elif not self._nested and tag in self._open:
            self._close_to(tag)
            self._out.append(f"</{self._open.pop()}>")

    def handle_data(self, data: str) -> None:
        if self._hidden or not data:
            return
        if data.strip():
            self.has_text = True
            if not self._cell():
                self.handle_starttag("td", [])
        self._out.append(escape(data, quote=False))

    def _cell(self) -> bool:
        return not CELLS.isdisjoint(self._open)

    def _start(self, tag: str, attributes: str = "") -> None:
        self._open.append(tag)
        self._out.append(f"<{tag}{attributes}>")

    def _close_to(self, *tags: str) -> None:
        """Close what is open down to the nearest of ``tags``, which stays open."""
        while self._open and self._open[-1] not in tags:
            self._out.append(f"</{self._open.pop()}>")


def _spans(attrs: list[tuple[str, str | None]]) -> str:
    kept = {}
    for name, value in attrs:
        if name in SPANS and value and value.strip().isdecimal():
            kept[name] = min(int(value.strip()[:9]), LARGEST_SPAN)  # int has a limit of digits
    return "".join(f' {name}="{span}"' for name, span in kept.items() if span > 1)
