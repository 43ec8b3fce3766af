"""The HTTP service on a socket, in a thread, and a page that is not drafted before its time."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, NamedTuple

import httpx
import pytest
import uvicorn
from fake_parts import fake_draft
from fastapi import FastAPI

from hsd_docparse.document import Page
from hsd_docparse.jobs import ENDED


class Served(NamedTuple):
    port: int
    server: uvicorn.Server

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=20, **options)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)


@contextmanager
def serving(app: FastAPI) -> Iterator[Served]:
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = Thread(target=server.run)
    thread.start()
    until(lambda: server.started)
    try:
        yield Served(server.servers[0].sockets[0].getsockname()[1], server)
    finally:
        server.should_exit = True
        thread.join()


def until(true: Any) -> None:
    """Waits for it."""
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def ended(client: Any, url: str) -> dict[str, Any]:
    """The job at ``url`` once it has ended."""
    until(lambda: client.get(url).json()["state"] in ENDED)
    return client.get(url).json()


@pytest.fixture
def gate(fakes: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Pages are drafted once it is set."""
    import hsd_docparse.draft

    opened = Event()

    def draft(page: Any, *, dpi: float = 150) -> Page:
        assert opened.wait(20)
        return fake_draft(page, dpi=dpi)

    monkeypatch.setattr(hsd_docparse.draft, "draft_page", draft)
    yield opened
    opened.set()
