"""The characters of a page as PyMuPDF's search for tables wants them, each with its place, without
the objects that PyMuPDF makes for every box and point on the way there."""

from __future__ import annotations

from typing import Any

import pymupdf
from pymupdf import table


def _left(part: dict[str, Any]) -> float:
    return float(part["bbox"][0])


def make_chars(page: pymupdf.Page, clip: Any = None) -> pymupdf.TextPage:
    """Stands for the function of this name in `pymupdf.table`: fills its list of characters of
    ``page``, which has no rotation, and returns the text page that they are from."""
    found = table.CHARS._list()
    text_page = page.get_textpage(clip=clip, flags=table.FLAGS)
    above = page.rect.height * page.number
    turn = page.transformation_matrix
    a, d, e, f = turn.a, turn.d, turn.e, turn.f
    for block in page.get_text("rawdict", textpage=text_page)["blocks"]:
        for line in block["lines"]:
            cosine, sine = (round(each, 4) for each in line["dir"])
            for span in sorted(line["spans"], key=_left):
                color = pymupdf.sRGB_to_pdf(span["color"])
                shared = {
                    "fontname": span["font"],
                    "ncs": "DeviceRGB",
                    "non_stroking_color": color,
                    "non_stroking_pattern": None,
                    "object_type": "char",
                    "page_number": page.number + 1,
                    "stroking_color": color,
                    "stroking_pattern": None,
                    "bold": bool(span["flags"] & pymupdf.TEXT_FONT_BOLD or span["char_flags"] & 8),
                    "upright": sine == 0,
                }
                for char in sorted(span["chars"], key=_left):
                    x0, top, x1, bottom = char["bbox"]
                    x, y = char["origin"]
                    width, height = x1 - x0, bottom - top
                    y0, y1 = top * d + f, bottom * d + f
                    found.append(
                        shared
                        | {
                            "adv": width if sine == 0 else height,
                            "bottom": bottom,
                            "doctop": top + above,
                            "height": height,
                            "matrix": (cosine, -sine, sine, cosine, x * a + e, y * d + f),
                            "size": span["size"] if sine == 0 else height,
                            "text": char["c"],
                            "top": top,
                            "width": width,
                            "x0": x0,
                            "x1": x1,
                            "y0": min(y0, y1),
                            "y1": max(y0, y1),
                        }
                    )
    return text_page
