"""Makes the sample documents and their expected Markdown from ``sources/*.html``.

Each source is printed to PDF with Chromium; scans and photos are made from the printed pages
with a fixed seed. The same source gives ``expected/NAME.md``: text in reading order without
running headers and footers, tables as HTML, formulas as LaTeX. Run it from anywhere:

    python samples/make_samples.py [NAME ...]

Needs Chromium, the fonts named in README.md, and the packages latex2mathml, lxml, numpy,
opencv-python, pillow and pymupdf.
"""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import latex2mathml.converter
import lxml.html
import numpy as np
import pymupdf
from lxml.html import HtmlElement
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[Any]
"""Grey (height, width) or colour (height, width, 3), float32, 0 black to 255 white."""

HERE = Path(__file__).parent
SOURCES = HERE / "sources"
EXPECTED = HERE / "expected"
TEX = re.compile(r'<(span|div) class="tex"(?: data-number="(\d+)")?>(.*?)</\1>', re.DOTALL)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
CELL_TAGS = {"th", "td"}


def print_pdf(name: str) -> pymupdf.Document:
    """``sources/NAME.html`` as PDF, formulas typeset, with a fixed date and no random id."""
    source = TEX.sub(typeset, (SOURCES / f"{name}.html").read_text("utf-8"))
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("Chromium was not found; install it (Debian: apt-get install chromium).")
    with tempfile.TemporaryDirectory() as folder:
        page, printed = Path(folder, "page.html"), Path(folder, "page.pdf")
        page.write_text(source, "utf-8")
        subprocess.run(
            [
                chromium,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-pdf-tagging",
                "--no-pdf-header-footer",
                f"--print-to-pdf={printed}",
                str(page),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )
        document = pymupdf.open(stream=printed.read_bytes(), filetype="pdf")
    title = (document.metadata or {}).get("title", name)
    dates = dict.fromkeys(("creationDate", "modDate"), "D:20250101000000Z")
    document.set_metadata({"title": title, "creator": "make_samples.py", **dates})
    return document


def typeset(match: re.Match[str]) -> str:
    """A ``tex`` element as MathML; a ``div`` is a display, with its number at the right."""
    tag, number, tex = match[1], match[2], html.unescape(match[3])
    display = "block" if tag == "div" else "inline"
    mathml = latex2mathml.converter.convert(tex, display=display)
    if tag == "span":
        return mathml
    return f'<div class="equation">{mathml}<span>{f"({number})" if number else ""}</span></div>'


# --- Expected Markdown -----------------------------------------------------------------


def markdown(name: str, pages: int | None = None) -> str:
    """The text of ``sources/NAME.html``, or of its first ``pages`` page sections.

    A paragraph of class ``continued`` goes on with the one of class ``runs-on``; what is of
    class ``furniture`` repeats on every page and is left out.
    """
    root = lxml.html.fromstring((SOURCES / f"{name}.html").read_text("utf-8"))
    body = root.find("body")
    sections = body.findall("section")[:pages] or [body]
    blocks: list[str] = []
    for section in sections:
        add_blocks(section, blocks)
    return "\n\n".join(block.replace("\a", "") for block in blocks) + "\n"


def add_blocks(parent: HtmlElement, blocks: list[str]) -> None:
    """Appends what stands in ``parent``; a bell marks the paragraph that runs on."""
    for element in parent.iterchildren("*"):
        classes = element.get("class", "").split()
        if "furniture" in classes or element.tag == "style":
            continue
        if level := HEADINGS.get(element.tag):
            blocks.append(f"{'#' * level} {inline(element)}")
        elif element.tag in ("ul", "ol"):
            blocks.append("\n".join(list_lines(element)))
        elif element.tag == "table":
            blocks.append(table(element))
        elif element.tag == "pre":
            blocks.append(f"```\n{element.text_content().strip()}\n```")
        elif "tex" in classes:
            number = element.get("data-number")
            tag = f" \\tag{{{number}}}" if number else ""
            blocks.append(f"$$\n{element.text_content().strip()}{tag}\n$$")
        elif element.tag == "svg":
            blocks.append(f"<!-- figure: {parent.get('aria-label')} -->")
        elif element.tag not in ("p", "figcaption"):
            add_blocks(element, blocks)
        elif "continued" in classes:
            open_at = next(at for at in reversed(range(len(blocks))) if "\a" in blocks[at])
            blocks[open_at] = f"{blocks[open_at][:-1]} {inline(element)}"
        else:
            blocks.append(inline(element) + ("\a" if "runs-on" in classes else ""))


def inline(element: HtmlElement) -> str:
    """Text with lines as in the source's ``<br>``, formulas in dollars, ``<sup>`` kept."""
    parts = [one_line(element.text)]
    for child in element:
        if child.tag == "br":
            parts.append("\n")
        elif child.tag == "sup":
            parts.append(f"<sup>{inline(child)}</sup>")
        elif child.get("class") == "tex":
            parts.append(f"${child.text_content()}$")
        elif child.tag not in ("ul", "ol", "svg"):
            parts.append(f" {inline(child)} " if child.get("class") else inline(child))
        parts.append(one_line(child.tail))
    return re.sub(r" *\n *", "\n", re.sub(r" +", " ", "".join(parts))).strip()


def one_line(text: str | None) -> str:
    return (text or "").replace("\n", " ")


def list_lines(element: HtmlElement, indent: str = "") -> list[str]:
    lines = []
    for number, item in enumerate(element.findall("li"), start=1):
        marker = f"{number}." if element.tag == "ol" else "-"
        lines.append(f"{indent}{marker} {inline(item)}")
        for nested in item.iterchildren("ul", "ol"):
            lines += list_lines(nested, indent + " " * (len(marker) + 1))
    return lines


def table(element: HtmlElement) -> str:
    rows = ["".join(cell(c) for c in row if c.tag in CELL_TAGS) for row in element.iter("tr")]
    return "\n".join(["<table>", *(f"<tr>{row}</tr>" for row in rows), "</table>"])


def cell(element: HtmlElement) -> str:
    spans = "".join(
        f' {name}="{element.get(name)}"' for name in ("rowspan", "colspan") if element.get(name)
    )
    text = html.escape(inline(element), quote=False)
    return f"<{element.tag}{spans}>{text}</{element.tag}>"


# --- Scans and photos ------------------------------------------------------------------


def rendered(page: pymupdf.Page, dpi: int) -> Pixels:
    pixmap = page.get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY)
    return np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.h, pixmap.w).astype(np.float32)


