"""A browser at the page, over the network as a visitor's is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gradio as gr
import pytest
from hsd_docparse.app.page import appearance, build, serving

from hsd_docparse.jobs import Jobs, Limits

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
needs_browser = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium on this machine")


@contextmanager
def served(limits: Limits | None = None, *, auth: Any = None, **options: Any) -> Iterator[str]:
    """The address of a page over jobs of its own."""
    with Jobs(limits, pictures=True) as jobs:
        page: gr.Blocks = build(jobs, **options)
        page.queue(default_concurrency_limit=8)
        _, address, _ = page.launch(
            **appearance(), **serving(jobs, "127.0.0.1", None, auth), prevent_thread_lock=True
        )
        try:
            yield address.rstrip("/")
        finally:
            page.close()
