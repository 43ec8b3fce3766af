"""How often the layout pipeline's own draft is right, on printed pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hsd_docparse.targets.mini.dialect import Hint
from models.printed_pages import Pages, SeenPage


def accuracy(pages: Sequence[SeenPage]) -> dict[str, tuple[int, int]]:
    """How often the draft is right, as (right, all): the ``mark`` of a line that it says opens a
    block; a line of which it says that it ``goes on``; that a line is running text at all; and that
    a line follows the one before it, in the same region (``within``) or the next (``between``)."""
    counts: dict[str, tuple[int, int]] = {}

    def count(what: str, right: bool) -> None:
        good, every = counts.get(what, (0, 0))
        counts[what] = good + right, every + 1

    for page in pages:
        owner = {row: n for n, rows in enumerate(page.regions) for row in rows}
        drafted = sorted(range(len(page.lines)), key=lambda row: page.lines[row]["hint"][1])
        drafted = [row for row in drafted if page.lines[row]["hint"][0] != Hint.FURNITURE]
        before = None
        for row in drafted:
            line = page.lines[row]
            hint, spoken = line["hint"][0], line["rank"] >= 0
            count("running text", spoken)
            if hint == Hint.GOES_ON:
                count("goes on", spoken and line["mark"] == 0)
            else:
                count("mark", spoken and line["mark"] == hint)
            rank = -1 if before is None else page.lines[before]["rank"]
            place = "within" if before is not None and owner[before] == owner[row] else "between"
            follows = spoken and line["rank"] == rank + 1 and (before is None or rank >= 0)
            count(f"order {place} regions", follows)
            count("order", follows)
            before = row
    return counts


def report(folder: Path) -> str:
    """The draft's accuracy on the pages in ``folder``, by where its text is from."""
    every = Pages(folder)
    rows = [f"{len(every.pages)} pages; left out: {dict(every.dropped) or 'none'}"]
    for source in ("text layer", "scan"):
        pages = [page for page in every.pages if page.source == source]
        rows.append(f"{source}: {len(pages)} pages")
        for what, (right, count) in sorted(accuracy(pages).items()):
            rows.append(f"  {what:24} {right / count:.3f}  of {count}")
    return "\n".join(rows)
