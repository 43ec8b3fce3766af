"""One target for the conversions of several threads: pages that wait are read in one batch.

While a batch is being read, the next pages are drafted and come to wait, so that batches grow with
the load and nobody waits for a batch to fill (group commit). Each page gets what it would get
alone: rows of a batch never influence each other, but for rounding where two tokens are as good as
equally probable.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from hsd_docparse.document import Page
from hsd_docparse.hsd import StageChoice, verify_pages
from hsd_docparse.targets import PAGES, DocumentTarget

if TYPE_CHECKING:
    from PIL import Image

    from hsd_docparse.convert import Mode


@dataclass(eq=False)
class _Waiting:
    """A page that a thread waits for; ``verified`` once it has been read."""

    image: Image.Image
    page: Page
    mode: Mode
    verified: Page | None = None


class SharedTarget:
    """Reads pages for any number of threads, and learns from page to page which stages pay."""

    def __init__(self, target: DocumentTarget) -> None:
        self.target = target
        self._choice = StageChoice()
        self._waiting: list[_Waiting] = []
        self._turn = Lock()

    @property
    def name(self) -> str:
        return self.target.name

    def verify(self, image: Image.Image, page: Page, mode: Mode) -> Page:
        """As `hsd.verify_pages`, together with what other threads ask for meanwhile."""
        mine = _Waiting(image, page, mode)
        self._waiting.append(mine)
        try:
            while mine.verified is None:
                with self._turn:
                    if mine.verified is None:
                        self._read_next()
        finally:
            self._waiting.remove(mine)
        return mine.verified

    def _read_next(self) -> None:
        """The first that wait, as far as they are of one mode."""
        waiting = [each for each in [*self._waiting] if each.verified is None]
        batch = [each for each in waiting if each.mode == waiting[0].mode][:PAGES]
        pages = verify_pages(
            self.target,
            [(each.image, each.page) for each in batch],
            mode=batch[0].mode,
            choice=self._choice,
        )
        for each, page in zip(batch, pages, strict=True):
            each.verified = page
