"""A source, a draft and a target of a few lines, to test what runs them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from hsd_docparse.document import Box, Page, Region, Speculation
from hsd_docparse.errors import InputError, PageError
from hsd_docparse.sources import DamagedPage
from hsd_docparse.sources.page_ranges import select_pages
from hsd_docparse.worker import read


class FakePage:
    """A page of 100 x 50 units; ``word`` says what is on it, or what goes wrong with it."""

    native_dpi = None
    turn = 0.0

    def __init__(self, number: int, word: str) -> None:
        self.number = number
        self.word = word
        self.width, self.height = 100.0, 50.0
        self.warnings = ["odd font"] if word == "odd" else []
        self.rendered = 0

    def render(self, dpi: float) -> Image.Image:
        self.rendered += 1
        image = Image.new("RGB", (int(100 * dpi / 72), int(50 * dpi / 72)), "white")
        image.info["rendered"] = self.rendered
        return image

    def text_layer(self) -> None:
        return None


class FakeSource:
    """A text file with a word a page."""

    def __init__(self, path: str | Path, *, password: str | None = None, pages: Any = None) -> None:
        if not Path(path).exists():
            raise InputError(f"{path} does not exist.")
        words = Path(path).read_text().split()
        if not words:
            raise InputError(f"{path} is empty.")
        self.page_count = len(words)
        self.metadata = {"title": "A title"}
        self.selected = select_pages(pages, self.page_count)
        self._pages = {n: FakePage(n, word) for n, word in enumerate(words, 1)}

    def pages(self) -> Iterator[FakePage | DamagedPage]:
        for number in self.selected:
            page = self._pages[number]
            damaged = DamagedPage(number, "it is damaged.")
            yield damaged if page.word == "damaged" else page

    def __enter__(self) -> FakeSource:
        return self

    def __exit__(self, *exc: object) -> None: ...


def fake_draft(page: Any, *, dpi: float = 150) -> Page:
    word = page._page.word
    page.render(dpi)
    if word == "refused":
        raise PageError(f"Page {page.number} is refused.")
    if word == "bug":
        raise ZeroDivisionError("by nothing")
    if word == "interrupt":
        raise KeyboardInterrupt
    kind: Any = "figure" if word == "figure" else "text"
    return Page(page.number, page.width, page.height, [Region(kind, Box(10, 10, 60, 40), word)])


class FakeTarget:
    name = "fake"


def fake_verify(
    target: FakeTarget, shown: Sequence[tuple[Image.Image, Page]], **_: Any
) -> list[Page]:
    pages = [page for _, page in shown]
    for page in pages:
        for region in page.regions:
            region.text = region.text.upper()
            region.provenance = "corrected"
        page.speculation = Speculation(target.name, "lossless", True, 10, 8, 9, 1, 2)
    return pages


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Puts the fakes in the place of the real parts."""
    import hsd_docparse.convert
    import hsd_docparse.draft
    import hsd_docparse.isolation
    import hsd_docparse.sharing
    import hsd_docparse.sources
    import hsd_docparse.targets

    hsd_docparse.convert.kept_target.cache_clear()
    # Fakes do not reach a process of its own.
    monkeypatch.setattr(hsd_docparse.isolation, "read_isolated", lambda job, deadline: read(job))
    monkeypatch.setattr(hsd_docparse.sources, "open_source", FakeSource)
    monkeypatch.setattr(hsd_docparse.draft, "draft_page", fake_draft, raising=False)
    monkeypatch.setattr(
        hsd_docparse.draft,
        "draw_layout",
        lambda image, page: image.crop((0, 0, 9, 9)),
        raising=False,
    )
    monkeypatch.setattr(hsd_docparse.sharing, "verify_pages", fake_verify)
    monkeypatch.setattr(hsd_docparse.targets, "open_target", lambda name: FakeTarget())
    yield
    hsd_docparse.convert.kept_target.cache_clear()
