"""Lines read by Tesseract, where it is installed, in scripts that bundled models do not know."""

from __future__ import annotations

import csv
import re
import subprocess
from functools import cache
from io import BytesIO
from itertools import groupby
from shutil import which
from typing import TYPE_CHECKING

from hsd_docparse.document import Box, Line
from hsd_docparse.draft.paragraphs import bounds

if TYPE_CHECKING:
    from PIL import Image

LANGUAGES = {
    "Arabic": ("ara", "fas", "urd"),
    "Armenian": ("hye",),
    "Bengali": ("ben", "asm"),
    "Cyrillic": ("rus", "ukr", "bul", "srp"),
    "Devanagari": ("hin", "mar", "nep"),
    "Ethiopic": ("amh",),
    "Fraktur": ("deu_latf", "frk"),
    "Georgian": ("kat",),
    "Greek": ("ell", "grc"),
    "Gujarati": ("guj",),
    "Gurmukhi": ("pan",),
    "Hangul": ("kor",),
    "Hebrew": ("heb", "yid"),
    "Kannada": ("kan",),
    "Khmer": ("khm",),
    "Korean": ("kor",),
    "Lao": ("lao",),
    "Malayalam": ("mal",),
    "Myanmar": ("mya",),
    "Oriya": ("ori",),
    "Sinhala": ("sin",),
    "Syriac": ("syr",),
    "Tamil": ("tam",),
    "Telugu": ("tel",),
    "Thai": ("tha",),
    "Tibetan": ("bod",),
}
"""Script, as Tesseract names it -> languages that are written in it, its own names too."""
_SECONDS = 40.0
"""The deadline of a page has to hold two runs."""


@cache
def installed_languages() -> frozenset[str]:
    """Empty where there is no Tesseract."""
    if which("tesseract") is None:
        return frozenset()
    try:
        listed = subprocess.run(
            ["tesseract", "--list-langs"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    return frozenset(listed.stdout.split("\n")[1:]) - {""}


def script_of(image: Image.Image) -> str | None:
    """Script that ``image`` is written in, one of `LANGUAGES`; None where nobody can tell."""
    if "osd" not in installed_languages():
        return None
    found = re.search(r"^Script: (\w+)$", _run(image, "--psm", "0", "-l", "osd"), re.MULTILINE)
    return found[1] if found and found[1] in LANGUAGES else None


def languages_for(script: str) -> list[str]:
    """Installed languages of a script."""
    wanted = [*LANGUAGES.get(script, ()), f"script/{script}"]
    return [name for name in wanted if name in installed_languages()]


def read_lines(image: Image.Image, languages: list[str]) -> list[Line]:
    """Lines of ``image`` in Tesseract's order, boxes in its pixels."""
    table = _run(image, "--psm", "3", "-l", "+".join(languages), "tsv")
    rows = csv.DictReader(table.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    words = [row for row in rows if (row["text"] or "").strip()]
    place = ("block_num", "par_num", "line_num")
    return [_line(list(own)) for _, own in groupby(words, lambda row: [row[key] for key in place])]


def _line(words: list[dict[str, str]]) -> Line:
    text = " ".join(word["text"].strip() for word in words)
    known: list[float] = []
    for word in words:
        known += [0.0] * bool(known)  # the space
        known += [max(0.0, float(word["conf"])) / 100] * len(word["text"].strip())
    for i, char in enumerate(text):
        if char == " ":
            known[i] = min(known[i - 1], known[i + 1])
    box = bounds([Line("", _box(word)) for word in words])
    return Line(text, box, known, "ocr", size=0.7 * box.height)


def _box(word: dict[str, str]) -> Box:
    x, y, width, height = (float(word[key]) for key in ("left", "top", "width", "height"))
    return Box(x, y, x + width, y + height)


def _run(image: Image.Image, *options: str) -> str:
    """What Tesseract prints, nothing where it fails."""
    picture = BytesIO()
    image.save(picture, "BMP")
    try:
        done = subprocess.run(
            ["tesseract", "stdin", "stdout", *options],
            input=picture.getvalue(),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
