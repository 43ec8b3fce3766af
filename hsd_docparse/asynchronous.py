"""`parse` and `iter_pages` for programs that run on asyncio: a thread reads, the loop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from threading import Event
from typing import Any, ParamSpec

from hsd_docparse.convert import iter_pages, parse
from hsd_docparse.document import Document, Page

P = ParamSpec("P")


class _StoppedError(Exception):
    """Leaves a conversion that nobody waits for any more."""


def _awaitable(function: Callable[P, Document]) -> Callable[P, Coroutine[Any, Any, Document]]:
    @wraps(function)
    async def run(*args: P.args, **kwargs: P.kwargs) -> Document:
        loop = asyncio.get_running_loop()
        told: Any = kwargs.get("on_page")
        stopped = Event()

        def on_page(page: Page, to_come: int) -> None:
            if stopped.is_set():
                raise _StoppedError
            if told:
                loop.call_soon_threadsafe(told, page, to_come)

        kwargs["on_page"] = on_page
        try:
            return await asyncio.to_thread(function, *args, **kwargs)
        finally:
            stopped.set()

    return run


def _streaming(function: Callable[P, Iterator[Page]]) -> Callable[P, AsyncGenerator[Page]]:
    @wraps(function)
    async def run(*args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[Page]:
        pages: Any = function(*args, **kwargs)
        loop = asyncio.get_running_loop()
        # One thread has the iterator: it can be closed only after the page under way.
        thread = ThreadPoolExecutor(1, "docparse")
        try:
            while (page := await loop.run_in_executor(thread, next, pages, None)) is not None:
                yield page
        finally:
            thread.submit(pages.close)
            thread.shutdown(wait=False)

    return run


parse_async = _awaitable(parse)
"""`parse`, to be awaited. ``on_page`` is called in the loop. When the task is cancelled, reading
ends after the page under way."""

iter_pages_async = _streaming(iter_pages)
"""`iter_pages`, for ``async for``. When the task is cancelled or the iterator closed, reading ends
after the page under way; wrap it in `contextlib.aclosing` to leave a loop early."""
