from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_parts import FakeTarget, fakes

import hsd_docparse
from hsd_docparse.convert import Settings, open_conversion
from hsd_docparse.render import render
from hsd_docparse.worker import Drafted, Opened

__all__ = ["fakes"]

ROOT = Path(hsd_docparse.__file__).parents[1]
HEAVY = ["torch", "transformers", "openvino", "onnxruntime", "pymupdf", "cv2", "pydantic"]


@pytest.fixture
def book(tmp_path: Path, fakes: None) -> Path:
    path = tmp_path / "book.pdf"
    path.write_text("one odd bug damaged refused six")
    return path


def test_the_target_reads_what_the_draft_found(book: Path) -> None:
    document = hsd_docparse.parse(book, pages=[1])
    assert [region.text for region in document.pages[0].regions] == ["ONE"]
    assert (document.mode, document.target) == ("lossless", "fake")
    assert document.source == str(book)
    assert document.page_count == 6
    assert document.metadata == {"title": "A title"}


@pytest.mark.parametrize("how", [{"mode": "draft"}, {"target": "none"}])
def test_without_a_target_the_draft_stays(book: Path, how: dict[str, str]) -> None:
    document = hsd_docparse.parse(book, pages="1", **how)  # type: ignore[arg-type]
    assert [region.text for region in document.pages[0].regions] == ["one"]
    assert (document.mode, document.target) == ("draft", "none")


def test_a_broken_page_costs_no_other(book: Path) -> None:
    document = hsd_docparse.parse(book, target=FakeTarget())  # type: ignore[arg-type]
    assert [page.number for page in document.pages] == [1, 2, 3, 4, 5, 6]
    assert [page.error for page in document.pages] == [
        None,
        None,
        "unexpected ZeroDivisionError (by nothing); --debug shows where it arose.",
        "it is damaged.",
        "Page 5 is refused.",
        None,
    ]
    assert document.pages[1].warnings == ["odd font"]
    assert document.pages[5].regions[0].text == "SIX"


def test_pages_come_one_at_a_time(book: Path) -> None:
    pages = hsd_docparse.iter_pages(book, mode="draft", pages="1-2,6")
    assert next(pages).number == 1
    assert [page.number for page in pages] == [2, 6]


def test_a_page_is_rendered_once(book: Path) -> None:
    with open_conversion(book, Settings(pages="1", dpi=72)) as conversion:
        assert conversion.selected == 1
        (read,) = conversion.reads
        assert read.picture is not None
        assert read.picture.size == (100, 50)
        assert read.picture.info["rendered"] == 1


def test_a_target_opened_by_name_is_kept(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def open_target(name: str) -> FakeTarget:
        opened.append(name)
        return FakeTarget()

    monkeypatch.setattr("hsd_docparse.targets.open_target", open_target)
    for _ in range(2):
        hsd_docparse.parse(book, pages="1", target="folder")
    assert opened == ["folder"]


def test_a_target_that_cannot_be_opened_says_its_name(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_target(name: str) -> FakeTarget:
        raise ValueError("no weights")

    monkeypatch.setattr("hsd_docparse.targets.open_target", open_target)
    with pytest.raises(hsd_docparse.TargetError, match="'folder' could not be opened: no weights"):
        hsd_docparse.parse(book, target="folder")


def test_importing_is_cheap() -> None:
    code = (
        "import sys, time; began = time.perf_counter(); import hsd_docparse; "
        f"print(time.perf_counter() - began, [name for name in {HEAVY} if name in sys.modules])"
    )
    seconds = []
    for _ in range(3):  # a busy machine may spoil one
        run = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        spent, _, heavy = run.stdout.strip().partition(" ")
        assert heavy == "[]"
        seconds.append(float(spent))
        time.sleep(0.05)
    assert min(seconds) < 0.3


def test_every_public_name_is_there() -> None:
    for name in hsd_docparse.__all__:
        assert getattr(hsd_docparse, name) is not None
    with pytest.raises(AttributeError, match="parze"):
        hsd_docparse.parze  # noqa: B018


def test_progress_is_told_page_by_page(book: Path) -> None:
    told: list[tuple[int, int]] = []
    hsd_docparse.parse(
        book, mode="draft", pages="1-3", on_page=lambda page, rest: told.append((page.number, rest))
    )
    assert told == [(1, 2), (2, 1), (3, 0)]


def test_a_document_and_its_pages_say_themselves(book: Path) -> None:
    document = hsd_docparse.parse(book, mode="draft", pages="1,6")
    assert document.to_markdown() == "<!-- page 1 -->\n\none\n\n<!-- page 6 -->\n\nsix\n"
    assert document.pages[1].to_markdown() == "<!-- page 6 -->\n\nsix\n"
    assert document.to_html().startswith("<!DOCTYPE html>")
    assert document.pages[0].to_html().startswith('<section id="page-1"')
    data = document.to_dict()
    assert data == json.loads(render(document, "json"))
    assert data["pages"][0] == document.pages[0].to_dict()


def test_the_loop_goes_on_while_a_file_is_read(book: Path) -> None:
    told: list[tuple[int, int, bool]] = []
    main = threading.get_ident()

    def on_page(page: hsd_docparse.Page, rest: int) -> None:
        told.append((page.number, rest, threading.get_ident() == main))

    async def read() -> hsd_docparse.Document:
        return await hsd_docparse.parse_async(book, mode="draft", pages="1-2", on_page=on_page)

    document = asyncio.run(read())
    assert [page.number for page in document.pages] == [1, 2]
    assert told == [(1, 1, True), (2, 0, True)]


def test_pages_come_one_at_a_time_in_a_loop(book: Path) -> None:
    async def read() -> list[int]:
        return [page.number async for page in hsd_docparse.iter_pages_async(book, mode="draft")]

    assert asyncio.run(read()) == [1, 2, 3, 4, 5, 6]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> tuple[list[int], threading.Event]:
    """Drafting that takes its time: the pages that were begun, and whether the file was closed."""
    begun: list[int] = []
    closed = threading.Event()

    def read_isolated(job: Any, deadline: float) -> Iterator[Any]:
        try:
            yield Opened(100, range(1, 101), {})
            for number in range(1, 101):
                begun.append(number)
                time.sleep(0.02)
                yield Drafted(hsd_docparse.Page(number, 1, 1))
        finally:
            closed.set()

    monkeypatch.setattr("hsd_docparse.isolation.read_isolated", read_isolated)
    return begun, closed


def test_a_cancelled_task_reads_no_further(slow: tuple[list[int], threading.Event]) -> None:
    begun, closed = slow

    async def read(pages: bool) -> None:
        if pages:
            async for _ in hsd_docparse.iter_pages_async("book.pdf", mode="draft"):
                pass
        else:
            await hsd_docparse.parse_async("book.pdf", mode="draft")

    async def cancel(pages: bool) -> None:
        task = asyncio.create_task(read(pages))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    for pages in (True, False):
        begun.clear()
        closed.clear()
        asyncio.run(cancel(pages))
        assert closed.wait(5)
        assert 0 < len(begun) < 50


def test_errors_reach_the_loop(tmp_path: Path, fakes: None) -> None:
    with pytest.raises(hsd_docparse.InputError, match="does not exist"):
        asyncio.run(hsd_docparse.parse_async(tmp_path / "missing.pdf"))
