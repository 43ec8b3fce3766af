"""Paragraphs and tables that a column or a page cuts in two, shown whole where they begin."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Literal, NamedTuple

from hsd_docparse.document import ASIDE, FLOWING, Page, Region
from hsd_docparse.render.format import FigureLinks, Writer
from hsd_docparse.render.tables import join_tables

MOST_PARTS = 100
"""Parts of one region, at most: what goes on and on is begun anew, so that memory stays flat."""


class Part(NamedTuple):
    """A region, and the number of its page."""

    page: int
    region: Region


@dataclass
class Whole(Region):
    """A region with those that go on from it. ``text`` is that of its first part alone."""

    rest: list[Part] = field(default_factory=list)

    def joined(self) -> Region:
        """As one region, with the text of all parts."""
        from hsd_docparse.draft.joining import join_texts

        texts = [self.text, *(part.region.text for part in self.rest)]
        return replace(self, text=join_tables(texts) if self.kind == "table" else join_texts(texts))


Family = Literal["table", "text"]


class Head(NamedTuple):
    """Where the last region of a family is: it may go on."""

    page: Page
    place: int


def join(page: Page, heads: dict[Family, Head]) -> Page:
    """A copy of ``page`` in which what goes on is part of the region that it goes on from, there
    or on an earlier copy, and leaves a region without text. ``heads`` are kept up to date."""
    copy = replace(page, regions=list(page.regions))
    for place, region in enumerate(page.regions):
        if region.kind not in (*FLOWING, "table"):
            continue
        family: Family = "table" if region.kind == "table" else "text"
        if region.continues and family in heads and _append(heads[family], page.number, region):
            copy.regions[place] = replace(region, text="", lines=[], continues=False)
        else:
            heads[family] = Head(copy, place)
    return copy


def _append(head: Head, page: int, region: Region) -> bool:
    first = head.page.regions[head.place]
    if not isinstance(first, Whole):
        first = Whole(**{each.name: getattr(first, each.name) for each in fields(Region)})
        head.page.regions[head.place] = first
    if len(first.rest) + 1 >= MOST_PARTS:
        return False
    first.rest.append(Part(page, replace(region, lines=[])))
    return True


class JoiningWriter:
    """Hands pages on to ``writer``, joined. Only pages that end with what may go on wait for the
    next one."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._held: list[tuple[Page, FigureLinks]] = []
        self._heads: dict[Family, Head] = {}

    def write(self, page: Page, figures: FigureLinks) -> None:
        self._held.append((join(page, self._heads), figures))
        self._heads = {
            family: head for family, head in self._heads.items() if _may_go_on(family, page)
        }
        open_ = [head.page for head in self._heads.values()]
        while self._held and all(self._held[0][0] is not waiting for waiting in open_):
            self._writer.write(*self._held.pop(0))

    def finish(self) -> None:
        for page, figures in self._held:
            self._writer.write(page, figures)
        self._writer.finish()


def _may_go_on(family: Family, page: Page) -> bool:
    from hsd_docparse.continuation import breaks_off

    body = [r for r in page.regions if r.kind not in ASIDE]
    if family == "table":
        return bool(body) and body[-1].kind == "table"
    running = [region for region in body if region.kind not in ("figure", "caption", "table")]
    return bool(running) and running[-1].kind in FLOWING and breaks_off(running[-1].text)
