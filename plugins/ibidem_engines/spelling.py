"""Spellings at edit distance one, a transposition counted as one."""

from collections.abc import Iterator

SHORTEST, LONGEST = 3, 40
"""Letters of a word that spellings are looked for of: shorter ones are one slip from very many."""

MOST_WORDS = 10
"""Words of a query that are looked at."""

ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "αβγδεζηθικλμνξοπρστυφχψω",
    "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "אבגדהוזחטיכלמנסעפצקרשתךםןףץ",
    "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
)


def spellings(word: str) -> set[str]:
    """Make every spelling that is one slip away from a word, in the letters of its own alphabet.

    Args:
        word: In small letters without marks, as texts are indexed.

    >>> {"grain", "gain", "rain"} <= spellings("gran") | spellings("garin") | spellings("grin") | spellings("rgain")
    True
    >>> spellings("an")
    set()
    """
    return set(_spellings(word)) - {word} if SHORTEST <= len(word) <= LONGEST else set()


def _spellings(word: str) -> Iterator[str]:
    letters = "".join(alphabet for alphabet in ALPHABETS if set(alphabet) & set(word)) or "".join(sorted(set(word)))
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        yield from (before + letter + after for letter in letters)
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in letters)
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
