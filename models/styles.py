"""How a document looks: paper, fonts, sizes, headings, tables, lists; drawn by chance, as CSS."""

from __future__ import annotations

import random
import subprocess
from dataclasses import dataclass
from functools import cache
from string import ascii_letters, digits

from models.render import covered, fonts

PAPERS = {"a4": (595.0, 842.0), "letter": (612.0, 792.0), "slide": (720.0, 405.0)}
"""Points."""
INKS = ["#000", "#000", "#111", "#222", "#333"]
ACCENTS = ["#000", "#000", "#1f3864", "#7b1e1e", "#0b5345", "#444", "#2e74b5", "#5b2c6f", "#b45309"]
TINTS = ["#f2f2f2", "#e8eef7", "#fdf3e1", "#eaf5ea", "#f7e9ec", "#eeeeee"]
BULLETS = ["•", "•", "•", "-", "–", "*", "◦", "▪"]
SIDES = ["left", "left", "left", "center"]


@cache
def families(held: bool, mono: bool = False) -> list[str]:
    """Names of the installed text fonts with Latin letters, of those held out or of the others."""
    names = _names()
    held_out = {names[path] for path in fonts(True) if path in names}
    paths = fonts(held)
    found = {
        names[path]
        for path in paths
        if path in names and covered(path).issuperset(map(ord, ascii_letters + digits))
    }
    chosen = sorted(found if held else found - held_out)
    fixed = [name for name in chosen if "Mono" in name or "Code" in name or "Hack" in name]
    chosen = fixed if mono else [name for name in chosen if name not in fixed]
    return chosen or ["monospace" if mono else "serif"]


