from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser import CHROMIUM
from playwright.sync_api import Browser, Page, sync_playwright


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Closed with its module: while it is open an event loop runs in the thread of the tests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visitor(chromium: Browser) -> Iterator[Page]:
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(20_000)
    yield page
    page.close()
