"""Which pages the user asked for: ``"1-3,7"`` becomes ``[1, 2, 3, 7]``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hsd_docparse.errors import InputError

_RANGE = re.compile(r"(\d+)(-(\d*))?")


def read_page_ranges(text: str) -> list[tuple[int, int | None]]:
    """First and last page of each range in ``text``, a comma-separated list of pages and ranges;
    the last is None where the range runs to the end (``"5-"``). Raises `InputError`."""
    ranges: list[tuple[int, int | None]] = []
    for part in text.replace(" ", "").split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise InputError(f"Page range {text!r} is not understood; write it like '1-3,7'.")
        first = int(match[1])
        last = first if match[2] is None else int(match[3]) if match[3] else None
        if last is not None and last < first:
            raise InputError(f"Page range {part!r} runs backwards; write it like '1-3,7'.")
        ranges.append((first, last))
    return ranges


def parse_page_ranges(text: str, page_count: int) -> list[int]:
    """1-based page numbers in document order, each once.

    Raises `InputError` for what `read_page_ranges` does not understand and for pages that the
    document does not have.
    """
    numbers: set[int] = set()
    for first, end in read_page_ranges(text):
        last = page_count if end is None else end
        # The end is checked before the range is built: '1-99999999999' must not be expanded.
        _check(first, page_count)
        _check(last, page_count)
        numbers.update(range(first, last + 1))
    return sorted(numbers)


def select_pages(pages: str | Sequence[int] | None, page_count: int) -> list[int]:
    """The pages that ``pages`` (see `hsd_docparse.sources.open_source`) selects."""
    if pages is None:
        return list(range(1, page_count + 1))
    if isinstance(pages, str):
        return parse_page_ranges(pages, page_count)
    for number in pages:
        _check(number, page_count)
    return sorted(set(pages))


def _check(number: int, page_count: int) -> None:
    if not 1 <= number <= page_count:
        raise InputError(f"There is no page {number}: the document has pages 1 to {page_count}.")
