"""Render blocks line by line, degrade them like scans, and store what the vision tower sees.

    python -m models.render models/data/corpus.jsonl models/data/train --shards 40
    python -m models.render models/data/corpus.jsonl models/data/held --shards 1 --held

The tower (the PP-OCRv6 recogniser) reads one line at a time, so a line's glyphs do not
depend on where on a page it stands: lines are rendered once, and `models.layouts` places
them on as many invented pages as training asks for. Held-out shards use held-out text and
held-out fonts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hsd_docparse.draft.recognizer import Recognizer

BLOCKS_A_SHARD = 500
HELD_FONTS = 12
"""One font in this many is held out."""
NOT_TEXT = re.compile(
    r"(?i)symbol|emoji|dingbat|opens___|math|music|braille|barcode|icon|awesome|fontello|"
    r"wingding|bengali|devanagari|arabic|hebrew|thai|tamil|ancient|ocr-?[ab]|radisnoir|rufscript|"
    r"initials|mtextra|esint|cmex|cmsy|lmmath|last|nastaliq|kufi|naskh|adlam|signwriting"
)


@dataclass
class RenderedLine:
    """``target`` is the text that is printed, ``read`` what the recogniser made of it;
    ``first`` and ``glyphs`` say where its glyphs are in the shard's array; width and height
    are in ems of the block's font. ``glued``: the next line goes on without a space."""

    target: str
    read: str
    sure: list[float]
    first: int
    glyphs: int
    width: float
    height: float
    glued: bool


