"""What docparse-mini writes: the tokens of its language, and what they say about reading.

A page is a sequence of lines. Every line begins with a *pointer* (token ``vocabulary + i``
for line ``i`` in visual order), then a mark if the line opens a block or a table cell, then
the line's text:

    <page> 7 H1 Annual report  9 P The year began with  10 a record harvest.  12 TABLE Item 13 TD Price ...

So reading order, dropped headers and the place of every word are things that the model
decides and the output states. Lines of one block are joined with a space, unless ``JOIN``
stands between them. ``VOID`` stands for the pointer of a cell that holds nothing.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
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
BLOCKS = frozenset({P, H1, H2, H3, LI, CAP, CODE, FN, TABLE})
CELLS = frozenset({TABLE, TR, TD})


@dataclass(frozen=True)
class Gaze:
    """Where the model looks after a token: a function of the tokens so far.

    ``line`` is the visual line being read (-1: none), ``character`` how many characters of
    it have been written, ``seen`` the lines pointed at so far.
    """

    line: int = -1
    character: int = 0
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
    def characters(self) -> list[int]:
        """Characters that each token stands for. A character is counted at its first byte;
        marks count none."""
        counts = []
        for token in range(self.vocabulary):
            piece = self.tokenizer.id_to_token(token) or ""
            if token < len(SPECIAL):
                counts.append(0)
            else:
                counts.append(sum(not 0x80 <= _byte(c) < 0xC0 for c in piece))
        return counts

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, tokens: Sequence[int]) -> str:
        return self.tokenizer.decode(list(tokens), skip_special_tokens=True)

    def advance(self, gaze: Gaze, token: int) -> Gaze:
        if token >= self.vocabulary:
            line = token - self.vocabulary
            return Gaze(line, 0, gaze.seen | {line})
        return Gaze(gaze.line, gaze.character + self.characters[token], gaze.seen)

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
            elif lines and token in BLOCKS | CELLS:
                lines[-1].mark = token
            elif lines:
                lines[-1].tokens.append(token)
        return lines


def _byte(symbol: str) -> int:
    """The byte that a symbol of a byte-level BPE stands for (GPT-2's printable alphabet)."""
    return _BYTES[symbol]


def _alphabet() -> dict[str, int]:
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in set(printable)]
    return {chr(b): b for b in printable} | {chr(256 + i): b for i, b in enumerate(others)}


_BYTES = _alphabet()
