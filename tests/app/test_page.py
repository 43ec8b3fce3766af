"""A visitor at the page: upload, watch, look, download, and all that may go wrong."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import fake_parts
import pytest
from browser import needs_browser, served
from fake_parts import fakes
from playwright.sync_api import Browser, Page, expect

from hsd_docparse.jobs import Limits

__all__ = ["fakes"]

SAMPLES = Path(__file__).parents[2] / "samples"

pytestmark = needs_browser


@pytest.fixture
def address(fakes: None) -> Iterator[str]:
    with served(Limits(bytes=100_000, pages=50)) as address:
        yield address


@pytest.fixture(scope="module")
def real() -> Iterator[str]:
    with served(mode="draft") as address:
        yield address


def book(folder: Path, words: str, name: str = "book.pdf") -> Path:
    path = folder / name
    path.write_text(words)
    return path


def convert(visitor: Page, address: str, *files: Path) -> None:
    visitor.goto(address)
    visitor.set_input_files("#files input[type=file]", list(files))
    for file in files:
        expect(visitor.locator("#files")).to_contain_text(file.stem)
    visitor.get_by_role("button", name="Convert").click()


def test_a_document_is_read_and_shown(visitor: Page, address: str, tmp_path: Path) -> None:
    convert(visitor, address, book(tmp_path, "one two"))
    status = visitor.locator("#status")
    expect(status).to_contain_text("2 pages in")
    expect(visitor.locator("#viewer .reading")).to_contain_text("ONE")
    visitor.get_by_role("button", name="Next").click()
    expect(visitor.locator("#viewer .reading")).to_contain_text("TWO")
    visitor.get_by_role("button", name="Back").click()
    expect(visitor.locator("#viewer .reading")).to_contain_text("ONE")


def test_every_tab_says_what_it_should(visitor: Page, address: str, tmp_path: Path) -> None:
    convert(visitor, address, book(tmp_path, "one two"))
    expect(visitor.locator("#status")).to_contain_text("2 pages in")
    for tab, text in {
        "Preview": "ONE",
        "Markdown": "<!-- page 2 -->",
        "HTML": "<!DOCTYPE html>",
        "JSON": '"source": "book.pdf"',
        "Speculation": "fake wrote 10 tokens in 3 calls, 7 fewer than plain decoding makes.",
    }.items():
        visitor.get_by_role("tab", name=tab, exact=True).click()
        expect(visitor.get_by_role("tabpanel").and_(visitor.locator(":visible"))).to_contain_text(
            text
        )


def test_pages_appear_as_they_are_read_and_can_be_cancelled(
    visitor: Page, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = fake_parts.fake_draft

    def slow(page: object, *, dpi: float = 150) -> object:
        time.sleep(0.5)
        return draft(page, dpi=dpi)

    monkeypatch.setattr("hsd_docparse.draft.draft_page", slow)
    convert(visitor, address, book(tmp_path, "one " * 40), book(tmp_path, "two", "next.pdf"))
    status = visitor.locator("#status")
    expect(status).to_contain_text("of 40 pages, about")
    expect(status).to_contain_text("waits its turn")
    expect(visitor.locator("#viewer .reading")).to_contain_text("ONE")
    visitor.get_by_role("button", name="Cancel").click()
    expect(status).to_contain_text("cancelled after")
    expect(status).to_contain_text("cancelled after 0 pages")
    expect(visitor.get_by_role("button", name="Cancel")).to_be_disabled()


def test_a_broken_file_is_told_and_costs_no_other(
    visitor: Page, address: str, tmp_path: Path
) -> None:
    convert(visitor, address, book(tmp_path, "", "empty.pdf"), book(tmp_path, "one bug"))
    status = visitor.locator("#status")
    expect(status).to_contain_text("empty.pdf is empty.")
    expect(status).to_contain_text("2 pages in")
    expect(status).to_contain_text("1 could not be read")
    visitor.get_by_role("button", name="Next").click()
    expect(visitor.locator("#viewer")).to_contain_text("Page 2 could not be read")


def test_results_are_downloaded_alone_and_together(
    visitor: Page, address: str, tmp_path: Path
) -> None:
    files = [book(tmp_path, "one"), book(tmp_path, "two", "other.pdf")]
    convert(visitor, address, *files)
    expect(visitor.locator("#status")).to_contain_text("other.pdf1 page in")
    with visitor.expect_download() as one:
        visitor.locator("#downloads a").first.click()
    assert one.value.suggested_filename == "book.md"
    assert "ONE" in Path(one.value.path()).read_text()
    with visitor.expect_download() as together:
        visitor.locator("#everything").click()
    with zipfile.ZipFile(together.value.path()) as zipped:
        assert {"book/book.md", "book/book.json", "other/other.html"} <= set(zipped.namelist())


def test_a_region_and_its_block_are_chosen_together(visitor: Page, real: str) -> None:
    convert(visitor, real, SAMPLES / "letter.pdf")
    regions = visitor.locator("#viewer a.region.text")
    expect(regions.first).to_be_visible(timeout=60_000)
    region = regions.nth(2)
    block = visitor.locator(f"#viewer .reading {region.get_attribute('href')}")
    region.hover()
    expect(block).to_have_class("pointed")
    region.click()
    expect(block).to_have_class("pointed chosen")
    expect(block).to_be_in_viewport()
    expect(block).to_be_focused()
    visitor.keyboard.press("Tab")
    other = regions.nth(0)
    visitor.locator(f"#viewer .reading {other.get_attribute('href')}").click()
    assert "chosen" in (other.get_attribute("class") or "")
    regions.nth(1).focus()
    visitor.keyboard.press("Enter")
    assert "chosen" in (regions.nth(1).get_attribute("class") or "")


def test_colours_follow_the_choice(visitor: Page, real: str) -> None:
    convert(visitor, real, SAMPLES / "letter.pdf")
    expect(visitor.locator("#viewer .by-kind")).to_be_visible(timeout=60_000)
    visitor.get_by_label("accepted or corrected").check()
    expect(visitor.locator("#viewer .by-verdict .legend")).to_contain_text("draft")


def test_formulas_and_tables_are_drawn(visitor: Page, real: str) -> None:
    convert(visitor, real, SAMPLES / "paper.pdf", SAMPLES / "invoice.pdf")
    expect(visitor.locator("#viewer math mfrac").first).to_be_visible(timeout=60_000)
    visitor.get_by_role("tab", name="Preview").click()
    expect(visitor.locator("#preview .katex").first).to_be_visible()
    visitor.get_by_role("tab", name="Page", exact=True).click()
    expect(visitor.locator("#status")).to_contain_text("invoice.pdf1 page in", timeout=60_000)
    visitor.locator("#documents input").click()
    visitor.get_by_role("option", name="invoice.pdf").click()
    expect(visitor.locator("#viewer .reading table td").first).to_be_visible()


def test_a_phone_shows_everything_below_one_another(
    chromium: Browser, address: str, tmp_path: Path
) -> None:
    phone = chromium.new_page(
        viewport={"width": 375, "height": 800}, is_mobile=True, has_touch=True
    )
    convert(phone, address, book(tmp_path, "one"), book(tmp_path, "", "empty.pdf"))
    expect(phone.locator("#viewer .reading")).to_contain_text("ONE")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 375
    sheet, reading = (
        phone.locator(f"#viewer .{part}").bounding_box() for part in ("sheet", "reading")
    )
    assert sheet
    assert reading
    assert reading["y"] >= sheet["y"] + sheet["height"]
    assert sheet["width"] > 250
    phone.close()


def test_a_page_that_is_too_much_is_refused(visitor: Page, address: str, tmp_path: Path) -> None:
    convert(visitor, address, book(tmp_path, "one " * 51))
    expect(visitor.locator("#status")).to_contain_text("has 51 pages and at most 50 are taken")
    visitor.set_input_files("#files input[type=file]", book(tmp_path, "x" * 100_001, "large.pdf"))
    expect(visitor.get_by_text("exceed the maximum allowed size").first).to_be_visible()


def test_nothing_is_fetched_from_elsewhere(visitor: Page, address: str, tmp_path: Path) -> None:
    asked: list[str] = []
    visitor.on("request", lambda request: asked.append(request.url))
    convert(visitor, address, book(tmp_path, "one"))
    expect(visitor.locator("#viewer .reading")).to_contain_text("ONE")
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
