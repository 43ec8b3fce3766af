"""What docparse-mini writes: the tokens of its language, and what they say about reading.

A page is a sequence of lines. Every line begins with a *pointer* (token ``vocabulary + i``
for line ``i`` in visual order), then a mark if the line opens a block or a table cell, then
the line's text:

    <page> 7 H1 Annual report  9 P The year began with  10 a record harvest.  12 TABLE Item 13 TD Price ...

So reading order, dropped headers and the place of every word are things that the model
decides and the output states. Lines of one block are joined with a space, unless ``JOIN``
stands between them. A table is written as its cells that hold something, each row begun by
``TR``; the lines' places say which column a cell is in.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SPECIAL = [
    "<eos>", "<page>", "<region>", "<join>",
    "<p>", "<h1>", "<h2>", "<h3>", "<li>", "<cap>", "<code>", "<fn>",
    "<table>", "<tr>", "<td>",
]  # fmt: skip
EOS, PAGE, REGION, JOIN, P, H1, H2, H3, LI, CAP, CODE, FN, TABLE, TR, TD = range(15)
LONGEST_TOKEN = 12
"""Characters that may decide how a text begins."""
BLOCKS = frozenset({P, H1, H2, H3, LI, CAP, CODE, FN, TABLE})
CELLS = frozenset({TABLE, TR, TD})
MARKS = BLOCKS | CELLS


class Hint:
    """What the layout pipeline says of a line that opens no block of its own; of one that does,
    the hint is the block's mark (see `SPECIAL`)."""

    NONE = 0
    FURNITURE = 1
    GOES_ON = 2


@dataclass(frozen=True)
class Gaze:
    """Where the model looks after a token: a function of the tokens so far.

    ``line`` is the visual line being read (-1: none), ``character`` how many characters of
    it have been written, ``inner`` how many bytes of the next one, of which ``left`` are
    missing, ``seen`` the lines pointed at so far.
    """

    line: int = -1
    character: int = 0
    inner: int = 0
    left: int = 0
    seen: frozenset[int] = frozenset()


@dataclass
class DialectLine:
    """One line of output: its pointer, its mark (0 where it goes on with the block before),
    its text, and whether it is glued to the line before."""

    line: int
    mark: int
    tokens: list[int]
    glued: bool = False


class Dialect:
    """Between token ids, and lines with marks. Wraps the byte-level BPE tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.vocabulary: int = tokenizer.get_vocab_size()

    @classmethod
    def load(cls, folder: str | Path) -> Dialect:
        from tokenizers import Tokenizer

        return cls(Tokenizer.from_file(str(Path(folder) / "tokenizer.json")))

    @cached_property
    def bytes(self) -> list[bytes]:
        """What each token stands for; marks stand for nothing."""
        return [
            bytes(_BYTES[symbol] for symbol in self.tokenizer.id_to_token(token) or "")
            if token >= len(SPECIAL)
            else b""
            for token in range(self.vocabulary)
        ]

    @cached_property
    def _characters(self) -> list[int]:
        """Characters of every token, -1 for one that begins or ends within a character."""
        return [len(text) if (text := _decoded(piece)) is not None else -1 for piece in self.bytes]

    @cached_property
    def of_byte(self) -> list[int]:
        """The token that stands for each byte alone."""
        symbols = sorted(_BYTES, key=lambda symbol: _BYTES[symbol])
        return [self.tokenizer.token_to_id(symbol) or 0 for symbol in symbols]

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, tokens: Sequence[int]) -> str:
        return self.tokenizer.decode(list(tokens), skip_special_tokens=True)

    def starting(self, texts: Sequence[str]) -> list[list[int]]:
        """For every character of every text the token that starts with it: of the text's own
        tokens, or, where they have another seam, of what follows."""
        encode = partial(self.tokenizer.encode_batch, add_special_tokens=False)
        starts = [[0] * len(text) for text in texts]
        for tokens, whole in zip(starts, encode(list(texts)), strict=True):
            for token, (start, end) in zip(whole.ids, whole.offsets, strict=True):
                if start < end and not tokens[start]:
                    tokens[start] = token
        missing = [
            (r, i) for r, row in enumerate(starts) for i, found in enumerate(row) if not found
        ]
        rest = [texts[row][i : i + LONGEST_TOKEN] for row, i in missing]
        for (row, i), own in zip(missing, encode(rest), strict=True):
            starts[row][i] = own.ids[0]
        return starts

    def advance(self, gaze: Gaze, token: int) -> Gaze:
        """A character counts when its last byte is written."""
        if token >= self.vocabulary:
            line = token - self.vocabulary
            return Gaze(line, seen=gaze.seen | {line})
        whole = self._characters[token]
        if whole == 0:
            return gaze
        if whole > 0:
            return Gaze(gaze.line, gaze.character + whole, seen=gaze.seen)
        count, inner, left = _count(self.bytes[token], gaze.inner, gaze.left)
        return Gaze(gaze.line, gaze.character + count, inner, left, gaze.seen)

    def write(self, lines: Sequence[DialectLine]) -> list[int]:
        """Token ids of ``lines``, without prompt and end."""
        tokens: list[int] = []
        for line in lines:
            if line.glued:
                tokens.append(JOIN)
            tokens.append(self.vocabulary + line.line)
            if line.mark:
                tokens.append(line.mark)
            tokens += line.tokens
        return tokens

    def read(self, tokens: Sequence[int]) -> list[DialectLine]:
        """Inverse of `write`; whatever stands before the first pointer is ignored."""
        lines: list[DialectLine] = []
        glued = False
        for token in tokens:
            if token == EOS:
                break
            if token == JOIN:
                glued = True
            elif token >= self.vocabulary:
                lines.append(DialectLine(token - self.vocabulary, 0, [], glued))
                glued = False
            elif lines and token in MARKS:
                lines[-1].mark = token
            elif lines:
                lines[-1].tokens.append(token)
        return lines


def _decoded(piece: bytes) -> str | None:
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return None


def _count(piece: bytes, inner: int, left: int) -> tuple[int, int, int]:
    """Characters that ``piece`` completes after ``inner`` bytes of one of which ``left`` are
    missing, and the same two after it. What is no UTF-8 counts as a character a byte."""
    count = 0
    for byte in piece:
        if left and 0x80 <= byte < 0xC0:
            inner, left = inner + 1, left - 1
            if not left:
                count, inner = count + 1, 0
        elif byte < 0xC0:
            count, inner, left = count + 1, 0, 0
        else:
            count += left > 0
            inner, left = 1, 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
    return count, inner, left


def _alphabet() -> dict[str, int]:
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in set(printable)]
    return {chr(b): b for b in printable} | {chr(256 + i): b for i, b in enumerate(others)}


_BYTES = _alphabet()
"""The byte that each symbol of a byte-level BPE stands for (GPT-2's printable alphabet)."""