def smooth_noise(shape: tuple[int, ...], scale: int, rng: np.random.Generator) -> Pixels:
    """Standard normal noise whose grains are about ``scale`` pixels wide."""
    small = rng.standard_normal((shape[0] // scale + 2, shape[1] // scale + 2)).astype(np.float32)
    return cv2.resize(small, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC)


def scan(page: pymupdf.Page, degrees: float, rng: np.random.Generator, dpi: int = 170) -> Pixels:
    """``page`` as an office scanner would give it: skewed, soft, noisy, on grey paper."""
    paper = rendered(page, dpi)
    height, width = paper.shape
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
    ink = cv2.warpAffine(255 - paper, turn, (width, height), flags=cv2.INTER_CUBIC)
    ink = cv2.GaussianBlur(ink, (0, 0), 0.9)
    ink = ink * (0.78 + 0.05 * smooth_noise(paper.shape, 60, rng))
    grey = 216 + 4 * smooth_noise(paper.shape, 400, rng) + 2 * smooth_noise(paper.shape, 3, rng)
    edge = np.linspace(0, 1, width, dtype=np.float32)
    grey -= 70 * np.exp(-edge / 0.012)  # the shadow at the spine
    specks = cv2.GaussianBlur((rng.random(paper.shape) > 0.99997).astype(np.float32), (0, 0), 1.1)
    noise = 5 * rng.standard_normal(paper.shape).astype(np.float32)
    return np.clip(grey - ink - 900 * specks + noise, 0, 255)


def photo(page: pymupdf.Page, rng: np.random.Generator) -> Pixels:
    """``page`` as a slip of paper on a table, seen by a telephone held at a slant."""
    slip = rendered(page, 300)
    slip = 238 - 0.86 * (255 - cv2.GaussianBlur(slip, (0, 0), 1.2))
    slip += 2.5 * smooth_noise(slip.shape, 5, rng)
    slip = curled(slip)
    height, width = 2000, 1500
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    seen = np.array([[300, 190], [1122, 150], [1262, 1752], [172, 1718]], np.float32)
    size = np.array([slip.shape[1], slip.shape[0]], np.float32)
    onto = cv2.getPerspectiveTransform(corners * size, seen)
    scene = wood(height, width, rng)
    mask = cv2.warpPerspective(np.ones_like(slip), onto, (width, height))[..., None]
    shadow = cv2.GaussianBlur(np.roll(mask[..., 0], (26, 18), (0, 1)), (0, 0), 22)[..., None]
    paper = cv2.warpPerspective(slip, onto, (width, height), flags=cv2.INTER_AREA)
    tint = np.array([1.0, 0.985, 0.945], np.float32)
    scene = scene * (1 - 0.6 * shadow) * (1 - mask) + paper[..., None] * tint * mask
    y, x = np.mgrid[0 : 1 : height * 1j, 0 : 1 : width * 1j].astype(np.float32)
    light = 1.06 - 0.42 * (0.55 * x + 0.45 * y) ** 1.5
    light -= 0.20 / (1 + np.exp(-(x + 0.8 * y - 1.28) / 0.035))  # the shadow of the hand
    scene = cv2.GaussianBlur(scene * light[..., None], (0, 0), 0.8)
    return np.clip(scene + 4 * rng.standard_normal(scene.shape).astype(np.float32), 0, 255)


def curled(slip: Pixels) -> Pixels:
    """Paper from a roll: lines bend, and the light follows the bend."""
    height, width = slip.shape
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    bend = 16 * np.sin(np.pi * x / width)
    shade = 1 - 0.08 * np.sin(2 * np.pi * (y / height + 0.1)) ** 2
    return cv2.remap(slip, x, y + bend, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE) * shade


def wood(height: int, width: int, rng: np.random.Generator) -> Pixels:
    """A table top: grain stretched along y, darker seams between the boards."""
    grain = smooth_noise((height // 40, width), 3, rng)
    grain = cv2.resize(grain, (width, height), interpolation=cv2.INTER_CUBIC)
    grain = grain + 0.7 * smooth_noise((height, width), 90, rng)
    tone: Pixels = 112 + 9 * grain
    for seam in (90, 620, 1385):
        tone[:, seam : seam + 5] *= 0.55
    return tone[..., None] * np.array([1.08, 0.80, 0.56], np.float32)


def image(pixels: Pixels) -> Image.Image:
    return Image.fromarray(pixels.round().astype(np.uint8))


# --- The samples -----------------------------------------------------------------------


def write_pdf(name: str) -> None:
    print_pdf(name).ez_save(HERE / f"{name}.pdf", no_new_id=True)
    expect(name, markdown(name))


def expect(name: str, text: str) -> None:
    (EXPECTED / f"{name}.md").write_text(text, "utf-8")


def write_report_scan() -> None:
    """The report's first two pages as an image-only PDF."""
    rng = np.random.default_rng(1)
    printed = print_pdf("report")
    pages = [image(scan(printed[at], degrees, rng)) for at, degrees in enumerate((1.1, -0.8))]
    with tempfile.TemporaryDirectory() as folder, pymupdf.open() as scans:
        for at, picture in enumerate(pages):
            file = Path(folder, f"{at}.jpg")
            picture.save(file, quality=42)
            page = scans.new_page(width=printed[at].rect.width, height=printed[at].rect.height)
            page.insert_image(page.rect, filename=file)
        scans.ez_save(HERE / "report-scan.pdf", no_new_id=True)
    expect("report-scan", markdown("report", pages=2))


def write_paper_scan() -> None:
    """The paper's first page as TIFF."""
    picture = image(scan(print_pdf("paper")[0], -0.9, np.random.default_rng(2), dpi=200))
    picture.save(HERE / "paper-scan.tif", compression="jpeg", quality=45, dpi=(200, 200))
    expect("paper-scan", markdown("paper", pages=1))


def write_receipt() -> None:
    picture = image(photo(print_pdf("receipt")[0], np.random.default_rng(3)))
    picture.save(HERE / "receipt.jpg", quality=72)
    expect("receipt", markdown("receipt"))


PRINTED = ("report", "paper", "invoice", "slides", "form", "handbook", "letter", "languages")
SAMPLES: dict[str, Callable[[], None]] = {
    **{name: partial(write_pdf, name) for name in PRINTED},
    "report-scan": write_report_scan,
    "paper-scan": write_paper_scan,
    "receipt": write_receipt,
}


def main() -> None:
    EXPECTED.mkdir(exist_ok=True)
    for name in sys.argv[1:] or SAMPLES:
        SAMPLES[name]()
        print(name)


if __name__ == "__main__":
    main()
