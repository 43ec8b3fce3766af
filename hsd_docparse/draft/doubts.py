"""What the recogniser was unsure of, settled by the rest of the page and by a dictionary.

The network judges a line by its picture alone and tells, for every character, what else it may
be. A reader knows more: which symbols the page uses, and which words there are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence, Set
from typing import NamedTuple

from hsd_docparse.draft.dictionary import Dictionary, dictionary_for
from hsd_docparse.draft.recognizer import Reading

_SURE = 0.97
"""Probability from which a character is beyond doubt."""
_WORD = re.compile("[A-Za-z\u00c0-\u024f]+")
_SLASHED_ZERO = frozenset("\u03b8\u0398\u2205\u00d8\u00f8")
"""What a zero with a stroke or a dot is taken for."""
_PLAIN = 0.1
"""Probability, over that of the symbol that was read, from which a plain one is taken for it."""
_LEAST = 0.02
"""Probability of a word, over that of what was read and is no word, from which it may be meant."""
_SPACE = 0.35
"""Probability from which a space is written that was not read; within words it takes more."""
_COMMON = 1e-6
"""Frequency from which a word stands alone: word lists hold many scraps that are rarer."""
_SHORTEST = 2
"""Letters from which a string may be a word that was misread, or one of two that are glued."""
_BEAM = 16
"""Likeliest beginnings of a word that are followed."""


class _Letter(NamedTuple):
    char: str
    probability: float
    source: int
    """Place in the reading."""


def settled(readings: Sequence[Reading]) -> list[Reading]:
    """Readings of all lines of a page, with other characters or spaces where that is likelier."""
    shown = {
        char
        for reading in readings
        for char, probability in zip(reading.text, reading.probabilities, strict=True)
        if probability >= _SURE
    }
    readings = [_with_spaces(_plain(reading, shown)) for reading in readings]
    dictionary = dictionary_for(
        word
        for reading in readings
        for word in _WORD.findall(reading.text)
        if len(word) >= _SHORTEST
    )
    if dictionary is None:
        return readings
    return [_with_words(reading, dictionary) for reading in readings]


def _plain(reading: Reading, shown: Set[str]) -> Reading:
    """Without accents that the page surely ``shown`` nowhere, which are specks, and with zeros for
    what looks like them among figures."""
    letters = _letters(reading)
    figures = not any(map(_is_letter, set(reading.text) - _SLASHED_ZERO))
    for place, others in reading.others.items():
        char, probability, _ = letters[place]
        alike = {char, *others}
        if figures and "0" in alike and alike & _SLASHED_ZERO and char in _SLASHED_ZERO | {"0"}:
            zeros = [p for c, p in others.items() if c in _SLASHED_ZERO | {"0"}]
            letters[place] = _Letter("0", probability + sum(zeros), place)
            continue
        base = unicodedata.normalize("NFD", char)[0]
        accented = base.isascii() and char not in shown
        if accented and others.get(base, 0.0) >= _PLAIN * probability:
            letters[place] = _Letter(base, probability + others[base], place)
    return _written(reading, letters)


def _with_spaces(reading: Reading) -> Reading:
    """With the spaces that the network nearly read beside figures and marks, and with the
    decimal points of which it saw a trace where it read spaces."""
    written: list[_Letter] = []
    letters = _letters(reading)
    for before, letter, after in zip([None, *letters], letters, [*letters[1:], None], strict=False):
        p = reading.spaces.get(letter.source, 0.0)
        if before and p >= _SPACE and _may_part(before.char, letter.char):
            written.append(_Letter(" ", p, letter.source))
        figures = before and after and before.char.isdigit() and after.char.isdigit()
        if letter.char == " " and figures:
            others = reading.others.get(letter.source, {})
            point = next((char for char in others if char in (".", ",")), None)
            if point:
                letter = letter._replace(char=point, probability=others[point])
        written.append(letter)
    return _written(reading, written)


def _may_part(first: str, second: str) -> bool:
    return (first + second).isascii() and not (first + second).isalpha()


def _with_words(reading: Reading, dictionary: Dictionary) -> Reading:
    letters = _letters(reading)
    written: list[_Letter] = []
    before: list[_Letter] = []
    end = 0
    for word in _WORD.finditer(reading.text):
        between, own = letters[end : word.start()], letters[word.start() : word.end()]
        spaced = [letter.char for letter in between] == [" "]
        if not (spaced and before and _belongs(before, own, dictionary)):
            written += between
        if len(own) >= _SHORTEST and not dictionary.frequency(word[0]):
            own = _meant(own, reading, dictionary) or _parted(own, reading, dictionary) or own
        written += own
        before, end = own, word.end()
    return _written(reading, [*written, *letters[end:]])


def _belongs(first: list[_Letter], second: list[_Letter], dictionary: Dictionary) -> bool:
    """Whether both are one word: the longer part is none, as in "m ainly"."""
    longer, whole = max(first, second, key=len), [*first, *second]
    if dictionary.frequency(_text(longer)) or not _text(whole)[1:].islower():
        return False  # capitals are abbreviations and names
    return _stands_alone(whole, dictionary)


def _meant(
    letters: list[_Letter], reading: Reading, dictionary: Dictionary
) -> list[_Letter] | None:
    """The word that looks most like ``letters``, which are none; what of it was not read is as sure
    as the word is among all that may be meant."""
    read = 1.0
    for letter in letters:
        read *= letter.probability
    beam: list[tuple[float, list[_Letter]]] = [(1.0, [])]
    for letter in letters:
        others = reading.others.get(letter.source, {})
        choices = [letter] + [
            _Letter(char, p, letter.source) for char, p in others.items() if _is_letter(char)
        ]
        beam = [(p * choice.probability, [*word, choice]) for p, word in beam for choice in choices]
        beam = sorted(beam, key=lambda pair: -pair[0])[:_BEAM]
    best: list[_Letter] | None = None
    # A short string that no list holds, an abbreviation, is likelier than a long one.
    most = every = read * 10.0 ** -min(len(letters) + 2, 7)
    for p, word in beam:
        likely = p * dictionary.frequency(_text(word))
        every += likely
        if p >= _LEAST * read and likely > most:
            most, best = likely, word
    if best is None:
        return None
    return [
        old if new is old else _cased(new._replace(probability=most / every), old)
        for new, old in zip(best, letters, strict=True)
    ]


def _cased(new: _Letter, old: _Letter) -> _Letter:
    if new.char.isupper() == old.char.isupper():
        return new
    char = new.char.upper() if old.char.isupper() else new.char.lower()
    return new._replace(char=char) if len(char) == 1 else new


def _parted(
    letters: list[_Letter], reading: Reading, dictionary: Dictionary
) -> list[_Letter] | None:
    """``letters`` as common words, if the network saw something of every space between them."""
    for place in range(_SHORTEST, len(letters) - _SHORTEST + 1):
        p = reading.spaces.get(letters[place].source, 0.0)
        first, rest = letters[:place], letters[place:]
        if p < _LEAST or not _stands_alone(first, dictionary):
            continue
        more = rest if _stands_alone(rest, dictionary) else _parted(rest, reading, dictionary)
        if more:
            return [*first, _Letter(" ", p, letters[place].source), *more]
    return None


def _stands_alone(letters: Sequence[_Letter], dictionary: Dictionary) -> bool:
    return dictionary.frequency(_text(letters)) >= _COMMON


def _text(letters: Sequence[_Letter]) -> str:
    return "".join(letter.char for letter in letters)


def _is_letter(char: str) -> bool:
    return bool(re.fullmatch("[A-Za-z\u00c0-\u024f]", char))


def _letters(reading: Reading) -> list[_Letter]:
    return [
        _Letter(char, p, i)
        for i, (char, p) in enumerate(zip(reading.text, reading.probabilities, strict=True))
    ]


def _written(reading: Reading, letters: Sequence[_Letter]) -> Reading:
    """``reading`` with other letters, and the doubts of those that stayed."""
    places = {letter.source: place for place, letter in enumerate(letters)}
    return Reading(
        _text(letters),
        [letter.probability for letter in letters],
        reading.glyphs[[letter.source for letter in letters]],
        {places[at]: others for at, others in reading.others.items() if at in places},
        {places[at]: p for at, p in reading.spaces.items() if at in places},
    )
