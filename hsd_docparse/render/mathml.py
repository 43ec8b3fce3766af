"""LaTeX as MathML, which browsers show without a script."""

from __future__ import annotations

import logging
import re
from typing import Literal
from xml.etree import ElementTree

Display = Literal["block", "inline"]
"""On a line of its own, or within one."""

ATTRIBUTES = frozenset(
    {"display", "mathvariant", "stretchy", "fence", "form", "separator", "largeop", "accent"}
    | {"movablelimits", "accentunder", "displaystyle", "scriptlevel", "linethickness", "notation"}
    | {"columnalign", "rowalign", "columnspacing", "rowspacing", "columnlines", "rowlines"}
    | {"minsize", "maxsize", "lspace", "rspace", "width", "height", "depth"}
)
"""What may stay of an element's attributes: layout, and nothing that leads or does anything."""
TAG = re.compile(r"\\tag\{([^{}]*)\}")
_NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"

logger = logging.getLogger(__name__)


def mathml(latex: str, display: Display = "block") -> str | None:
    """A ``<math>`` element that holds ``latex`` as its annotation too; None for what
    is not understood, in whole or in part."""
    from latex2mathml.converter import convert

    try:
        root = ElementTree.fromstring(convert(TAG.sub(r"\\qquad(\1)", latex), display=display))
    except (Exception, RecursionError) as error:  # its own errors have no common base
        logger.debug("%s in the formula %r", type(error).__name__, latex)
        return None
    for element in root.iter():
        element.tag = element.tag.removeprefix(_NAMESPACE)
        for name in element.attrib.keys() - ATTRIBUTES:
            del element.attrib[name]
        if (element.text or "").startswith("\\"):  # a command passed on as a name
            return None
    semantics = ElementTree.Element("semantics")
    row = ElementTree.SubElement(semantics, "mrow")
    row.extend(root)
    annotation = ElementTree.SubElement(semantics, "annotation", encoding="application/x-tex")
    annotation.text = latex
    root[:] = [semantics]
    return ElementTree.tostring(root, encoding="unicode")