def fonts(held: bool) -> list[str]:
    """Paths of installed text fonts, of those held out or of the others; of Pillow's own font,
    which then is in both, where there is none."""
    try:
        listed = subprocess.run(
            ["fc-list", ":", "file"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        listed = ""
    paths = sorted({line.rstrip(": ") for line in listed.split("\n") if line.strip()})
    paths = [p for p in paths if p.endswith((".ttf", ".otf", ".ttc"))]
    paths = [p for p in paths if not NOT_TEXT.search(Path(p).name)]
    # Noto holds a font for every script, nearly all without Latin letters.
    paths = [
        p
        for p in paths
        if "Noto" not in p
        or re.search(r"Noto(Sans|Serif|Mono|SansCJK|SerifCJK)(Mono|Display)?-", p)
    ]
    chosen = [
        p for p in paths if (hashlib.sha256(p.encode()).digest()[0] % HELD_FONTS == 0) == held
    ]
    return chosen or [_spare_font()]


@cache
def _spare_font() -> str:
    from PIL import ImageFont

    with tempfile.NamedTemporaryFile(suffix=".ttf", delete=False) as file:
        stored: Any = ImageFont.load_default(20)
        file.write(stored.path.getvalue())
    return file.name


@lru_cache(maxsize=512)
def covered(path: str) -> frozenset[int]:
    from fontTools.ttLib import TTCollection, TTFont

    try:
        font = TTCollection(path).fonts[0] if path.endswith(".ttc") else TTFont(path)
        return frozenset(font.getBestCmap() or {})
    except Exception:
        return frozenset()


def wrap(text: str, width: int, rng: random.Random, hyphenate: bool) -> list[tuple[str, bool]]:
    """Lines of at most about ``width`` characters, each with: does the next line go on
    without a space (a hyphenated word, or CJK text)?"""
    if sum(ord(c) > 0x2E80 for c in text) > len(text) // 3:
        return [(text[i : i + width // 2], True) for i in range(0, len(text), max(4, width // 2))]
    lines: list[tuple[str, bool]] = []
    line = ""
    for word in text.split(" "):
        room = width - len(line) - 1
        if len(line) + 1 + len(word) <= width or not line:
            line = f"{line} {word}" if line else word
        elif hyphenate and word.isalpha() and len(word) >= 6 and room >= 4 and rng.random() < 0.8:
            cut = rng.randint(2, min(len(word) - 2, room - 1))
            lines.append((f"{line} {word[:cut]}-", True))
            line = word[cut:]
        else:
            lines.append((line, False))
            line = word
    lines.append((line, False))
    return lines


class Style:
    """One font and one way of going wrong, shared by the lines of a block."""

    def __init__(self, rng: random.Random, kind: str, text: str, choices: list[str]) -> None:
        from PIL import ImageFont

        needed = {ord(c) for c in text if not c.isspace()}
        for _ in range(40):
            self.path = rng.choice(choices)
            name = Path(self.path).name.lower()
            if kind == "code" and "mono" not in name and "hack" not in name and rng.random() < 0.95:
                continue
            if needed <= covered(self.path):
                break
        else:
            raise LookupError("no font for this text")
        self.em = rng.choice([20, 21, 24, 26, 30, 34, 40])
        self.font: Any = ImageFont.truetype(self.path, self.em)
        clean = rng.random() < 0.45
        self.scale = 1.0 if clean else rng.uniform(0.55, 1.0)
        self.blur = 0.0 if clean else rng.choice([0, 0, rng.uniform(0.3, 1.1)])
        self.noise = 0.0 if clean else rng.choice([0, rng.uniform(2, 22)])
        self.jpeg = 0 if clean else rng.choice([0, 0, rng.randint(25, 80)])
        self.angle = 0.0 if clean else rng.gauss(0, 0.35)
        paper = 255 if clean else rng.randint(190, 255)
        ink = rng.randint(0, 40) if clean else rng.randint(0, 100)
        if rng.random() < 0.05:
            paper, ink = ink, paper
        self.paper = tuple(
            max(0, min(255, paper + rng.randint(-8, 8) * (not clean))) for _ in "rgb"
        )
        self.ink = tuple(
            ink if rng.random() < 0.9 else max(0, min(255, ink + rng.randint(-60, 60)))
            for _ in "rgb"
        )
        self.shade = 0.0 if clean else rng.choice([0, rng.uniform(-40, 40)])

    def draw(self, text: str, rng: random.Random) -> NDArray[np.uint8]:
        """The picture of a line, cut out as a layout pipeline would: ``[height, width, 3]``."""
        import cv2
        from PIL import Image, ImageDraw

        left, right = rng.uniform(0.05, 0.5) * self.em, rng.uniform(0.05, 0.5) * self.em
        top = rng.uniform(0.02, 0.28) * self.em
        ascent, descent = self.font.getmetrics()
        ascent, descent = min(ascent, self.em * 1.05), min(descent, self.em * 0.35)
        width = int(self.font.getlength(text) + left + right) + 1
        height = int(ascent + descent + 2 * top)
        image = Image.new("RGB", (width, height), self.paper)
        at = (left, top + rng.uniform(-0.08, 0.08) * self.em + ascent)
        ImageDraw.Draw(image).text(at, text, font=self.font, fill=self.ink, anchor="ls")
        if self.angle:
            image = image.rotate(self.angle, Image.Resampling.BICUBIC, fillcolor=self.paper)
        pixels = np.asarray(image).astype(np.float32)
        if self.shade:
            pixels += np.linspace(0, self.shade, pixels.shape[1])[None, :, None]
        if self.scale < 1:
            size = (max(8, int(width * self.scale)), max(8, int(height * self.scale)))
            pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA).astype(np.float32)
        if self.blur:
            pixels = cv2.GaussianBlur(pixels, (0, 0), self.blur).astype(np.float32)
        if self.noise:
            seeded = np.random.default_rng(rng.getrandbits(32))
            pixels += seeded.normal(0, self.noise, pixels.shape[:2])[..., None]
        picture = pixels.clip(0, 255).astype(np.uint8)
        if self.jpeg:
            _, coded = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, self.jpeg])
            picture = np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR), np.uint8)
        return picture


