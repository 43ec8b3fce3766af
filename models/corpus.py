"""Text to render: blocks of real prose from Debian's documentation, and invented records.

    python -m models.corpus models/data/corpus.jsonl

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


FIRST = ["Anna", "Ben", "Carla", "David", "Elif", "Farid", "Grace", "Hugo", "Ines", "Jonas", "Karin", "Luca", "Mara", "Nils", "Olga", "Pavel", "Rosa", "Sven", "Tara", "Uwe", "Vera", "Wanda", "Yara", "Zoe"]  # noqa: E501
LAST = ["Abbott", "Becker", "Castillo", "Dubois", "Evans", "Fischer", "Garcia", "Hansen", "Ivanov", "Jensen", "Keller", "Lopez", "Moreau", "Novak", "Olsen", "Petrov", "Quinn", "Rossi", "Schmidt", "Tanaka", "Ueda", "Vogel", "Weber", "Young", "Zhang"]  # noqa: E501
STREETS = (
    ["Main St", "Park Avenue", "Lindenweg", "Rue de la Paix", "High Street", "Bahnhofstr.", "Via Roma", "Oak Lane"]
)
CITIES = (
    ["Berlin", "Paris", "Lyon", "London", "Leeds", "Madrid", "Turin", "Boston", "Austin", "Toronto", "Zürich", "Wien", "Kraków"]
)
ITEMS = ["Coffee beans", "USB-C cable", "Desk lamp", "Consulting", "Hosting fee", "Paper A4", "Train ticket", "Apple juice", "Service charge", "Printer ink", "Notebook", "Delivery", "Maintenance", "Bread roll", "Olive oil 1L"]  # noqa: E501
LABELS = ["Total", "Subtotal", "VAT", "Tax", "Date", "Invoice No.", "Order number", "Due date", "Customer", "Account", "IBAN", "Phone", "Fax", "E-mail", "Amount due", "Qty", "Price", "Description", "Unit price", "Discount", "Name", "Address", "City", "Signature", "Cash", "Change", "Balance", "Reference", "Page", "Department", "Project"]  # noqa: E501
WORDS = ["growth", "margin", "region", "sample", "error", "mean", "rate", "model", "baseline", "average", "revenue", "cost", "index", "volume", "quarter", "score", "time", "method"]  # noqa: E501
SYMBOLS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def number(rng: random.Random) -> str:
    value = rng.choice([rng.random(), rng.random() * 100, rng.random() * 1e5])
    styles = [
        f"{value:.2f}", f"{value:,.2f}", f"{int(value)}", f"{value:.1f}%", f"${value:,.2f}",
        f"€ {value:,.2f}", f"{value:.3f}", f"({value:,.0f})", f"-{value:.1f}", f"+{value:.2f}",
        f"{value:,.2f} EUR", f"{value:.1f} ± {rng.random():.1f}", f"{int(value):,}",
        f"{value:,.2f}".replace(",", " ").replace(".", ","), f"£{value:.2f}", f".{int(value) % 1000:03d}",
    ]  # fmt: skip
    return rng.choice(styles)


def date(rng: random.Random) -> str:
    y, m, d = rng.randint(1950, 2030), rng.randint(1, 12), rng.randint(1, 28)
    month = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"][
        m - 1
    ]
    return rng.choice(
        [f"{y}-{m:02d}-{d:02d}", f"{d:02d}.{m:02d}.{y}", f"{m}/{d}/{y % 100:02d}", f"{d} {month} {y}",
         f"{month} {d}, {y}", f"{month[:3]} {y}", f"{d:02d}/{m:02d}/{y}", f"{rng.randint(0, 23)}:{rng.randint(0, 59):02d}"]  # noqa: E501
    )  # fmt: skip


def person(rng: random.Random) -> str:
    first, last = rng.choice(FIRST), rng.choice(LAST)
    return rng.choice(
        [f"{first} {last}", f"{last}, {first[0]}.", f"{first[0]}. {last}", f"Dr. {first} {last}"]
    )


def code(rng: random.Random) -> str:
    return rng.choice(["", "#", "No. ", "ID ", "Ref: "]) + "".join(
        rng.choice(SYMBOLS + "--/.") for _ in range(rng.randint(3, 14))
    )


def cell(rng: random.Random) -> str:
    pick = rng.random()
    if pick < 0.5:
        return number(rng)
    if pick < 0.6:
        return date(rng)
    if pick < 0.7:
        return person(rng)
    if pick < 0.8:
        return rng.choice(ITEMS)
    if pick < 0.9:
        return rng.choice(LABELS) + rng.choice(["", "", ":"])
    return code(rng)


def record(rng: random.Random) -> tuple[str, str]:
    """An invented block: what invoices, receipts, forms, tables and references are made of."""
    pick = rng.random()
    if pick < 0.45:
        return "cell", cell(rng)
    if pick < 0.55:
        return "p", f"{rng.choice(LABELS)}: {cell(rng)}"
    if pick < 0.62:
        return (
            "p",
            f"{person(rng)}, {rng.randint(1, 250)} {rng.choice(STREETS)}, {rng.randint(1000, 99999)} {rng.choice(CITIES)}",
        )
    if pick < 0.7:
        kind = rng.choice(["Table", "Figure", "Fig."])
        return (
            "cap",
            f"{kind} {rng.randint(1, 20)}{rng.choice(':.')} {' '.join(rng.sample(WORDS, 4)).capitalize()} ({rng.choice(CITIES)}, {date(rng)}).",
        )
    if pick < 0.78:
        n = rng.randint(1, 60)
        return (
            "fn",
            f"[{n}] {person(rng)}, {person(rng)}: {' '.join(rng.sample(WORDS, 5)).title()}. {rng.choice(CITIES)} {date(rng)}, pp. {n}-{n + 9}.",
        )
    if pick < 0.88:
        page = rng.randint(1, 400)
        return "furniture", rng.choice(
            [str(page), f"Page {page}", f"Page {page} of {page + 9}", f"- {page} -", f"{person(rng)} · {date(rng)}",
             f"{' '.join(rng.sample(WORDS, 3)).title()}", f"Vol. {page}, No. {page % 12}, {date(rng)}", f"Confidential {code(rng)}"]  # noqa: E501
        )  # fmt: skip
    lines = [
        f"{rng.choice(WORDS).capitalize()} {rng.choice(WORDS)} {number(rng)}" for _ in range(3)
    ]
    return "p", " ".join(lines)


def main(output: str) -> None:
    rng = random.Random(20260101)
    path = Path(output)
    path.parent.mkdir(parents=True, exist_ok=True)
    counts: dict[str, int] = {}
    with path.open("w", encoding="utf-8") as file:
        sayings = list(fortunes())
        rng.shuffle(sayings)
        blocks = [*documents(rng), *sayings[:FORTUNES_KEPT], *(record(rng) for _ in range(40000))]
        rng.shuffle(blocks)
        for kind, text in blocks:
            counts[kind] = counts.get(kind, 0) + 1
            line = {"kind": kind, "text": text, "held": is_held(text)}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(counts)


if __name__ == "__main__":
    main(*sys.argv[1:])
