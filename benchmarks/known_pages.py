"""Pages of our own making whose every word is known: typeset, then photographed badly.

The prose is the Python manual that ships with the standard library, the rest invented records;
the fonts are MuPDF's own. Nothing has to be downloaded, and a seed always gives the same words.
"""

from __future__ import annotations

import html
import io
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pydoc_data.topics import topics

import cv2
import numpy as np
import pymupdf
from numpy.typing import NDArray
from PIL import Image

from models import records

Pixels = NDArray[np.uint8]

FONTS = ["serif", "sans-serif", "Helvetica", "Times", "monospace"]
HELD = 3
"""One passage of prose in so many is kept for documents that nothing is fitted to."""
DPI = 150


@dataclass
class KnownPage:
    """A document of one page as the bytes of a file, with the words that are printed on it."""

    name: str
    suffix: str
    data: bytes
    words: list[str]


def passages(held: bool) -> list[str]:
    """Paragraphs of prose, of 80 to 600 characters."""
    found = [
        re.sub(r"\s+", " ", re.sub(r"[*`]+", "", passage)).strip()
        for topic in topics.values()
        for passage in topic.split("\n\n")
    ]
    prose = [each for each in found if 80 <= len(each) <= 600 and "  " not in each]
    return [each for i, each in enumerate(prose) if (i % HELD == 0) == held]


def typeset(rng: random.Random, prose: list[str]) -> tuple[bytes, list[str]]:
    """A PDF page with a heading, paragraphs, a list and a table, and its words."""
    cells = [[records.cell(rng) for _ in range(3)] for _ in range(rng.randint(2, 5))]
    paragraphs = rng.sample(prose, 4)
    items = [records.facts(rng) for _ in range(3)]
    heading = records.topics(rng, 3).title()
    table = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in cells
    )
    body = (
        f"<h2>{html.escape(heading)}</h2>"
        + "".join(f"<p>{html.escape(each)}</p>" for each in paragraphs)
        + "".join(f"<p>{html.escape(each)}</p>" for each in items)
        + f"<table>{table}</table>"
    )
    size = rng.choice([8, 9, 10, 11, 12])
    style = (
        f"* {{font-family: {rng.choice(FONTS)}}} body {{font-size: {size}pt}} td {{padding: 4px}}"
    )
    document = pymupdf.open()
    page = document.new_page()
    spare, _ = page.insert_htmlbox(pymupdf.Rect(50, 50, 545, 792), body, css=style)
    assert spare >= 0, "the page is too full"
    texts = [heading, *paragraphs, *items, *(cell for row in cells for cell in row)]
    return document.tobytes(garbage=3, deflate=True), [w for text in texts for w in text.split()]


def picture(pdf: bytes) -> Pixels:
    """Grey picture of the page ``[height, width]``."""
    with pymupdf.open("pdf", pdf) as document:
        pixmap = document[0].get_pixmap(dpi=DPI, colorspace=pymupdf.csGRAY)
        return np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width)


def clean(image: Pixels, rng: random.Random) -> Pixels:
    return image


def blurred(image: Pixels, rng: random.Random, most: float = 3.0) -> Pixels:
    return np.asarray(cv2.GaussianBlur(image, (0, 0), rng.uniform(0.8, most)), np.uint8)


def noisy(image: Pixels, rng: random.Random) -> Pixels:
    noise = np.random.default_rng(rng.getrandbits(32)).normal(0, rng.uniform(20, 110), image.shape)
    return (image + noise).clip(0, 255).astype(np.uint8)


def coarsened(image: Pixels, scale: float) -> Pixels:
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8)


def coarse(image: Pixels, rng: random.Random) -> Pixels:
    """Scanned at 40 to 90 dpi."""
    return coarsened(image, rng.uniform(40, 90) / DPI)


def squeezed(image: Pixels, rng: random.Random) -> Pixels:
    """JPEG of the worst qualities, at half the resolution."""
    _, coded = cv2.imencode(
        ".jpg", coarsened(image, 0.6), [cv2.IMWRITE_JPEG_QUALITY, rng.randint(4, 30)]
    )
    return np.asarray(cv2.imdecode(coded, cv2.IMREAD_GRAYSCALE), np.uint8)


