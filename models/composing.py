"""Documents of one page as HTML: reports, papers, letters, invoices, slides, books, forms,
newspapers and manuals, of the corpus's blocks and invented records, in styles drawn by chance.

Every block says in ``data-k`` what it is (see `models.printing.Block`).
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from hsd_docparse.targets.mini.coverage import is_written_in
from models import records
from models.styles import Style, draw_style

KINDS = {
    "report": 18, "paper": 18, "letter": 8, "invoice": 8, "slide": 9, "book": 14, "form": 5,
    "newspaper": 8, "manual": 12,
}  # fmt: skip
"""Kinds of documents, each so often in a hundred."""
SYMBOLS = list("=+−≤≥≈→×·/")
LETTERS = list("abcdefghknpqrstuvwxyzABCDFGKLMNPRSTVαβγδελμπσφω")
_BREAK = re.compile(r"(?i)(?<=[aeiouyäöü][b-df-hj-np-tv-z])(?=[b-df-hj-np-tv-z]+[aeiouyäöü]\w)")
"""Where words may be broken: between consonants that stand between vowels."""
_NUMBER = re.compile(r"^(?:\w+\s)?(?:\d+(?:\.\d+)*\.?|[A-Z](?:\.\d+)*\.)\s+")
"""The number of a heading, "Chapter 7." too: documents have their own."""
_RUN_TOGETHER = re.compile(r"[^\W\d_]{2}[A-Z]?\d*\d\.(\d|\s|$)|[a-zäöü][A-Z]\.\d")
"""Links of navigation bars and tables of contents, which have lost the spaces between them."""


class Stock:
    """Texts of the corpus by kind, held-out ones or the others; of Latin letters, and of symbols
    that the eye knows where ``known`` are given."""

    def __init__(self, corpus: Path, held: bool, known: Collection[str] = ()) -> None:
        self.texts: dict[str, list[str]] = {}
        symbols = {*known, "\n", "\t"}
        with corpus.open(encoding="utf-8") as file:
            for line in file:
                block = json.loads(line)
                text = block["text"]
                if (
                    block["held"] == held
                    and (not known or symbols.issuperset(text))
                    and is_written_in(text, ["LATIN"])
                    and (block["kind"] == "code" or not _RUN_TOGETHER.search(text))
                ):
                    self.texts.setdefault(block["kind"], []).append(_plain(block["kind"], text))
        self.prose = [text for text in self.texts.get("p", []) if len(text) >= 90]

    def draw(self, rng: random.Random, kind: str, most: int = 1500) -> str:
        """A text of this kind of at most about so many characters. Of headings and list items there
        are few, and so the beginnings of paragraphs stand in for half of them."""
        if kind in ("h1", "h2", "h3") and rng.random() < 0.5:
            words = self.draw(rng, "p").split()[: rng.choice([1, 2, 2, 3, 3, 4, 5, 7, 9])]
            start = " ".join(words)[:most].strip(" .,:;-")
            return start[:1].upper() + start[1:] or "Note"
        if kind == "li" and rng.random() < 0.5:
            kind = "p"
        choices = (self.prose if kind == "p" else self.texts.get(kind)) or self.texts["p"]
        text = min((rng.choice(choices) for _ in range(6)), key=lambda t: max(len(t), most))
        if len(text) > most and kind != "code":
            text = text[:most].rsplit(" ", 1)[0]
        return text.strip() or "Note"


def _plain(kind: str, text: str) -> str:
    """A text without its own number, where documents number such blocks themselves, and without
    the marks that link to it."""
    if kind in ("h1", "h2", "h3", "li"):
        text = _NUMBER.sub("", text)
    return text.rstrip("¶") if kind != "code" else text


@dataclass(frozen=True)
class Composed:
    """A document: its HTML, to be printed on paper of so many points."""

    kind: str
    html: str
    width: float
    height: float


def compose(stock: Stock, rng: random.Random, held: bool) -> Composed:
    kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
    style = draw_style(rng, kind, held)
    writer = _Writer(stock, rng, style)
    body = getattr(writer, kind)()
    html = (
        f"<!doctype html><html lang=en><meta charset=utf-8><style>{style.css}</style>"
        f"<body><div class=page>{body}</div></body></html>"
    )
    return Composed(kind, html, style.width, style.height)


class _Writer:
    def __init__(self, stock: Stock, rng: random.Random, style: Style) -> None:
        self.stock, self.rng, self.style = stock, rng, style
        self.numbers = [rng.randint(1, 6), 0]
        self.tables = 0
        self.figures = rng.randint(0, 9)
        self.notes: list[str] = []

    # The documents.

    def report(self) -> str:
        title = self.title() if self.rng.random() < 0.6 else ""
        return self.furniture() + title + self.flow(self.section) + self.footnotes()

    def paper(self) -> str:
        head = ""
        if self.rng.random() < 0.5:
            head = self.title() + self.authors() + self.abstract()
        last = self.references if self.rng.random() < 0.3 else self.section
        return self.furniture() + head + self.flow(self.section, last) + self.footnotes()

    def letter(self) -> str:
        rng = self.rng
        sender = self.lines([self.person(), *self.street()], "right" if rng.random() < 0.6 else "")
        recipient = self.lines([self.person(), *self.street()])
        sides = f"<div class=sides><div>{recipient}</div><div>{sender}</div></div>"
        head = sides if rng.random() < 0.4 else f"{sender}<br>{recipient}<br>"
        dated = self.lines(
            [f"{rng.choice(records.CITIES)}, {records.date(rng)}"],
            "right" if rng.random() < 0.4 else "",
        )
        subject = f"<p class=plain data-k=p><b>{escape(self.words('h2', 70))}</b></p><br>"
        greeting = rng.choice(
            ["Dear Sir or Madam,", f"Dear {self.person()},", "To whom it concerns:"]
        )
        text = "".join(self.paragraph() for _ in range(rng.randint(2, 6)))
        if rng.random() < 0.3:
            text += self.items()
        close = rng.choice(["Yours sincerely,", "Kind regards,", "With best wishes,"])
        body = (
            f"{head}{dated}<br>{subject if rng.random() < 0.6 else ''}{self.p(greeting)}{text}"
            f"<br>{self.lines([close])}<br><br>{self.lines([self.person()])}"
        )
        return self.furniture(0.4) + self.framed(body)

    def invoice(self) -> str:
        rng = self.rng
        name = rng.choice(
            ["Invoice", "Receipt", "Order confirmation", "Delivery note", "Quotation"]
        )
        title = (
            f"<h1 data-k=h1>{name} {escape(records.code(rng)) if rng.random() < 0.4 else ''}</h1>"
        )
        parties = "".join(
            f"<div>{self.lines([label, self.person(), *self.street()])}</div>"
            for label in rng.sample(
                ["Bill to:", "Ship to:", "From:", "Customer"], rng.randint(1, 3)
            )
        )
        facts = "".join(self.pair() for _ in range(rng.randint(2, 5)))
        rows = [["Item", "Qty", "Unit price", "Amount"]]
        for _ in range(rng.randint(2, 14)):
            item = records.pick(rng, records.ITEMS)
            rows.append([item, str(rng.randint(1, 40)), records.number(rng), records.number(rng)])
        totals = "".join(self.pair() for _ in range(rng.randint(1, 4)))
        terms = "".join(self.paragraph(240) for _ in range(rng.randint(0, 2)))
        body = (
            f"{title}<div class=sides>{parties}</div>{facts}<br>{self.table_of(rows, 1)}"
            f"<br>{totals}<br>{terms}"
        )
        return self.furniture(0.5) + self.framed(body)

    def slide(self) -> str:
        rng = self.rng
        body = self.heading(1, 45)
        for _ in range(rng.randint(1, 3)):
            body += rng.choices(
                [lambda: self.items(90), lambda: self.paragraph(160), self.figure, self.table],
                [6, 2, 1, 1],
            )[0]()
        return self.furniture(0.5, ["foot"]) + self.framed(body)

    def book(self) -> str:
        rng = self.rng
        opening = self.heading(1) if rng.random() < 0.25 else ""
        first = self.stock.draw(rng, "p")
        # A page begins amid a sentence as often as not.
        cut = first.find(" ", len(first) // 3) + 1
        start = f'<p data-k=p style="text-indent: 0">{self.text(first[cut:])}</p>'
        kinds: list[Callable[[], str]] = [self.paragraph, self.quote, self.subsection, self.items]

        def part() -> str:
            return rng.choices(kinds, [12, 0.8, 0.8, 0.4])[0]()

        return (
            self.furniture(0.9)
            + self.flow(*[part] * 14, head=opening if opening else start)
            + self.footnotes()
        )

    def form(self) -> str:
        rng = self.rng
        body = self.heading(1, 60) + (self.paragraph(300) if rng.random() < 0.6 else "")
        for _ in range(rng.randint(2, 4)):
            body += self.heading(2, 40)
            body += "".join(self.field() for _ in range(rng.randint(2, 7)))
            if rng.random() < 0.4:
                body += self.table()
        body += self.paragraph(400)
        return self.furniture(0.7) + self.framed(body)

    def newspaper(self) -> str:
        rng = self.rng

        def article() -> str:
            head = self.heading(2, 60) + (
                f"<p class=plain data-k=p>By {escape(self.person())}</p>"
                if rng.random() < 0.5
                else ""
            )
            body = "".join(self.paragraph() for _ in range(rng.randint(2, 5)))
            return head + body + (self.figure() if rng.random() < 0.3 else "")

        head = self.heading(1, 50) if rng.random() < 0.7 else ""
        return self.furniture(0.9) + head + self.flow(*[article] * 6)

    def manual(self) -> str:
        rng = self.rng
        kinds: list[Callable[[], str]] = [
            self.paragraph, self.code, self.items, self.aside, self.table, self.figure,
        ]  # fmt: skip

        def part() -> str:
            body = self.heading(rng.choice([2, 2, 3]))
            for _ in range(rng.randint(1, 5)):
                body += rng.choices(kinds, [6, 3, 3, 1, 0.8, 0.5])[0]()
            return body

        head = self.heading(1) if rng.random() < 0.4 else ""
        return self.furniture(0.8) + head + self.flow(*[part] * 5) + self.footnotes()

    # Their parts.

    def flow(self, *parts: Callable[[], str], head: str = "") -> str:
        """What fills the columns, more of it than there is room for, more often than not."""
        written = head + "".join(part() for part in parts)
        while len(written) < 9000 and self.rng.random() < 0.8:
            written += parts[0]()
        return f"<div class='flow clip'>{written}</div>"

    def framed(self, body: str) -> str:
        return f"<div class='flow clip'>{body}</div>"

    def section(self) -> str:
        rng = self.rng
        body = self.heading(2) if rng.random() < 0.85 else ""
        kinds: list[Callable[[], str]] = [
            self.paragraph, self.subsection, self.items, self.table, self.figure, self.formula,
            self.quote, self.aside, self.code,
        ]  # fmt: skip
        for _ in range(rng.randint(2, 6)):
            body += rng.choices(kinds, [10, 2, 1.5, 1.2, 0.9, 0.8, 0.4, 0.4, 0.3])[0]()
        return body

    def subsection(self) -> str:
        return self.heading(3) + self.paragraph()

    def title(self) -> str:
        return self.heading(1)

    def heading(self, level: int, most: int = 80) -> str:
        rng, number = self.rng, ""
        if self.style.numbered and level > 1:
            if level == 2:
                self.numbers = [self.numbers[0] + 1, 0]
                number = f"{self.numbers[0]}{rng.choice(['', '.'])} "
            else:
                self.numbers[1] += 1
                number = f"{self.numbers[0]}.{self.numbers[1]} "
        kind = rng.choice(["h1", "h2", "h3"])
        text = self.words(kind, most)
        shown = text.upper() if rng.random() < 0.05 else text
        return f"<h{level} data-k=h{level}>{number}{escape(shown)}</h{level}>"

    def authors(self) -> str:
        count = self.rng.randint(1, 3)
        blocks = ""
        for _ in range(count):
            lines = [self.person(), *self.street()[: self.rng.randint(0, 2)]]
            blocks += f"<div>{self.lines(lines, own_side=True)}</div>"
        return f"<div class=authors>{blocks}</div>"

    def abstract(self) -> str:
        head = self.rng.choice(["<b>Abstract.</b> ", "<b>Abstract</b> ", "<i>Summary:</i> ", ""])
        text = self.text(self.stock.draw(self.rng, "p", 900))
        return f'<div class=abstract><p data-k=p style="text-indent: 0">{head}{text}</p></div>'

    def paragraph(self, most: int = 1500) -> str:
        rng = self.rng
        text = self.text(self.stock.draw(rng, "p", most))
        if rng.random() < 0.06:
            start = escape(self.words("h3", 30))
            text = f"<b>{start}.</b> {text}"
        if rng.random() < 0.06 and self.style.columns < 4:
            mark = len(self.notes) + 1
            note = self.stock.draw(rng, rng.choice(["fn", "p"]), 220)
            self.notes.append(
                f"<p data-k=fn style='text-indent: 0'><sup>{mark}</sup> {self.text(note)}</p>"
            )
            text += f"<sup>{mark}</sup>"
        return f"<p data-k=p>{text}</p>"

    def p(self, text: str) -> str:
        return f"<p data-k=p>{escape(text)}</p>"

    def text(self, text: str) -> str:
        """Inline HTML: a word or two in another look, and places to break words."""
        rng = self.rng
        words = []
        for word in text.split():
            shown = escape(word)
            if self.style.hyphenated and len(word) > 5 and word.isalpha():
                shown = _BREAK.sub("\u00ad", word)
            if rng.random() < 0.012:
                tag = rng.choice(["b", "i", "i", "code", "a"])
                shown = f"<{tag}>{shown}</{tag}>"
            words.append(shown)
        return " ".join(words)

    def items(self, most: int = 300) -> str:
        rng, written = self.rng, ""
        style = rng.choice(["bullet", "bullet", "1.", "(a)", "1)"])
        most = rng.choice([40, 120, most])
        for n in range(rng.randint(2, 7)):
            bullet = {"bullet": self.style.bullet, "1.": f"{n + 1}.", "1)": f"{n + 1})"}.get(
                style, f"({'abcdefg'[n]})"
            )
            written += self.item(bullet, most)
            if rng.random() < 0.1:
                deep = "".join(self.item("–", most, " deep") for _ in range(rng.randint(1, 3)))
                written += deep
        return written

    def item(self, bullet: str, most: int, more: str = "") -> str:
        text = self.text(self.stock.draw(self.rng, "li", most))
        return f"<div class='li{more}' data-k=li><span class=b>{bullet}</span> {text}</div>"

    def references(self) -> str:
        rng = self.rng
        body = f"<h2 data-k=h2>{rng.choice(['References', 'Bibliography', 'Literature'])}</h2>"
        for n in range(rng.randint(5, 16)):
            text = re.sub(r"^\[\d+\] ", "", records.reference(rng))
            body += (
                f"<div class=li data-k=li><span class=b>[{n + 1}]</span> {self.text(text)}</div>"
            )
        return body

    def table(self) -> str:
        rng = self.rng
        columns = rng.randint(2, 7 if self.style.columns == 1 else 4)
        numeric = rng.random() < 0.6
        rows = [[records.topics(rng, rng.randint(1, 2)).title() for _ in range(columns)]]
        for _ in range(rng.randint(2, 12)):
            row = [self.stock.draw(rng, "cell", 40)]
            for _ in range(columns - 1):
                row.append(records.number(rng) if numeric else self.stock.draw(rng, "cell", 40))
            rows.append([cell if rng.random() > 0.04 else "" for cell in row])
        caption = (
            f"<p class=cap data-k=cap>{self.caption('Table')}</p>" if rng.random() < 0.7 else ""
        )
        body = self.table_of(rows, 1, spans=rng.random() < 0.25 and columns > 2)
        return caption + body if self.style.caption_above else body + caption

    def table_of(self, rows: list[list[str]], heads: int, spans: bool = False) -> str:
        rng, written, number = self.rng, "", 0
        self.tables += 1
        align = [rng.choice(["left", "left", "center", "right"]) for _ in rows[0]]
        if spans:
            cut = rng.randint(1, len(rows[0]) - 1)
            top = [(1, ""), (cut - 1, "")] if cut > 1 else [(1, "")]
            top.append((len(rows[0]) - cut, records.topics(rng, 2).title()))
            written += "<tr>" + "".join(
                f"<th colspan={wide} data-k=td data-t={self.tables} data-r=0>{escape(text)}</th>"
                for wide, text in top
            )
            number = 1
        for n, row in enumerate(rows):
            tag = "th" if n < heads else "td"
            cells = "".join(
                f'<{tag} data-k=td data-t={self.tables} data-r={number} style="text-align:{side}">'
                f"{escape(cell)}</{tag}>"
                for cell, side in zip(row, align, strict=True)
            )
            written += f"<tr{' class=top' if n < heads else ''}>{cells}</tr>"
            number += 1
        return f"<table>{written}</table>"

    def pair(self) -> str:
        label, value = records.label(self.rng), records.cell(self.rng)
        return f"<p class=plain data-k=p>{escape(label)} {escape(value)}</p>"

    def field(self) -> str:
        label = escape(records.label(self.rng))
        if self.rng.random() < 0.3:
            options = self.rng.sample(["Yes", "No", "Other", "Unknown", "Not applicable"], 3)
            boxes = " ".join(f"☐ {each}" for each in options)
            return f"<p class=plain data-k=p>{label} {boxes}</p>"
        return f"<p class=field data-k=p><span>{label}</span><span class=blank></span></p>"

    def figure(self) -> str:
        rng = self.rng
        wide, high = rng.uniform(120, 300), rng.uniform(60, 160)
        colours = [rng.choice(["#4472c4", "#999", "#c0504d", "#70ad47", "#333"]) for _ in range(3)]
        kind = rng.choice(["bars", "lines", "boxes"])
        shapes = ""
        for n in range(rng.randint(4, 9)):
            x, y = (n + 0.4) * wide / 10, rng.uniform(0.1, 0.8) * high
            colour = rng.choice(colours)
            if kind == "bars":
                shapes += f"<rect x={x} y={y} width={wide / 14} height={high - y} fill='{colour}'/>"
            elif kind == "lines":
                points = " ".join(
                    f"{i * wide / 12},{rng.uniform(0.1, 0.9) * high}" for i in range(12)
                )
                shapes += f"<polyline points='{points}' fill=none stroke='{colour}'/>"
            else:
                x, y = (n % 3 + 0.1) * wide / 3, (n // 3 + 0.2) * high / 3
                shapes += (
                    f"<rect x={x} y={y} width={wide / 4} height={high / 5} fill=none "
                    f"stroke='{colour}'/><text x={x + 3} y={y + high / 8} font-size=7>"
                    f"{rng.choice(records.TOPICS)}</text> "
                )
        axes = f"<path d='M0 0V{high}H{wide}' fill=none stroke='#333'/>" if kind != "boxes" else ""
        drawn = (
            f"<svg class=figure data-k=figure width={wide}pt viewBox='0 0 {wide} {high}'>"
            f"{shapes}{axes}</svg>"
        )
        return f"{drawn}<p class=cap data-k=cap>{self.caption('Figure')}</p>"

    def caption(self, name: str) -> str:
        self.figures += 1
        name = self.rng.choice([name, name, "Fig."]) if name == "Figure" else name
        if self.rng.random() < 0.5:
            text = records.caption(self.rng).split(" ", 2)[2]
        else:
            text = self.stock.draw(self.rng, "p", 160)
        label = f"{name} {self.figures}{self.rng.choice(':.')}"
        return f"{f'<b>{label}</b>' if self.rng.random() < 0.4 else label} {self.text(text)}"

    def formula(self) -> str:
        rng = self.rng
        terms = []
        for _ in range(rng.randint(2, 5)):
            term = rng.choice(LETTERS)
            if rng.random() < 0.5:
                tag = rng.choice(["sub", "sup"])
                term += f"<{tag}>{rng.choice(['i', 'n', 'k', '2', 'ij', '0'])}</{tag}>"
            terms.append(term)
        text = terms[0]
        for term in terms[1:]:
            text += f" {rng.choice(SYMBOLS)} {term}"
        number = f" &emsp; ({rng.randint(1, 30)})" if rng.random() < 0.4 else ""
        return f"<p class=formula data-k=p>{text}{number}</p>"

    def code(self) -> str:
        text = self.stock.draw(self.rng, "code")
        lines = [line.expandtabs(4).rstrip() for line in text.split("\n")]
        kept = "\n".join([line for line in lines if line][:14])
        return f"<div class=pre data-k=code>{escape(kept)}</div>"

    def quote(self) -> str:
        return f"<div class=quote>{self.paragraph(500)}</div>"

    def aside(self) -> str:
        head = self.heading(3, 40) if self.rng.random() < 0.6 else ""
        return f"<div class=aside>{head}{self.paragraph(400)}</div>"

    def footnotes(self) -> str:
        ruled = " ruled" if self.rng.random() < 0.7 else ""
        return f"<div class='notes{ruled}'>{''.join(self.notes[:3])}</div>" if self.notes else ""

    def furniture(self, often: float = 0.7, places: Sequence[str] = ("head", "foot")) -> str:
        """Running headers and footers."""
        rng, written = self.rng, ""
        for place in places:
            if rng.random() < often:
                texts = [records.furniture(rng) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
                if place == "foot" and rng.random() < 0.6:
                    texts = [str(rng.randint(1, 400))]
                middle = " middle" if len(texts) == 1 and rng.random() < 0.5 else ""
                spans = "".join(f"<span data-k=furniture>{escape(text)}</span>" for text in texts)
                written += f"<div class='{place}{middle}'>{spans}</div>"
        return written

    def lines(self, texts: list[str], more: str = "", own_side: bool = False) -> str:
        side = ' style="text-align: inherit"' if own_side else ""
        shown = "\n".join(map(escape, texts))
        return f"<p class='plain {more}' data-k=p{side}>{shown}</p>"

    def words(self, kind: str, most: int) -> str:
        return re.sub(r"\s+", " ", self.stock.draw(self.rng, kind, most)).strip(" .:")

    def person(self) -> str:
        return f"{self.rng.choice(records.NAMES)} {self.rng.choice(records.SURNAMES)}"

    def street(self) -> list[str]:
        rng = self.rng
        street = f"{rng.randint(1, 250)} {records.pick(rng, records.STREETS)}"
        return [street, f"{rng.randint(1000, 99999)} {rng.choice(records.CITIES)}"]
