"""Bigrams of scripts in which a letter is a syllable or a word, and the list of the bigrams that exist.

A misread letter makes two pairs of letters that hardly any text has; that is what words in no list are to alphabets.
A text is *dense* where more than a sixth of its letters are Han, Kana, Hangul, Thai, Lao, Khmer or Burmese ones: a word
in Latin letters has about six times as many. Its bigrams are neighbouring dense letters; in Hangul, which writes
spaces, only within a word. A single letter of an alphabet between two dense ones, such as a misread one, makes two
bigrams with them.

    t = wh1 of the two code points, little-endian, four bytes each;   a bigram is known where the bit t >> 42 is set

The list, `bigrams1.z`, has 2^22 bits (zlib, RFC 1950); one bigram in some hundreds is taken for a known one by chance.
It is made by `.ci/bigrams.py`, which names its sources; it is part of the schema, and never changed.
"""

import zlib
from bisect import bisect
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.text.word_hash import hash_bytes

LIST = "bigrams1.z"
BITS = 22
SHIFT = 64 - BITS
# Code points of dense letters, from one up to another: Thai and Lao, Burmese, Khmer, Kana, Han, Hangul, more Han.
RANGES = (
    (0x0E00, 0x0F00),
    (0x1000, 0x10A0),
    (0x1780, 0x1800),
    (0x3005, 0x3008),
    (0x3040, 0x3100),
    (0x31F0, 0x3200),
    (0x3400, 0x4DC0),
    (0x4E00, 0xA000),
    (0xAC00, 0xD7A4),
    (0xF900, 0xFB00),
    (0x20000, 0x32400),
)

_EDGES = [edge for range_ in RANGES for edge in range_]
_HANGUL = range(0xAC00, 0xD7A4)
_ALPHABETS = 0x530  # latin, Greek and Cyrillic letters are below it

_NO_LETTERS = " 0123456789"


def is_dense_letter(letter: str) -> bool:
    """Return whether a letter is a syllable or a word."""
    return bisect(_EDGES, ord(letter)) % 2 == 1


def bigrams(tokens: Sequence[str]) -> Iterator[str]:
    """Yield the bigrams of a text."""
    for before, letter in _neighbours(tokens):
        if is_dense_letter(before) and is_dense_letter(letter):
            yield before + letter


def single_letters(tokens: Sequence[str]) -> Iterator[str]:
    """Yield the bigrams of single alphabetic letters between two dense letters.

    >>> list(single_letters(["東", "a", "京", "ab", "京"])), list(single_letters(["한a국", "b", "말"]))
    (['東a', 'a京'], ['한a', 'a국'])
    """
    for (first, letter), (same, last) in pairwise(_neighbours(tokens)):
        is_single = letter == same and is_dense_letter(first) and is_dense_letter(last)
        if is_single and ord(letter) < _ALPHABETS and letter not in _NO_LETTERS:
            yield first + letter
            yield letter + last


def _neighbours(tokens: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield adjacent letters; a blank replaces the first at the beginning or end of a word of Hangul."""
    before = " "
    for token in tokens:
        for position, letter in enumerate(token):
            is_word = position > 0 or not (ord(before) in _HANGUL or ord(letter) in _HANGUL)
            yield (before if is_word else " "), letter
            before = letter


def hash_bigram(bigram: str) -> int:
    return hash_bytes(bigram.encode("utf-32-le"))


@cache
def known() -> NDArray[np.uint8]:
    """Read the list, one bit for each value of the highest bits of a hash."""
    return np.frombuffer(zlib.decompress(resources.files(__package__).joinpath(LIST).read_bytes()), np.uint8)


def unknown(tokens: Sequence[str]) -> list[int]:
    """Return the hashes of a text's distinct bigrams missing in the list, ascending."""
    hashes = {hash_bigram(bigram) for bigram in {*bigrams(tokens), *single_letters(tokens)}}
    bits = known()
    return sorted(each for each in hashes if not bits[each >> SHIFT + 3] >> (each >> SHIFT & 7) & 1)
