"""How common words are, from the lists that come with pyspellchecker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

_FUNCTION_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the of and to is that for with by on this are you",
        "de": "der die und das ist nicht den zu mit von des ein sich",
        "fr": "le les et est une dans pour du qui sur par au il",
        "es": "el los que en las por una del para con su como y",
        "it": "il di che della per non un sono del gli con nel le",
        "pt": "os da dos uma para em não que ao pelo com mais foi",
        "nl": "de het een van en dat niet zijn voor met aan ook wordt",
    }.items()
}
"""Language -> some of its commonest words, few of which another has."""
_FEWEST = 5
"""Words below which a text is in no language that one could name."""
_LEAST_KNOWN = 0.5
"""Share of the words of a text that its language has to know: names and numbers aside."""


class Dictionary:
    """Words of one language."""

    def __init__(self, language: str) -> None:
        from spellchecker import SpellChecker

        words = SpellChecker(language=language).word_frequency
        self._total = words.total_words
        self._counts = words.dictionary

    def frequency(self, word: str) -> float:
        """Share of ``word``, in any case, among the words of running text; 0 where unknown."""
        return self._counts.get(word.lower(), 0) / self._total


def dictionary_for(words: Iterable[str]) -> Dictionary | None:
    """The dictionary of the language in which most of ``words`` are; English where none of the
    common ones is among them. None where the language does not know half of them."""
    counts = Counter(word.lower() for word in words)
    if counts.total() < _FEWEST:
        return None
    found = {
        language: sum(counts[word] for word in common)
        for language, common in _FUNCTION_WORDS.items()
    }
    dictionary = _dictionary(max(found, key=found.__getitem__))
    known = sum(count for word, count in counts.items() if dictionary.frequency(word))
    return dictionary if known >= _LEAST_KNOWN * counts.total() else None


@cache
def _dictionary(language: str) -> Dictionary:
    return Dictionary(language)
