"""Invented blocks: what invoices, receipts, forms, tables and references are made of."""

from __future__ import annotations

import random

NAMES = [
    "Anna",
    "Ben",
    "Carla",
    "David",
    "Elif",
    "Farid",
    "Grace",
    "Hugo",
    "Ines",
    "Jonas",
    "Karin",
    "Luca",
    "Mara",
    "Nils",
    "Olga",
    "Pavel",
    "Rosa",
    "Sven",
    "Tara",
    "Uwe",
    "Vera",
    "Wanda",
    "Yara",
    "Zoe",
]
SURNAMES = [
    "Abbott",
    "Becker",
    "Castillo",
    "Dubois",
    "Evans",
    "Fischer",
    "Garcia",
    "Hansen",
    "Ivanov",
    "Jensen",
    "Keller",
    "Lopez",
    "Moreau",
    "Novak",
    "Olsen",
    "Petrov",
    "Quinn",
    "Rossi",
    "Schmidt",
    "Tanaka",
    "Ueda",
    "Vogel",
    "Weber",
    "Young",
    "Zhang",
]
STREETS = [
    "Main St",
    "Park Avenue",
    "Lindenweg",
    "Rue de la Paix",
    "High Street",
    "Bahnhofstr.",
    "Via Roma",
    "\nOak Lane",
]
CITIES = [
    "Berlin",
    "Paris",
    "Lyon",
    "London",
    "Leeds",
    "Madrid",
    "Turin",
    "Boston",
    "Austin",
    "Toronto",
    "Zürich",
    "Wien",
    "Kraków",
]
ITEMS = [
    "Coffee beans",
    "USB-C cable",
    "Desk lamp",
    "Consulting",
    "Hosting fee",
    "Paper A4",
    "Train ticket",
    "\nApple juice",
    "Service charge",
    "Printer ink",
    "Notebook",
    "Delivery",
    "Maintenance",
    "Bread roll",
    "\nOlive oil 1L",
]
LABELS = [
    "Total",
    "Subtotal",
    "VAT",
    "Tax",
    "Date",
    "Invoice No.",
    "Order number",
    "Due date",
    "Customer",
    "Account",
    "IBAN",
    "\nPhone",
    "Fax",
    "E-mail",
    "Amount due",
    "Qty",
    "Price",
    "Description",
    "Unit price",
    "Discount",
    "Name",
    "Address",
    "City",
    "Signature",
    "\nCash",
    "Change",
    "Balance",
    "Reference",
    "Page",
    "Department",
    "Project",
]
TOPICS = [
    "growth",
    "margin",
    "region",
    "sample",
    "error",
    "mean",
    "rate",
    "model",
    "baseline",
    "average",
    "revenue",
    "cost",
    "index",
    "volume",
    "quarter",
    "score",
    "time",
    "method",
]
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
SYMBOLS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def pick(rng: random.Random, words: list[str]) -> str:
    return rng.choice(words).strip()


def topics(rng: random.Random, count: int) -> str:
    return " ".join(rng.sample(TOPICS, count))


def number(rng: random.Random) -> str:
    value = rng.choice([rng.random(), rng.random() * 100, rng.random() * 1e5])
    styles = [
        f"{value:.2f}",
        f"{value:,.2f}",
        f"{int(value)}",
        f"{value:.1f}%",
        f"${value:,.2f}",
        f"€ {value:,.2f}",
        f"{value:.3f}",
        f"({value:,.0f})",
        f"-{value:.1f}",
        f"+{value:.2f}",
        f"{value:,.2f} EUR",
        f"{value:.1f} ± {rng.random():.1f}",
        f"{int(value):,}",
        f"{value:,.2f}".replace(",", " ").replace(".", ","),
        f"£{value:.2f}",
        f".{int(value) % 1000:03d}",
    ]
    return rng.choice(styles)


def date(rng: random.Random) -> str:
    y, m, d = rng.randint(1950, 2030), rng.randint(1, 12), rng.randint(1, 28)
    month = MONTHS[m - 1]
    styles = [
        f"{y}-{m:02d}-{d:02d}",
        f"{d:02d}.{m:02d}.{y}",
        f"{m}/{d}/{y % 100:02d}",
        f"{d} {month} {y}",
        f"{month} {d}, {y}",
        f"{month[:3]} {y}",
        f"{d:02d}/{m:02d}/{y}",
        f"{rng.randint(0, 23)}:{rng.randint(0, 59):02d}",
    ]
    return rng.choice(styles)


def person(rng: random.Random) -> str:
    first, last = rng.choice(NAMES), rng.choice(SURNAMES)
    styles = [
        f"{first} {last}",
        f"{last}, {first[0]}.",
        f"{first[0]}. {last}",
        f"Dr. {first} {last}",
    ]
    return rng.choice(styles)


def code(rng: random.Random) -> str:
    prefix = rng.choice(["", "#", "No. ", "ID ", "Ref: "])
    return prefix + "".join(rng.choice(SYMBOLS + "--/.") for _ in range(rng.randint(3, 14)))


def cell(rng: random.Random) -> str:
    makers = [number, date, person, lambda r: pick(r, ITEMS), label, code]
    return rng.choices(makers, [5, 1, 1, 1, 1, 1])[0](rng)


def label(rng: random.Random) -> str:
    return pick(rng, LABELS) + rng.choice(["", "", ":"])


def address(rng: random.Random) -> str:
    street = f"{rng.randint(1, 250)} {pick(rng, STREETS)}"
    return f"{person(rng)}, {street}, {rng.randint(1000, 99999)} {rng.choice(CITIES)}"


def caption(rng: random.Random) -> str:
    what = f"{rng.choice(['Table', 'Figure', 'Fig.'])} {rng.randint(1, 20)}{rng.choice(':.')}"
    return f"{what} {topics(rng, 4).capitalize()} ({rng.choice(CITIES)}, {date(rng)})."


def reference(rng: random.Random) -> str:
    n = rng.randint(1, 60)
    authors = f"[{n}] {person(rng)}, {person(rng)}"
    return (
        f"{authors}: {topics(rng, 5).title()}. {rng.choice(CITIES)} {date(rng)}, pp. {n}-{n + 9}."
    )


def furniture(rng: random.Random) -> str:
    page = rng.randint(1, 400)
    styles = [
        str(page),
        f"Page {page}",
        f"Page {page} of {page + 9}",
        f"- {page} -",
        f"{person(rng)} · {date(rng)}",
        topics(rng, 3).title(),
        f"Vol. {page}, No. {page % 12}, {date(rng)}",
        f"Confidential {code(rng)}",
    ]
    return rng.choice(styles)


def facts(rng: random.Random) -> str:
    return " ".join(
        f"{rng.choice(TOPICS).capitalize()} {rng.choice(TOPICS)} {number(rng)}" for _ in range(3)
    )


def record(rng: random.Random) -> tuple[str, str]:
    """A block as (kind, text)."""
    makers = [
        ("cell", cell, 45),
        ("p", lambda r: f"{pick(r, LABELS)}: {cell(r)}", 10),
        ("p", address, 7),
        ("cap", caption, 8),
        ("fn", reference, 8),
        ("furniture", furniture, 10),
        ("p", facts, 12),
    ]
    kind, make, _ = rng.choices(makers, [weight for *_, weight in makers])[0]
    return kind, make(rng)