def _names() -> dict[str, str]:
    """The family of every font file."""
    try:
        listed = subprocess.run(
            ["fc-list", ":", "file", "family"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return {}
    rows = [line.partition(": ") for line in listed.splitlines()]
    return {path: family.split(",")[0] for path, _, family in rows}


@dataclass(frozen=True)
class Style:
    """``css`` of a document, with what its writer has to know: ``size`` is that of the letters in
    points, ``numbered`` whether headings are, ``bullet`` what stands before list items."""

    css: str
    width: float
    height: float
    size: float
    columns: int
    numbered: bool
    hyphenated: bool
    bullet: str
    caption_above: bool


def draw_style(rng: random.Random, kind: str, held: bool) -> Style:
    """A style for a document of this kind (see `models.composing.KINDS`)."""
    paper = "slide" if kind == "slide" else rng.choice(["a4", "a4", "letter"])
    width, height = PAPERS[paper]
    if kind == "book" and rng.random() < 0.6:
        width, height = rng.choice([(420.0, 595.0), (432.0, 648.0), (396.0, 612.0)])
    size = rng.uniform(15, 22) if kind == "slide" else rng.uniform(8.5, 12)
    columns = {
        "paper": rng.choice([1, 2, 2, 2]),
        "newspaper": rng.choice([2, 3, 3, 3, 4]),
        "report": rng.choice([1, 1, 1, 2]),
        "manual": rng.choice([1, 1, 1, 2]),
    }.get(kind, 1)
    if columns > 1:
        size = min(size, rng.uniform(7.5, 10 if columns == 2 else 8.5))
    body = rng.choice(families(held))
    head = body if rng.random() < 0.5 else rng.choice(families(held))
    fixed = rng.choice(families(held, mono=True))
    ink, accent = rng.choice(INKS), rng.choice(ACCENTS)
    margin = rng.uniform(0.05, 0.09 if columns > 1 else 0.15) * width
    top = rng.uniform(0.06, 0.1) * height
    justified = rng.random() < (0.85 if columns > 1 or kind == "book" else 0.4)
    if width / columns < 20 * size:
        justified = justified and rng.random() < 0.4
    indent = rng.uniform(1, 2) if kind == "book" or rng.random() < 0.25 else 0
    gap = 0 if indent else rng.uniform(0.3, 1)
    leading = rng.uniform(1.1, 1.65)
    # h1, h2 and h3 in ems, with what makes them look like headings.
    sizes = sorted((rng.uniform(1.0, 1.9) for _ in range(3)), reverse=True)
    sizes[0] += rng.uniform(0.2, 0.9)
    looks = [_heading_look(rng, n, em, accent, head) for n, em in enumerate(sizes, 1)]
    lists = rng.uniform(0.9, 2)
    frame = rng.choice(["none", "lines", "lines", "grid", "grid", "ends", "stripes"])
    css = f"""
@page {{ margin: 0; size: {width}pt {height}pt }}
* {{ box-sizing: border-box; margin: 0; padding: 0 }}
html, body {{ width: {width}pt; height: {height - 1}pt; overflow: hidden }}
.page {{ position: relative; width: {width}pt; height: {height - 1}pt; overflow: hidden;
  padding: {top}pt {margin}pt; display: flex; flex-direction: column; color: {ink};
  font: {size}pt/{leading:.2f} '{body}', 'DejaVu Sans', serif;
  background: {rng.choice(TINTS) if rng.random() < 0.06 else "#fff"} }}
.flow {{ flex: 1; min-height: 0; overflow: hidden; columns: {columns}; column-fill: auto;
  column-gap: {rng.uniform(1.2, 2.8)}em;
  column-rule: {rng.choice(["none", "none", f"0.5pt solid {accent}"])} }}
p {{ margin-bottom: {gap:.2f}em; text-indent: {indent:.2f}em;
  text-align: {"justify" if justified else "left"}; orphans: 2; widows: 2 }}
{"".join(looks)}
h1, h2, h3, table, .figure, figcaption {{ break-inside: avoid }}
h1, h2, h3 {{ break-after: avoid; text-wrap: balance }}
.li {{ position: relative; padding-left: {lists:.2f}em; margin-bottom: {gap / 2:.2f}em }}
.li .b {{ display: inline-block; min-width: {lists:.2f}em; margin-left: -{lists:.2f}em }}
.li.deep {{ margin-left: {rng.uniform(1, 2):.2f}em }}
table {{ border-collapse: collapse; margin: {rng.uniform(0.3, 1):.2f}em {rng.choice(["0", "auto"])};
  {"width: 100%;" if rng.random() < 0.6 else ""} font-size: {rng.uniform(0.75, 1):.2f}em }}
td, th {{ padding: {rng.uniform(0.1, 0.5):.2f}em {rng.uniform(0.3, 1):.2f}em; line-height: 1.25;
  vertical-align: {rng.choice(["top", "middle", "baseline"])} }}
th {{ font-weight: {rng.choice([400, 700])}; text-align: {rng.choice(SIDES)} }}
{_frame(rng, frame, accent)}
.cap {{ font-size: {rng.uniform(0.8, 0.95):.2f}em; text-align: {rng.choice(SIDES)};
  font-style: {rng.choice(["normal", "normal", "italic"])};
  margin: {rng.uniform(0.2, 0.6):.2f}em 0 {rng.uniform(0.4, 1):.2f}em }}
.figure {{ margin: 0.6em auto 0.2em; display: block }}
.pre {{ font: {rng.uniform(0.75, 0.92):.2f}em/1.3 '{fixed}', monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; margin: 0.5em 0;
  {"padding: 0.6em;" + _box(rng, accent) if rng.random() < 0.5 else ""} }}
.notes {{ margin-top: 0.7em; font-size: {rng.uniform(0.72, 0.85):.2f}em; line-height: 1.25 }}
.notes.ruled::before {{ content: ''; display: block; width: 30%; border-top: 0.5pt solid {ink};
  margin-bottom: 0.4em }}
.head, .foot {{ position: absolute; left: {margin}pt; right: {margin}pt; display: flex;
  justify-content: space-between; font-size: {rng.uniform(0.7, 0.9):.2f}em }}
.head {{ top: {top * rng.uniform(0.3, 0.5):.1f}pt;
  {"border-bottom: 0.5pt solid;" if rng.random() < 0.4 else ""} }}
.foot {{ bottom: {top * rng.uniform(0.3, 0.5):.1f}pt }}
.middle {{ justify-content: center }}
.abstract {{ margin: 0.5em {rng.uniform(0, 3):.1f}em 1em; font-size: {rng.uniform(0.85, 1):.2f}em;
  font-style: {rng.choice(["normal", "normal", "italic"])} }}
.authors {{ display: flex; justify-content: {rng.choice(["center", "flex-start"])}; gap: 2.5em;
  margin: 0.5em 0 1em; text-align: {rng.choice(SIDES)} }}
.aside {{ margin: 0.6em 0; padding: 0.7em; break-inside: avoid; {_box(rng, accent)} }}
.quote {{ margin: 0.5em {rng.uniform(1, 3):.1f}em; font-style: {rng.choice(["normal", "italic"])} }}
.quote p {{ text-indent: 0 }}
.formula {{ text-align: center; margin: 0.6em 0; font-style: italic; text-indent: 0 }}
.sides {{ display: flex; justify-content: space-between; gap: 2em; margin-bottom: 1.5em }}
.plain {{ text-indent: 0; text-align: left; white-space: pre-line }}
.right {{ text-align: right }}
.field {{ display: flex; gap: 0.6em; margin: 0.35em 0; text-indent: 0 }}
.blank {{ flex: 1; border-bottom: 0.5pt solid {ink} }}
sup {{ font-size: 0.65em; line-height: 0 }} sub {{ font-size: 0.7em; line-height: 0 }}
a {{ color: {accent} }}
"""
    return Style(
        css,
        width,
        height,
        size,
        columns,
        numbered=rng.random() < {"paper": 0.7, "manual": 0.5, "report": 0.4}.get(kind, 0.1),
        hyphenated=justified and rng.random() < 0.8,
        bullet=rng.choice(BULLETS),
        caption_above=rng.random() < 0.4,
    )


def _heading_look(rng: random.Random, level: int, em: float, accent: str, family: str) -> str:
    # What is no larger than the text needs another sign.
    weight = 700 if em < 1.25 or rng.random() < 0.65 else 400
    slanted = rng.random() < 0.12
    side = "center" if rng.random() < (0.4 if level == 1 else 0.12) else "left"
    rule = f"border-bottom: 0.7pt solid {accent};" if rng.random() < 0.12 else ""
    above = 0 if level == 1 else rng.uniform(0.5, 1.3)
    return (
        f"h{level} {{ font: {'italic' if slanted else 'normal'} {weight} {em:.2f}em/1.2 '{family}',"
        f" 'DejaVu Sans', serif; color: {accent}; text-align: {side};"
        f" margin: {above:.2f}em 0 {rng.uniform(0.2, 0.7):.2f}em; {rule} }}\n"
    )


def _box(rng: random.Random, accent: str) -> str:
    return rng.choice(
        [
            f"background: {rng.choice(TINTS)}",
            f"border: 0.7pt solid {accent}",
            f"border-left: 3pt solid {accent}",
        ]
    )


def _frame(rng: random.Random, frame: str, accent: str) -> str:
    if frame == "grid":
        return f"td, th {{ border: 0.5pt solid {rng.choice([accent, '#888'])} }}"
    if frame == "lines":
        return "tr { border-bottom: 0.5pt solid #888 }"
    if frame == "ends":
        return (
            "table { border-top: 1pt solid; border-bottom: 1pt solid }"
            " tr.top { border-bottom: 0.5pt solid }"
        )
    if frame == "stripes":
        tint = rng.choice(TINTS)
        return f"tr:nth-child(even) {{ background: {tint} }} tr.top {{ background: {tint} }}"
    return ""
