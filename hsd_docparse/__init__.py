"""docparse: PDFs, scans and photos become Markdown, HTML, JSON and text.

A layout pipeline drafts and a vision-language model verifies, by hierarchical speculative
decoding. Importing this package is cheap: what is heavy comes with the first page.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hsd_docparse.document import Box, Document, Line, Page, Region, Speculation
from hsd_docparse.errors import DocparseError, InputError, PageError, PasswordError, TargetError

if TYPE_CHECKING:
    from hsd_docparse.asynchronous import iter_pages_async, parse_async
    from hsd_docparse.convert import iter_pages, parse
    from hsd_docparse.targets import open_target

__version__ = "0.1.0"

__all__ = [
    "Box",
    "DocparseError",
    "Document",
    "InputError",
    "Line",
    "Page",
    "PageError",
    "PasswordError",
    "Region",
    "Speculation",
    "TargetError",
    "__version__",
    "iter_pages",
    "iter_pages_async",
    "open_target",
    "parse",
    "parse_async",
]

_LAZY = {
    "iter_pages": "hsd_docparse.convert",
    "iter_pages_async": "hsd_docparse.asynchronous",
    "open_target": "hsd_docparse.targets",
    "parse": "hsd_docparse.convert",
    "parse_async": "hsd_docparse.asynchronous",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
