"""Qwen2-VL, Qwen2.5-VL and Qwen3-VL: prompts and dialect.

These are general models: the prompt spells the dialect out, and the drafts are written in it.
"""

from __future__ import annotations

from hsd_docparse.document import Region
from hsd_docparse.targets.family import Family
from hsd_docparse.targets.markdown_blocks import LEFT_OUT, compact_table

DIALECT = (
    "Mark headings with #. Write tables as compact HTML (<table><tr><td>) without attributes "
    "other than rowspan and colspan, and display formulas as LaTeX between $$ lines. "
    "Return only the content, without comments and without a code fence around it."
)


def serialise(region: Region) -> str:
    if region.kind in LEFT_OUT or not region.text:
        return ""
    match region.kind:
        case "title" | "heading":
            return f"{'#' * max(region.level, 1)} {region.text}"
        case "list_item":
            return f"{'  ' * (max(region.level, 1) - 1)}- {region.text}"
        case "table":
            return compact_table(region.text)
        case "formula":
            return f"$$\n{region.text}\n$$"
        case "code":
            return f"```\n{region.text}\n```"
    return region.text


def image_tokens(height: int, width: int) -> int:
    return height * width


QWEN_VL = Family(
    model_types=("qwen2_vl", "qwen2_5_vl", "qwen3_vl"),
    system=None,
    page_prompt=(
        "Transcribe this document page to Markdown in reading order. Leave out page headers, "
        f"page footers and page numbers. {DIALECT}"
    ),
    region_prompt=f"Transcribe this part of a document page to Markdown. {DIALECT}",
    region_prompts={
        "table": "Transcribe this table to compact HTML (<table><tr><td>). Return only the HTML.",
        "formula": "Transcribe this formula to LaTeX between $$ lines. Return only the LaTeX.",
    },
    image_tokens=image_tokens,
    serialise=serialise,
)
