"""What each stage does to the result: the draft, regions alone, the page alone, and both.

    python -m benchmarks.ablation FILES... -o FOLDER [--target mini]

Writes FOLDER/WAY/NAME.md for every way, to be scored by any scorer of Markdown. Page alone and both
are lossless, so they should say the same: how many pages differ is printed, with the target calls.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hsd_docparse.convert import Settings, open_conversion
from hsd_docparse.document import Document, Page
from hsd_docparse.hsd import Stages, has_text_for, read
from hsd_docparse.targets import DocumentTarget, open_target

if TYPE_CHECKING:
    from PIL import Image

STAGES: Sequence[Stages] = ("regions", "page", "both")


def variants(
    target: DocumentTarget, image: Image.Image | None, page: Page, calls: Counter[str]
) -> dict[str, Page]:
    """``page`` as its draft and as each of `STAGES` reads it; ``calls`` grows by those of the
    target. What the target does not read stays its draft."""
    pages = {"draft": page}
    for stages in STAGES:
        pages[stages] = page
        if image is not None and page.error is None and has_text_for(target, page):
            # A target may remember the page that it saw last; every way sees for itself.
            fresh = replace(page)
            reading = read(target, image, fresh, stages)
            pages[stages] = replace(page, regions=target.regions(fresh, reading.output))
            calls[stages] += reading.region_calls + reading.page_calls
    return pages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--target", default="mini")
    arguments = parser.parse_args()
    target = open_target(arguments.target)
    calls: Counter[str] = Counter()
    total = different = 0
    for path in arguments.files:
        documents: dict[str, Document] = {}
        with open_conversion(path, Settings(mode="draft"), pictures=True) as conversion:
            for way in ("draft", *STAGES):
                documents[way] = replace(conversion.document, pages=[])
            for drafted, picture in conversion.reads:
                pages = variants(target, picture, drafted, calls)
                total += 1
                different += pages["page"].to_markdown() != pages["both"].to_markdown()
                for way, page in pages.items():
                    documents[way].pages.append(page)
        for way, document in documents.items():
            folder = arguments.output / way
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{path.stem}.md").write_text(document.to_markdown(), "utf-8")
    print(f"{total} pages; page alone and both differ on {different}")
    for way, count in calls.items():
        print(f"{way}: {count} target calls")


if __name__ == "__main__":
    main()
