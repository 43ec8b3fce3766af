"""Where the draft of a page goes on once the output has departed from it."""

from __future__ import annotations

from collections.abc import Sequence

from hsd_docparse.targets.mini.dialect import EOS, JOIN, MARKS, SPECIAL, Dialect, Gaze


class Places:
    """``tokens`` as `PageLines.drafts` are written: every line once, behind its pointer.

    So a pointer says where the draft goes on, whatever was said before. A mark that is another, or
    one too many or too few, leaves the text of the line as it is; so does a token of text that
    stands for as many characters as some of the draft's.
    """

    def __init__(self, tokens: Sequence[int], dialect: Dialect) -> None:
        self.tokens = tokens
        self.dialect = dialect
        self.behind = {
            token: place + 1 for place, token in enumerate(tokens) if token >= dialect.vocabulary
        }
        """Of every pointer."""
        self.gazes = [Gaze()]
        for token in tokens:
            self.gazes.append(dialect.advance(self.gazes[-1], token))

    def __call__(self, place: int | None, output: Sequence[int]) -> int | None:
        """A `speculative.drafters.weighed_text.Resume`."""
        token = output[-1]
        if token >= self.dialect.vocabulary:
            return self.behind.get(token)
        if place is None or place >= len(self.tokens):
            return None
        return self._within(place, token)

    def _within(self, place: int, token: int) -> int | None:
        """Behind ``token``, which is no pointer, where the draft has its own at ``place``."""
        here = self.tokens[place]
        if here >= self.dialect.vocabulary or here in (JOIN, EOS):
            return place  # The line goes on: the draft still says that it has ended.
        if token in MARKS:
            return place + (here in MARKS)
        if token in (JOIN, EOS):
            return None
        if here in MARKS:
            if self.tokens[place + 1] == token:
                return place + 2
            place += 1
        if self.tokens[place] < len(SPECIAL) or self.tokens[place] >= self.dialect.vocabulary:
            return None
        reached = self.dialect.advance(self.gazes[place], token)
        for later in range(place + 1, len(self.tokens) + 1):
            gaze = self.gazes[later]
            if gaze.line != reached.line or gaze.character > reached.character:
                break
            if gaze.character == reached.character and gaze.inner == reached.inner == 0:
                return later
        return None
