"""The structure of a tagged PDF: which content is a heading, a list item, a cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hsd_docparse.document import FURNITURE, Kind, Region
from hsd_docparse.render.blocks import latex
from hsd_docparse.render.tables import table_rows

if TYPE_CHECKING:
    import pikepdf

_TAGS: dict[Kind, str] = {
    "list_item": "LBody",
    "figure": "Figure",
    "caption": "Caption",
    "formula": "Formula",
    "code": "Code",
    "footnote": "Note",
}


class Text(NamedTuple):
    """Words that belong together. ``path``: the tags around it within its region, each with a
    number that tells it from its sisters; empty for what repeats on every page."""

    words: str
    path: tuple[tuple[str, int], ...]


def texts(region: Region) -> list[Text]:
    """What ``region`` says, in reading order."""
    if region.kind in FURNITURE:
        return [Text(region.text, ())]
    if region.kind == "note":
        return []  # it is an annotation of the page as before
    if region.kind == "table":
        return [
            Text(cell, (("Table", 0), ("TR", y), ("TD", x)))
            for y, row in enumerate(table_rows(region.text))
            for x, cell in enumerate(row)
        ]
    if region.kind in ("title", "heading"):
        return [Text(region.text, ((f"H{min(max(region.level, 1), 6)}", 0),))]
    words = latex(region.text) if region.kind == "formula" else region.text
    tag = _TAGS.get(region.kind, "P")
    return [Text(words, (("LI", 0), (tag, 0)) if tag == "LBody" else ((tag, 0),))]


class Structure:
    """The structure tree of ``pdf`` while its pages are written."""

    def __init__(self, pdf: pikepdf.Pdf) -> None:
        from pikepdf import Array, Dictionary, Name

        self._pdf = pdf
        self._root = pdf.make_indirect(Dictionary(Type=Name.StructTreeRoot))
        self._document = self._element("Document", self._root)
        self._root.K = Array([self._document])
        self._pages: list[tuple[pikepdf.Page, pikepdf.Object]] = []

    def add_page(
        self, page: pikepdf.Page, regions: Sequence[Sequence[tuple[tuple[str, int], ...]]]
    ) -> None:
        """Elements for a page whose regions hold texts with these paths, one marked content each:
        they are numbered in this order."""
        from pikepdf import Array, Dictionary, Name

        owners = Array()
        numbers = iter(range(sum(map(len, regions))))
        items: pikepdf.Object | None = None
        for paths in regions:
            opened: dict[tuple[tuple[str, int], ...], pikepdf.Object] = {}
            for path in paths:
                number = next(numbers)
                if path[0][0] == "LI":
                    if items is None:
                        items = self._child("L", self._document)
                    parent = items
                else:
                    parent, items = self._document, None
                for depth in range(1, len(path) + 1):
                    if path[:depth] not in opened:
                        opened[path[:depth]] = self._child(path[depth - 1][0], parent)
                    parent = opened[path[:depth]]
                parent.K.append(Dictionary(Type=Name.MCR, Pg=page.obj, MCID=number))
                owners.append(parent)
        self._pages.append((page, self._pdf.make_indirect(owners)))

    def finish(self) -> None:
        """Make it the structure of the document."""
        from pikepdf import Array, Dictionary

        numbers = Array()
        for number, (page, owners) in enumerate(self._pages):
            page.obj.StructParents = number
            numbers.append(number)
            numbers.append(owners)
        self._root.ParentTree = Dictionary(Nums=numbers)
        self._root.ParentTreeNextKey = len(self._pages)
        self._pdf.Root.StructTreeRoot = self._root
        self._pdf.Root.MarkInfo = Dictionary(Marked=True)

    def _child(self, tag: str, parent: pikepdf.Object) -> pikepdf.Object:
        element = self._element(tag, parent)
        parent.K.append(element)
        return element

    def _element(self, tag: str, parent: pikepdf.Object) -> pikepdf.Object:
        from pikepdf import Array, Dictionary, Name

        return self._pdf.make_indirect(
            Dictionary(Type=Name.StructElem, S=Name(f"/{tag}"), P=parent, K=Array())
        )
