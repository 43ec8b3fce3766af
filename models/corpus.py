"""Text to render: blocks of real prose from Debian's documentation, and invented records.

    python -m models.corpus models/data/corpus.jsonl

Where none of those packages is installed, the prose is Python's manual (`models.manual`).
Every block is one JSON line: kind, text, and whether it is held out (decided by a hash of
the text, so that a held-out block is never trained on, whatever else changes).
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from models.manual import manual
from models.records import record

KINDS = {
    "h1": "h1", "h2": "h2", "h3": "h3", "h4": "h3", "p": "p", "li": "li", "dd": "p",
    "td": "cell", "th": "cell", "pre": "code", "figcaption": "cap", "caption": "cap",
}  # fmt: skip
FOLDERS = [
    "debian-handbook", "debian-faq", "developers-reference", "debian-reference-common",
    "debian-policy", "git", "git-doc", "postgresql-doc-15", "autoconf", "maint-guide",
    "gnu-standards", "octave", "lilypond", "gnucash-docs", "linux-doc-6.1", "vim", "info",
]  # fmt: skip
ROOTS = [Path("/usr/share/doc") / name for name in FOLDERS]
FORTUNES = Path("/usr/share/games/fortunes")
BLOCKS_A_FOLDER = 6000
FORTUNES_KEPT = 15000
RECORDS = 40000
HELD_SHARE = 25
"""One block in this many is held out."""


def is_held(text: str) -> bool:
    return hashlib.sha256(text.encode()).digest()[0] % HELD_SHARE == 0


def html_blocks(path: Path) -> Iterator[tuple[str, str]]:
    """Leaf blocks of an HTML file as (kind, text)."""
    from lxml import html

    try:
        tree = html.parse(str(path))
    except (OSError, ValueError):
        return
    if tree.getroot() is None:
        return
    for element in tree.iter(*KINDS):
        if any(child.tag in KINDS for child in element.iterdescendants()):
            continue
        text = element.text_content()
        kind = KINDS[element.tag]
        text = text.rstrip() if kind == "code" else re.sub(r"\s+", " ", text).strip()
        if element.tag == "dd" or kind in ("p", "li"):
            text = text.lstrip("•-* ")
        if 1 <= len(text) <= 1500:
            yield kind, text


def documents(rng: random.Random) -> Iterator[tuple[str, str]]:
    for root in ROOTS:
        files = sorted(p for p in root.rglob("*.html") if p.is_file())
        rng.shuffle(files)
        blocks: dict[tuple[str, str], None] = {}
        for path in files:
            blocks.update(dict.fromkeys(html_blocks(path)))
            if len(blocks) > 2 * BLOCKS_A_FOLDER:
                break
        chosen = list(blocks)
        rng.shuffle(chosen)
        yield from chosen[:BLOCKS_A_FOLDER]


def fortunes() -> Iterator[tuple[str, str]]:
    for path in sorted(FORTUNES.rglob("*")):
        if not path.is_file() or path.suffix in (".dat", ".u8") or "off" in path.parts:
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for piece in text.split("\n%\n"):
            flat = re.sub(r"\s+", " ", re.sub(r"\x1b\[[0-9;]*m", "", piece)).strip()
            if 20 <= len(flat) <= 700 and path.name not in ("ascii-art", "banner"):
                yield "p", flat


def write_corpus(path: Path, most: int | None = None) -> None:
    """Write all blocks, or so many of them, to ``path``, which appears when it is whole."""
    rng = random.Random(20260101)
    path.parent.mkdir(parents=True, exist_ok=True)
    sayings = list(fortunes())
    rng.shuffle(sayings)
    prose = [*documents(rng), *sayings[:FORTUNES_KEPT]]
    if not prose:
        print("Debian's documentation is not installed; the prose is Python's manual.")
        prose = list(manual())
    blocks = [*prose, *(record(rng) for _ in range(min(RECORDS, len(prose))))]
    rng.shuffle(blocks)
    counts: dict[str, int] = {}
    unfinished = path.with_suffix(".new")
    with unfinished.open("w", encoding="utf-8") as file:
        for kind, text in blocks[:most]:
            counts[kind] = counts.get(kind, 0) + 1
            line = {"kind": kind, "text": text, "held": is_held(text)}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    unfinished.replace(path)
    print(counts)


if __name__ == "__main__":
    write_corpus(Path(sys.argv[1]))
