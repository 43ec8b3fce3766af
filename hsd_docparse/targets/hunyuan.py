"""HunyuanOCR (``HunYuanVLForConditionalGeneration``): prompts and dialect.

Prompts are those of the model's published task list. A page is written in plain paragraphs:
headings carry no mark, formulas stand between ``$$``, tables are compact HTML, and headers
and footers are left out.
"""

from __future__ import annotations

from hsd_docparse.document import Region
from hsd_docparse.targets.family import Family
from hsd_docparse.targets.markdown_blocks import LEFT_OUT, compact_table


def serialise(region: Region) -> str:
    if region.kind in LEFT_OUT:
        return ""
    if region.kind == "table":
        return compact_table(region.text)
    if region.kind == "formula" and region.text:
        return f"$$ {region.text} $$"
    return region.text


def image_tokens(height: int, width: int) -> int:
    """Each row of merged patches ends in a newline token; begin and end frame the image."""
    return height * (width + 1) + 2


HUNYUAN = Family(
    model_types=("hunyuan_vl",),
    system="",
    page_prompt=(
        "提取文档图片中正文的所有信息用markdown格式表示，其中页眉、页脚部分忽略，"
        "表格用html格式表达，文档中公式用latex格式表示，按照阅读顺序组织进行解析。"
    ),
    region_prompt="提取图中的文字。",
    region_prompts={
        "table": "把图中的表格解析为HTML。",
        "formula": "识别图片中的公式，用LaTeX格式表示。",
    },
    image_tokens=image_tokens,
    serialise=serialise,
)
