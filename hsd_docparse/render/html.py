"""One self-contained HTML5 file: real headings, lists and tables, a section a page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from hsd_docparse.document import Document, Page, Region
from hsd_docparse.render.blocks import (
    Numbered,
    latex,
    one_line,
    running_text,
    split_formulas,
    split_marker,
)
from hsd_docparse.render.format import FigureLinks, PagedText
from hsd_docparse.render.mathml import Display, mathml
from hsd_docparse.render.tables import clean_table

STYLE = """\
:root { color-scheme: light dark; }
body { font: 1rem/1.55 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
section { border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: 1rem 0; }
section::before { content: attr(aria-label); font-size: .75rem; opacity: .6; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
td, th { border: 1px solid color-mix(in srgb, currentColor 35%, transparent); padding: .2rem .5rem; }
td, th { vertical-align: top; text-align: start; }
pre, .formula { overflow-x: auto; padding: .6rem; }
pre { background: color-mix(in srgb, currentColor 7%, transparent); }
.formula { font-family: ui-monospace, monospace; white-space: pre-wrap; }
figure { margin: 1rem 0; }
img { max-width: 100%; }
.caption, figcaption, .footnote { font-size: .875rem; }
aside { border-inline-start: .25rem solid #fbc02d; padding: .2rem .8rem; font-size: .875rem; }
.error, .warning { border-inline-start: .25rem solid; padding: .2rem .8rem; }
.error { border-color: #d33; }
.warning { border-color: #c90; font-size: .875rem; }
"""  # noqa: E501

UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What HTML5 does not allow as a character of its own."""


def _escape(text: str) -> str:
    return html.escape(UNPRINTABLE.sub("", text))


def _inline(text: str) -> str:
    """With the formulas in it as MathML."""
    return "".join(
        _formula(latex(part), "inline") if is_formula else _escape(part)
        for part, is_formula in split_formulas(text)
    )


def _lines(text: str) -> str:
    return _inline(text.strip()).replace("\n", "<br>\n")


def _tag(name: str, identity: str, content: str, style: str = "") -> str:
    style = f' class="{style}"' if style else ""
    return f'<{name} id="{identity}"{style} dir="auto">{content}</{name}>' if content else ""


def _formula(source: str, display: Display = "block") -> str:
    """As MathML, or as LaTeX between its delimiters where that is not possible."""
    if not source:
        return ""
    opening, closing = (r"\[", r"\]") if display == "block" else (r"\(", r"\)")
    shown = mathml(UNPRINTABLE.sub("", source), display)
    return shown or f"{opening}{_escape(source)}{closing}"


def _list(items: list[Numbered], identity: str) -> str:
    out: list[str] = []
    lists: list[str] = []
    for place, item in items:
        depth = min(max(item.level, 1), len(lists) + 1)
        marker, text = split_marker(item.text)
        kind = "ol" if marker else "ul"
        while len(lists) > depth or (len(lists) == depth and lists[-1] != kind):
            out.append(f"</li></{lists.pop()}>")
        if len(lists) < depth:
            out.append(f"<{kind}>")
            lists.append(kind)
        else:
            out.append("</li>")
        value = f' value="{int(marker[:-1])}"' if marker else ""
        out.append(f'\n<li id="{identity}{place}"{value} dir="auto">{_lines(text)}')
    out += [f"</li></{kind}>" for kind in reversed(lists)]
    return "".join(out)


def _figure(region: Region, identity: str, link: str | None, caption: str) -> str:
    """``caption`` is a finished element, or empty."""
    if link is None:
        content = f"<p>{_lines(region.text)}</p>" if region.text.strip() else ""
    else:
        alternative = _escape(one_line(region.text))
        content = f'<img src="{html.escape(link)}" alt="{alternative}">'
    if caption:
        content += caption
    return f'<figure id="{identity}">{content}</figure>' if content else ""


def _block(region: Region, identity: str) -> str:
    if region.kind in ("title", "heading"):
        text = _inline(one_line(region.text))
        return _tag(f"h{min(max(region.level, 1), 6)}", identity, text)
    if region.kind == "table":
        return _tag("div", identity, UNPRINTABLE.sub("", clean_table(region.text)), "table")
    if region.kind == "code":
        code = _escape(region.text.strip("\n"))
        return f'<pre id="{identity}"><code>{code}</code></pre>' if code else ""
    if region.kind == "formula":
        return _tag("div", identity, _formula(latex(region.text)), "formula")
    if region.kind == "note":
        return _tag("aside", identity, _lines(region.text))
    style = region.kind if region.kind in ("caption", "footnote") else ""
    return _tag("p", identity, _lines(region.text), style)


def _blocks(page: Page, figures: FigureLinks) -> Iterator[str]:
    prefix = f"p{page.number}-b"
    groups = list(running_text(page, figures))
    captioned = False
    for position, group in enumerate(groups):
        place, region = group[0]
        identity = f"{prefix}{place}"
        if captioned:
            captioned = False
        elif region.kind == "list_item":
            yield _list(group, prefix)
        elif region.kind == "figure":
            following = groups[position + 1][0] if position + 1 < len(groups) else None
            captioned = following is not None and following.region.kind == "caption"
            caption = ""
            if following and captioned:
                text = _lines(following.region.text)
                caption = _tag("figcaption", f"{prefix}{following.place}", text)
            yield _figure(region, identity, figures.get(place), caption)
        else:
            yield _block(region, identity)


def _page(page: Page, figures: FigureLinks) -> str:
    parts = [f'<section id="page-{page.number}" aria-label="Page {page.number}">']
    if page.error:
        reason = _escape(one_line(page.error))
        message = f"<strong>Page {page.number} could not be read:</strong> {reason}"
        parts.append(f'<p class="error" role="alert">{message}</p>')
    parts += [f'<p class="warning">{_escape(one_line(w))}</p>' for w in page.warnings]
    parts += [block for block in _blocks(page, figures) if block]
    return "\n".join([*parts, "</section>\n"])


def _head(document: Document) -> str:
    title = document.metadata.get("title", "").strip() or Path(document.source).name
    language = re.sub(r"[^A-Za-z0-9-]", "", document.metadata.get("language", "")) or "und"
    return (
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_escape(one_line(title))}</title>\n"
        f"<style>\n{STYLE}</style>\n</head>\n<body>\n"
    )


HTML = PagedText(".html", _head, _page, separator="", tail="</body>\n</html>\n", embeds=True)