def lines_of(kind: str, text: str, rng: random.Random) -> list[tuple[str, bool]]:
    if kind == "code":
        kept = [line.expandtabs(4).strip() for line in text.split("\n")]
        return [(line, False) for line in kept if line][:12]
    width = {"h1": 40, "h2": 50, "h3": 60}.get(kind) or rng.choice([24, 36, 48, 60, 80, 95, 110])
    if kind in ("cell", "furniture"):
        return [(text[:60].strip(), False)] if len(text) < 60 else wrap(text[:120], 24, rng, False)
    if kind == "li":
        text = (
            rng.choice(
                [
                    "• ",
                    "- ",
                    "– ",
                    "* ",
                    "◦ ",
                    "▪ ",
                    f"{rng.randint(1, 30)}. ",
                    f"({rng.choice('abcde')}) ",
                ]
            )
            + text
        )
    return wrap(text, width, rng, hyphenate=rng.random() < 0.4)[:14]


class Drawn(NamedTuple):
    """A block as it was drawn: its lines as `lines_of` gives them, and their pictures."""

    kind: str
    lines: list[tuple[str, bool]]
    style: Style
    pictures: list[NDArray[np.uint8]]


def drawn(block: dict[str, Any], rng: random.Random, choices: list[str]) -> Drawn | None:
    """``block`` in one of the fonts, None where none of them has its characters."""
    lines = lines_of(block["kind"], block["text"], rng)
    try:
        style = Style(rng, block["kind"], block["text"], choices)
        return Drawn(block["kind"], lines, style, [style.draw(text, rng) for text, _ in lines])
    except (LookupError, OSError, ValueError):
        return None


def seen(
    blocks: Sequence[Drawn], recognizer: Recognizer
) -> tuple[list[dict[str, Any]], NDArray[np.float16]]:
    """``blocks`` as shards store them, and the glyphs of all."""
    readings = iter(recognizer.read([line for block in blocks for line in block.pictures]))
    stored, glyphs, first = [], [], 0
    for block in blocks:
        rendered = []
        for text, glued in block.lines:
            reading = next(readings)
            glyphs.append(reading.glyphs.astype(np.float16))
            count = len(reading.text)
            sure = [round(p, 3) for p in reading.probabilities]
            width = block.style.font.getlength(text) / block.style.em
            rendered.append(RenderedLine(text, reading.text, sure, first, count, width, 1.0, glued))
            first += count
        stored.append({"kind": block.kind, "lines": [asdict(line) for line in rendered]})
    return stored, np.concatenate(glyphs)


def render(
    corpus: Path,
    output: Path,
    shards: int,
    *,
    held: bool = False,
    blocks_a_shard: int = BLOCKS_A_SHARD,
    threads: int = 0,
) -> None:
    """Write so many shards to ``output``; those that are there already stay."""
    recognizer = Recognizer(threads)
    with corpus.open(encoding="utf-8") as file:
        blocks = [block for line in file if (block := json.loads(line))["held"] == held]
    # What the tower has no symbol for cannot be read, and would teach the model to invent.
    known = {*recognizer.symbols, "\n", "\t"}
    blocks = [block for block in blocks if known.issuperset(block["text"])]
    choices = fonts(held)
    output.mkdir(parents=True, exist_ok=True)
    print(f"{len(blocks)} blocks, {len(choices)} fonts")
    for index in range(shards):
        path = output / f"{index:04d}"
        if path.with_suffix(".json").exists():
            continue
        rng = random.Random(f"{index} {held}")
        chosen = rng.sample(blocks, min(blocks_a_shard, len(blocks)))
        pictured = [each for block in chosen if (each := drawn(block, rng, choices))]
        stored, glyphs = seen(pictured, recognizer)
        np.save(path.with_suffix(".npy"), glyphs)
        path.with_suffix(".json").write_text(json.dumps(stored, ensure_ascii=False), "utf-8")
        print(index, len(stored), "blocks", len(glyphs), "glyphs", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--shards", type=int, default=40)
    parser.add_argument("--held", action="store_true")
    parser.add_argument("--threads", type=int, default=0)
    arguments = parser.parse_args()
    render(
        arguments.corpus,
        arguments.output,
        arguments.shards,
        held=arguments.held,
        threads=arguments.threads,
    )


if __name__ == "__main__":
    main()