def skewed(image: Pixels, rng: random.Random) -> Pixels:
    turned = Image.fromarray(image).rotate(
        rng.uniform(-8, 8), Image.Resampling.BICUBIC, fillcolor=255
    )
    return blurred(np.asarray(turned), rng, 1.6)


def faxed(image: Pixels, rng: random.Random) -> Pixels:
    """Black and white at 100 dots an inch, with specks and torn edges."""
    small = coarsened(image, 0.66)
    shaky = noisy(small, rng) if rng.random() < 0.5 else small
    return np.where(shaky > rng.randint(110, 210), 255, 0).astype(np.uint8)


FAULTS: dict[str, Callable[[Pixels, random.Random], Pixels]] = {
    "clean": clean,
    "blurred": blurred,
    "noisy": noisy,
    "coarse": coarse,
    "JPEG": squeezed,
    "skewed": skewed,
    "faxed": faxed,
}
KINDS = [*FAULTS, "text layer", "broken map"]


def broken_map(pdf: bytes, rng: random.Random) -> bytes:
    """The same page, with a character map that is wrong for some letters: of one or two it says
    other letters, or nothing that is a character."""
    with pymupdf.open("pdf", pdf) as document:
        lost = rng.random() < 0.5
        changed = {
            letter: 0xFFFD if lost else ord(rng.choice("abcdefgh"))
            for letter in rng.sample("aeglmorst", rng.randint(1, 2))
        }
        for xref in range(1, document.xref_length()):
            if document.xref_is_stream(xref) and b"begincmap" in (
                stream := document.xref_stream(xref)
            ):
                document.update_stream(xref, _remapped(stream.decode("latin-1"), changed).encode())
        return bytes(document.tobytes())


def _remapped(cmap: str, changed: dict[str, int]) -> str:
    """A ToUnicode map whose ranges are single codes, some of which mean something else."""
    codes: dict[int, int] = {}
    for row in re.findall(r"^(?:<\w{4}> ?){2,3}$", cmap, re.M):
        first, *last, meaning = (int(number, 16) for number in re.findall(r"\w{4}", row))
        for i in range(1 + (last[0] - first if last else 0)):
            codes[first + i] = meaning + i
    rows = [
        f"<{code:04x}> <{changed.get(chr(meaning), meaning):04x}>"
        for code, meaning in codes.items()
    ]
    head, tail = cmap[: re.search(r"\d+ beginbf", cmap).start()], "endcmap\n"  # type: ignore[union-attr]
    parts = [rows[i : i + 100] for i in range(0, len(rows), 100)]
    body = "".join(
        f"{len(part)} beginbfchar\n" + "\n".join(part) + "\nendbfchar\n" for part in parts
    )
    return f"{head}{body}{tail}CMapName currentdict /CMap defineresource pop\nend\nend\n"


def file_of(image: Pixels) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, "PNG")
    return stream.getvalue()


def known_pages(
    each: int, *, held: bool, kinds: Sequence[str] = KINDS, seed: int = 0
) -> list[KnownPage]:
    """So many pages of each of the ``kinds``. Held ones have other prose, and half of their
    pictures a second fault, which the others never have."""
    prose = passages(held)
    pages = []
    for kind in kinds:
        for i in range(each):
            rng = random.Random(f"{seed} {held} {kind} {i}")
            pdf, words = typeset(rng, prose)
            name = f"{kind} {i}"
            if kind in FAULTS:
                image = FAULTS[kind](picture(pdf), rng)
                if held and i % 2:
                    other = rng.choice(["noisy", "JPEG", "skewed"])
                    image, name = FAULTS[other](image, rng), f"{kind} and {other} {i}"
                pages.append(KnownPage(name, ".png", file_of(image), words))
            else:
                data = broken_map(pdf, rng) if kind == "broken map" else pdf
                pages.append(KnownPage(name, ".pdf", data, words))
    return pages
