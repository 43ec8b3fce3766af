from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_parts import FakeTarget, fakes

import hsd_docparse
from hsd_docparse.convert import Settings, open_conversion

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
