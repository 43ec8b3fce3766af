"""Layers that the file switches off by a visibility expression (PDF 1.7, section 8.11.2.2).

MuPDF honours layers and their policies but no expressions; what an expression hides would be
drawn and read. The membership dictionaries are therefore rewritten, in memory only, in terms
that it knows.
"""

from __future__ import annotations

from typing import Any

import pymupdf


def apply_visibility_expressions(page: pymupdf.Page, on: dict[int, bool]) -> None:
    """Make the expressions that ``page`` refers to effective; ``on`` is from `layer_states`."""
    if not on:
        return
    document = page.parent
    group, is_on = next(iter(on.items()))
    for _, xref, kind in page.get_oc_items():
        if kind != "ocmd":
            continue
        expression = document.get_ocmd(xref)["ve"]
        if expression:
            visible = _holds(expression, on)
            policy = "AllOn" if visible == is_on else "AllOff"
            document.set_ocmd(xref=xref, ocgs=[group], policy=policy)


def layer_states(document: pymupdf.Document) -> dict[int, bool]:
    """Whether each optional-content group is shown when the document is opened."""
    groups = document.get_ocgs()
    if not groups:
        return {}
    layer = document.get_layer()
    shown = layer.get("basestate") != "OFF"
    states = dict.fromkeys(groups, shown)
    states.update(dict.fromkeys(layer.get("on", ()), True))
    states.update(dict.fromkeys(layer.get("off", ()), False))
    return states


def _holds(expression: Any, on: dict[int, bool]) -> bool:
    """Value of nested ``[operator, operand, ...]``; a group that is unknown counts as shown."""
    if isinstance(expression, int):
        return on.get(expression, True)
    operator, *operands = expression
    values = (_holds(operand, on) for operand in operands)
    match str(operator).lower():
        case "and":
            return all(values)
        case "or":
            return any(values)
        case _:
            return not any(values)
