"""Plain text: blank lines between blocks, tabs between cells, form feeds between pages."""

from __future__ import annotations

from hsd_docparse.document import Document, Page
from hsd_docparse.render.blocks import Numbered, latex, one_line, running_text, split_marker
from hsd_docparse.render.format import FigureLinks, PagedText
from hsd_docparse.render.tables import table_rows


def _list(items: list[Numbered]) -> str:
    lines = []
    for _, item in items:
        marker, text = split_marker(item.text)
        lines.append(f"{'  ' * max(item.level - 1, 0)}{marker or '-'} {text}")
    return "\n".join(lines)


def _block(group: list[Numbered]) -> str:
    region = group[0].region
    if region.kind == "list_item":
        return _list(group)
    if region.kind == "table":
        return "\n".join("\t".join(row) for row in table_rows(region.text))
    if region.kind == "formula":
        return latex(region.text)
    if region.kind == "note":
        return f"[{one_line(region.text)}]"
    return region.text.strip("\n") if region.kind == "code" else region.text.strip()


def _page(page: Page, figures: FigureLinks) -> str:
    blocks = []
    if page.error:
        blocks.append(f"[Page {page.number} could not be read: {one_line(page.error)}]")
    blocks += [_block(group) for group in running_text(page, figures)]
    text = "\n\n".join(block for block in blocks if block).replace("\f", "")
    return f"{text}\n" if text else ""


def _head(document: Document) -> str:
    return ""


TEXT = PagedText(".txt", _head, _page, separator="\f", tail="")
