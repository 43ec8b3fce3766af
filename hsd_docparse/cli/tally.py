"""What became of files and their pages: in words, and as an exit code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from hsd_docparse.convert import Conversion
from hsd_docparse.document import Page
from hsd_docparse.wording import counted

CONVERTED, FILE_FAILED, USAGE, PAGE_FAILED = 0, 1, 2, 3

MOST_WARNINGS = 10


@dataclass
class Tally:
    """What became of a file's pages. ``errors`` and ``warnings``: text -> pages it is about."""

    pages: int = 0
    tokens: int = 0
    page_calls: int = 0
    region_calls: int = 0
    errors: dict[str, list[int]] = field(default_factory=dict)
    warnings: dict[str, list[int]] = field(default_factory=dict)

    def add(self, page: Page) -> None:
        self.pages += 1
        if page.error:
            self.errors.setdefault(page.error, []).append(page.number)
        for warning in page.warnings:
            self.warnings.setdefault(warning, []).append(page.number)
        if page.speculation:
            self.tokens += page.speculation.tokens
            self.page_calls += page.speculation.page_calls
            self.region_calls += page.speculation.region_calls

    @property
    def failed(self) -> int:
        return sum(map(len, self.errors.values()))


def worst(*codes: int) -> int:
    """The exit code of several."""
    return next((code for code in (USAGE, FILE_FAILED, PAGE_FAILED) if code in codes), CONVERTED)


def summary(path: Path, conversion: Conversion, tally: Tally, seconds: float) -> str:
    """One line: pages, seconds, how they were read and what speculation gained."""
    document = conversion.document
    count = counted(tally.pages, "page")
    line = f"{path}: {count} in {seconds:.1f} s, {document.mode}"
    calls = tally.page_calls + tally.region_calls
    if calls:
        line += f" with {document.target}, {counted(calls, 'target call')}"
    if tally.page_calls:
        line += f", {tally.tokens / tally.page_calls:.1f} tokens a call on the page"
    return line + (f", {tally.failed} could not be read" if tally.failed else "")


def remarks(path: Path, tally: Tally) -> Iterator[str]:
    """Every page that failed, and the first few warnings."""
    for error, numbers in tally.errors.items():
        yield error if str(path) in error else f"{path}, page {ranges(numbers)}: {error}"
    for warning, numbers in islice(tally.warnings.items(), MOST_WARNINGS):
        yield f"{path}, page {ranges(numbers)}: {warning}"
    if (rest := len(tally.warnings) - MOST_WARNINGS) > 0:
        yield f"{path}: {counted(rest, 'more warning')}; -f json lists them all."


def ranges(numbers: list[int]) -> str:
    """Ascending page numbers as people write them: ``1-3, 7``."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{a}-{b}" if b > a else f"{a}" for a, b in spans)
