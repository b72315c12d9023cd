"""Spelling suggestion: the words of a query without matches, replaced by similar terms of the index.

A transposition counts as one edit.
"""

from collections.abc import Iterator
from dataclasses import replace

from ibidem_engines.engine import Engine
from ibidem_engines.highlighting import word_spans
from ibidem_engines.query import Query, parse_query

# Letters of a word that spellings are looked for of: shorter ones are one slip from very many.
MIN_LETTERS, MAX_LETTERS = 3, 40

MAX_WORDS = 10  # words of a query that are looked at

ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "αβγδεζηθικλμνξοπρστυφχψω",
    "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "אבגדהוזחטיכלמנסעפצקרשתךםןףץ",
    "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
)


def spellings(word: str) -> set[str]:
    """Yield all words at edit distance one from a word, with the letters of its alphabet.

    >>> {"grain", "gain", "rain"} <= spellings("gran") | spellings("garin") | spellings("grin") | spellings("rgain")
    True
    >>> spellings("an")
    set()
    """
    return set(_spellings(word)) - {word} if MIN_LETTERS <= len(word) <= MAX_LETTERS else set()


def _spellings(word: str) -> Iterator[str]:
    letters = "".join(alphabet for alphabet in ALPHABETS if set(alphabet) & set(word)) or "".join(sorted(set(word)))
    for position in range(len(word) + 1):
        head, tail = word[:position], word[position:]
        yield from (head + letter + tail for letter in letters)
        if tail:
            yield head + tail[1:]
            yield from (head + letter + tail[1:] for letter in letters)
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]


def did_you_mean(engine: Engine, query: Query) -> str:
    """Return a corrected query that has matches, or an empty string."""
    words = dict.fromkeys(
        word for phrase in query.phrases() if not phrase.prefix for word, _, _ in word_spans(phrase.text)
    )
    better = engine.suggest(list(words)) if words else {}
    if not better:
        return ""
    typed = query.typed
    for word, begin, end in reversed(list(word_spans(typed))):
        if word in better:
            typed = typed[:begin] + better[word] + typed[end:]
    corrected = replace(parse_query(typed), filters=query.filters, excluded=query.excluded)
    return typed if engine.search(corrected, 1).total else ""
