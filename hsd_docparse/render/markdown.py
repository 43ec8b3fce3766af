"""GitHub-flavoured Markdown. Tables stay HTML, which keeps their spans."""

from __future__ import annotations

import re
from collections.abc import Callable

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
from hsd_docparse.render.tables import clean_table

BLOCK_START = re.compile(
    r"#{1,6}(?=\s|$)"  # a heading
    r"|[-+*](?=\s|$)"  # a list item
    r"|>|\|"  # a quotation, a table
    r"|(?:-+|=+|(?:\*\s*){3,}|(?:_\s*){3,})$"  # a rule, or an underline that makes a heading
)
ORDERED_START = re.compile(r"(\d{1,9})([.)](?=\s|$))")
MARKUP = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|\n|\Z)"  # a backslash that would escape or break the line
    r"|<(?=[a-zA-Z/!?]|[^\s<>]+@)"  # a tag or an address
    r"|&(?=#?\w+;)"  # an entity
    r"|\](?=\()"  # a link
    r"|~(?=~~)|(?<=~)~(?=~)|(?<=~~)~"  # a fence
    r"|^\[(?=[^\]]+\]:)",  # the definition of a link, which is not shown
    re.MULTILINE,
)
IN_FORMULA = re.compile(r"<(?=[a-zA-Z/!?])|\](?=[(:])")
DELIMITERS = {"*": re.compile(r"\*+"), "_": re.compile(r"_+"), "~": re.compile(r"~+")}


def escape(text: str) -> str:
    """``text`` so that Markdown shows it as it stands.

    Only what would turn into markup gets a backslash: a lone asterisk, an underscore within
    a word or a dash in a sentence stays as it is. Line breaks get the two spaces that keep them.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    inline = _escape_inline("\n".join(lines)).split("\n")
    return "  \n".join(map(_escape_start, inline))


def _escape_start(line: str) -> str:
    if match := ORDERED_START.match(line):
        return f"{match[1]}\\{line[match.start(2) :]}"
    return f"\\{line}" if BLOCK_START.match(line) else line


def _escape_inline(text: str) -> str:
    parts = [(_inert(part) if tex else part, tex) for part, tex in split_formulas(text)]
    text = "".join(part for part, _ in parts)
    plain = "".join("$" * len(part) if tex else part for part, tex in parts)
    active = {match.start() for match in MARKUP.finditer(plain)}
    if plain.count("`") > 1:
        active |= {match.start() for match in re.finditer("`", plain)}
    for mark, pattern in DELIMITERS.items():
        runs = [run for run in pattern.finditer(plain) if _delimits(run, mark)]
        if len(runs) > 1:
            active.update(at for run in runs for at in range(*run.span()))
    return "".join(f"\\{c}" if at in active else c for at, c in enumerate(text))


def _inert(formula: str) -> str:
    """``formula`` with spaces, which TeX ignores, where Markdown would see HTML or a link."""
    return IN_FORMULA.sub(r"\g<0> ", formula)


def _delimits(run: re.Match[str], mark: str) -> bool:
    """Whether a run of ``mark`` could open or close emphasis (CommonMark 6.2, flanking)."""
    before = run.string[run.start() - 1 : run.start()]
    after = run.string[run.end() : run.end() + 1]
    if mark == "_" and before.isalnum() and after.isalnum():
        return False
    return bool(before.strip() or after.strip())


def _list(items: list[Numbered]) -> str:
    """A tight list; an item is indented to where its parent's text begins."""
    lines = []
    columns = [0]
    for _, item in items:
        marker, text = split_marker(item.text)
        marker = marker or "-"
        depth = min(max(item.level, 1), len(columns))
        indent = columns[depth - 1]
        columns = [*columns[:depth], indent + len(marker) + 1]
        text = escape(text).replace("\n", "\n" + " " * columns[-1])
        lines.append(f"{' ' * indent}{marker} {text}".rstrip())
    return "\n".join(lines)


def _heading(region: Region) -> str:
    text = re.sub(r"(?<=\s)#+$", r"\\\g<0>", _escape_inline(one_line(region.text)))
    return f"{'#' * min(max(region.level, 1), 6)} {text}" if text else ""


def _code(region: Region) -> str:
    text = region.text.strip("\n")
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}" if text.strip() else ""


def _formula(region: Region) -> str:
    text = _inert(latex(region.text))
    return f"$$\n{text}\n$$" if text else ""


def _note(region: Region) -> str:
    text = escape(region.text)
    return "> " + text.replace("\n", "\n> ") if text else ""


def _figure(region: Region, link: str | None) -> str:
    """The picture where there is one, else the words that stand in it."""
    if link is None:
        return escape(region.text)
    alternative = _escape_inline(re.sub(r"[\[\]\\]", "", one_line(region.text))) or "Figure"
    return f"![{alternative}]({link})"


BLOCKS: dict[str, Callable[[Region], str]] = {
    "title": _heading,
    "heading": _heading,
    "table": lambda region: clean_table(region.text),
    "code": _code,
    "formula": _formula,
    "note": _note,
}


def block(group: list[Numbered], figures: FigureLinks) -> str:
    place, region = group[0]
    if region.kind == "list_item":
        return _list(group)
    if region.kind == "figure":
        return _figure(region, figures.get(place))
    return BLOCKS.get(region.kind, lambda region: escape(region.text))(region)


def _page(page: Page, figures: FigureLinks) -> str:
    blocks = [f"<!-- page {page.number} -->"]
    if page.error:
        reason = _escape_inline(one_line(page.error))
        blocks.append(f"> **Page {page.number} could not be read:** {reason}")
    blocks += [block(group, figures) for group in running_text(page, figures)]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _head(document: Document) -> str:
    return ""


MARKDOWN = PagedText(".md", _head, _page, separator="\n", tail="")
