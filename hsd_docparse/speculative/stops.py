"""Where a sequence ends. Stops are found inside accepted blocks, atom by atom."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from operator import eq
from typing import Any


class StopTokens:
    """Ends with the first of ``tokens``, which is part of the output."""

    reason = "stop"

    def __init__(self, tokens: int | Collection[int]) -> None:
        self.tokens = frozenset([tokens] if isinstance(tokens, int) else tokens)

    def ends(self, output: Sequence[int], length: int) -> bool:
        return output[length - 1] in self.tokens


class StopStrings:
    """Ends with the token that completes one of ``strings`` in the decoded text, wherever in a
    block it stands. `trimmed` cuts the text there.

    ``decode`` makes text of token ids (a tokenizer's ``decode``).
    """

    reason = "stop"

    def __init__(self, strings: str | Collection[str], decode: Callable[[list[int]], str]) -> None:
        self.strings = (strings,) if isinstance(strings, str) else tuple(strings)
        if not all(self.strings) or not self.strings:
            raise ValueError("A stop string has at least one character.")
        self.decode = decode
        # A character may take several tokens, up to four where bytes are tokens.
        self.tail = 4 * max(map(len, self.strings)) + 4

    def ends(self, output: Sequence[int], length: int) -> bool:
        text = self.decode(list(output[max(0, length - self.tail) : length]))
        return any(string in text for string in self.strings)

    def trimmed(self, output: Sequence[int]) -> str:
        """The decoded text, up to the first stop string."""
        text = self.decode(list(output))
        return text[: min([len(text), *(at for s in self.strings if (at := text.find(s)) >= 0)])]


class MaxLength:
    """Ends after ``limit`` atoms, at least one."""

    reason = "length"

    def __init__(self, limit: int) -> None:
        if limit < 1:
            raise ValueError("A sequence has at least one atom.")
        self.limit = limit

    def ends(self, output: Sequence[Any], length: int) -> bool:
        return length >= self.limit


class Loop:
    """Ends when the output has repeated the same ``unit`` of at most ``longest`` atoms
    ``times`` times in a row, and for ``least`` atoms more: a language model that does so
    never comes back.

    ``least`` is there for honest text, where short units repeat often: leaders of dots, empty
    rows of a form, tables of zeros.
    """

    reason = "loop"

    def __init__(self, times: int = 8, longest: int = 64, least: int = 128) -> None:
        self.times = times
        self.longest = longest
        self.least = least

    def ends(self, output: Sequence[Any], length: int) -> bool:
        tail = output[max(0, length - self.least - self.times * self.longest) : length]
        for unit in range(1, min(self.longest, (len(tail) - self.least) // self.times) + 1):
            if tail[-1] != tail[-1 - unit]:
                continue
            end = tail[-self.least - self.times * unit :]
            if all(map(eq, end, end[unit:])):
                return True
        return False
