"""Small documents of our own making for the renderers' tests."""

from __future__ import annotations

from hsd_docparse.document import Box, Document, Kind, Page, Region

BOX = Box(10, 20, 200, 40)


def region(kind: Kind, text: str = "", level: int = 0) -> Region:
    return Region(kind, BOX, text, level)


def page(*regions: Region, number: int = 1) -> Page:
    return Page(number, 612, 792, list(regions))


def document(*pages: Page) -> Document:
    return Document("folder/report.pdf", len(pages), list(pages))
