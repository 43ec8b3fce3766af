"""The font of an invisible text layer: nothing to see, any character."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pikepdf

ADVANCE = 0.5
"""Width of every glyph over the font size; words are scaled to their place anyway."""
DESCENT = 0.2
"""How far a glyph reaches below the baseline, over the font size; it is as high as that."""
_NAME = "/Glyphless"
_MOST_CODES = 0xFFFF


class GlyphlessFont:
    """A composite font of ``pdf`` that numbers the characters as they come and says at the end
    which they were. All of them have its one glyph."""

    def __init__(self, pdf: pikepdf.Pdf) -> None:
        self._pdf = pdf
        self._codes: dict[str, int] = {}
        self.object = pdf.make_indirect(_font(pdf))

    def encode(self, text: str) -> bytes:
        """``text`` as a hexadecimal string of a content stream."""
        codes = []
        for char in text:
            if len(self._codes) < _MOST_CODES or char in self._codes:
                codes.append(self._codes.setdefault(char, len(self._codes) + 1))
        return b"<" + "".join(f"{code:04X}" for code in codes).encode() + b">"

    def finish(self) -> None:
        """Write what the codes mean; more characters would have no meaning."""
        self.object.ToUnicode = self._pdf.make_stream(_to_unicode(self._codes))


def _font(pdf: pikepdf.Pdf) -> pikepdf.Dictionary:
    from pikepdf import Array, Dictionary, Name, String

    program = _glyphless_truetype()
    descriptor = Dictionary(
        Type=Name.FontDescriptor,
        FontName=Name(_NAME),
        FontFile2=pdf.make_stream(program, Length1=len(program)),
        Flags=4,  # symbolic: it has a character set of its own
        FontBBox=[0, -200, 500, 800],
        Ascent=800,
        Descent=-200,
        CapHeight=800,
        ItalicAngle=0,
        StemV=80,
    )
    descendant = Dictionary(
        Type=Name.Font,
        Subtype=Name.CIDFontType2,
        BaseFont=Name(_NAME),
        CIDSystemInfo=Dictionary(
            Registry=String("Adobe"), Ordering=String("Identity"), Supplement=0
        ),
        FontDescriptor=pdf.make_indirect(descriptor),
        DW=int(1000 * ADVANCE),
        CIDToGIDMap=pdf.make_stream(bytes(2 * (_MOST_CODES + 1))),
    )
    return Dictionary(
        Type=Name.Font,
        Subtype=Name.Type0,
        BaseFont=Name(_NAME),
        Encoding=Name("/Identity-H"),
        DescendantFonts=Array([pdf.make_indirect(descendant)]),
    )


def _to_unicode(codes: dict[str, int]) -> bytes:
    """A CMap from codes to characters, in blocks of at most a hundred as the format wants."""
    pairs = [
        f"<{code:04X}> <{char.encode('utf-16-be', 'replace').hex().upper()}>"
        for char, code in codes.items()
    ]
    blocks = [pairs[at : at + 100] for at in range(0, len(pairs), 100)]
    lines = [
        "/CIDInit /ProcSet findresource begin",
        "12 dict begin",
        "begincmap",
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def",
        "/CMapName /Adobe-Identity-UCS def",
        "/CMapType 2 def",
        "1 begincodespacerange",
        "<0000> <FFFF>",
        "endcodespacerange",
    ]
    for block in blocks:
        lines += [f"{len(block)} beginbfchar", *block, "endbfchar"]
    lines += ["endcmap", "CMapName currentdict /CMap defineresource pop", "end", "end"]
    return "\n".join(lines).encode()


def _glyphless_truetype() -> bytes:
    """A TrueType font with one glyph, a line of no width from corner to corner: PDFium leaves out
    glyphs that are nowhere."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    pen.moveTo((0, -200))
    pen.lineTo((500, 800))
    pen.closePath()

    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef"])
    builder.setupCharacterMap({})
    builder.setupGlyf({".notdef": pen.glyph()})
    builder.setupHorizontalMetrics({".notdef": (500, 0)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Glyphless", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, sTypoDescender=-200, usWinAscent=800, usWinDescent=200)
    builder.setupPost()
    builder.updateHead(created=0, modified=0)
    builder.font.recalcTimestamp = False  # the same bytes at any time
    program = BytesIO()
    builder.save(program)
    return program.getvalue()
