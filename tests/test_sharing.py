"""Pages of several threads are read in batches, and each gets what it would get alone."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from PIL import Image

from hsd_docparse.document import Page
from hsd_docparse.hsd import verify_pages
from hsd_docparse.sharing import SharedTarget
from hsd_docparse.speculative import Scores
from hsd_docparse.targets import PAGES
from tests.test_hsd import FIRST, PICTURE, SECOND, Teller, drafted, verify_page


class Echo(Teller):
    """Says of every page what its draft says, in capitals; the first batch waits to be let go."""

    def __init__(self) -> None:
        super().__init__("", [])
        self.begun, self.go = Event(), Event()

    def open(self, inputs: Sequence[str]) -> list[list[Any]]:
        opened = super().open(inputs)
        self.begun.set()
        self.go.wait(10)
        return opened

    def page_inputs(self, image: Image.Image, page: Page) -> str:
        return "".join(region.text.upper() for region in page.regions)

    def region_inputs(self, image: Image.Image, page: Page, regions: Sequence[int]) -> list[str]:
        return [page.regions[i].text.upper() for i in regions]


def said(page: Page) -> str:
    return page.regions[0].text


def test_pages_in_one_batch_are_read_as_each_alone() -> None:
    target = Echo()
    target.go.set()
    pages = [drafted("one", "two"), Page(1, 9, 9), drafted("three")]
    together = verify_pages(target, [(PICTURE, page) for page in pages])
    assert target.rows == [3, 2], "the regions of both pages, then the pages"
    alone = [verify_page(target, PICTURE, page) for page in pages]
    assert [page.regions for page in together] == [page.regions for page in alone]


def test_a_page_that_breaks_its_batch_costs_the_others_nothing() -> None:
    class Choking(Echo):
        def score(self, states: Any, trees: Any) -> list[Scores]:
            if any("POISON" in text for text, _ in states):
                raise RuntimeError("choked")
            return super().score(states, trees)

    target = Choking()
    target.go.set()
    pages = [drafted(FIRST), drafted("poison"), drafted(SECOND)]
    first, poison, second = verify_pages(target, [(PICTURE, page) for page in pages])
    assert (said(first), said(second)) == (FIRST.upper(), SECOND.upper())
    assert said(poison) == "poison"
    assert "choked" in poison.warnings[0]
    assert not first.warnings


def asked_together(shared: SharedTarget, target: Echo, modes: Sequence[Any]) -> list[Future[Page]]:
    """A page, and one more for each of ``modes`` that come while it is read."""
    with ThreadPoolExecutor(1 + len(modes)) as threads:
        futures = [threads.submit(shared.verify, PICTURE, drafted("page 0"), "lossless")]
        target.begun.wait(10)
        for number, mode in enumerate(modes, 1):
            page = drafted(f"page {number}")
            page.regions[0].lines[0].probabilities = [0.5] * len("page 0")
            futures.append(threads.submit(shared.verify, PICTURE, page, mode))
        while len(shared._waiting) < len(futures):
            pass
        target.go.set()
    return futures


def test_what_waits_is_read_together() -> None:
    target = Echo()
    futures = asked_together(SharedTarget(target), target, ["lossless"] * (PAGES + 1))
    assert target.rows == [1, PAGES, 1]
    assert [said(future.result()) for future in futures] == [
        f"PAGE {number}" for number in range(PAGES + 2)
    ]


def test_pages_of_another_mode_wait_for_their_turn() -> None:
    target = Echo()
    futures = asked_together(SharedTarget(target), target, ["lossless", "near", "lossless"])
    assert target.rows == [1, 2, 1]
    told = [future.result().speculation for future in futures]
    assert [each and each.mode for each in told] == ["lossless", "lossless", "near", "lossless"]


def test_an_interrupted_batch_leaves_the_others_waiting() -> None:
    class Interrupted(Echo):
        def open(self, inputs: Sequence[str]) -> list[list[Any]]:
            if not self.go.is_set():
                super().open(inputs)
                raise KeyboardInterrupt
            return super().open(inputs)

    target = Interrupted()
    first, second = asked_together(SharedTarget(target), target, ["lossless"])
    with pytest.raises(KeyboardInterrupt):
        first.result()
    assert said(second.result()) == "PAGE 1"
