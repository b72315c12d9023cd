"""Encoding of look-up keys: a letter for the field and seven digits for the value, eight characters each.

A key is the letter of its class and seven digits to the base 32 (`0` to `v`, the highest first): the highest 35 bits of
the value times an odd constant, modulo 2^64 (multiply-shift hashing: Dietzfelbinger, Hagerup, Katajainen, Penttonen
1997, doi:10.1006/jagm.1997.0873). Two values share a key by chance once in 2^34: what is found is compared anyway.

    key = letter, base32((value · C2 mod 2^64) >> 29)
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.text.word_hash import C2, Hashes

Letter = Literal["b", "r", "c", "p", "q", "s"]
"""The classes: bands, rare terms, runs of characters, profiles of pages, bands of pages, sampled words."""

DIGITS = 7
_ALPHABET = np.frombuffer(b"0123456789abcdefghijklmnopqrstuv", np.uint8)
_SHIFTS = np.arange(5 * DIGITS - 5, -1, -5, dtype=np.uint64)


def keys(letter: Letter, values: Hashes) -> NDArray[np.bytes_]:
    """Write values as keys.

    Args:
        letter: Their class.
        values: Of any shape.

    Returns:
        The keys in the same shape, eight bytes of ASCII each.

    >>> keys("b", np.array([0, 1], np.uint64)).tolist()
    [b'b0000000', b'boapasf9']
    """
    return _written(letter, _mixed(values))


def texts(letter: Letter, values: Hashes) -> list[str]:
    """Return the keys of a row of values as strings."""
    return _strings(keys(letter, values))


def rows(letter: Letter, values: Hashes) -> list[list[str]]:
    """Return the keys of each of several rows of values as strings."""
    written, wide = _strings(keys(letter, values)), values.shape[1]  # in half the time of the array's own `tolist`
    return [written[at : at + wide] for at in range(0, len(written), wide)]


def distinct(letter: Letter, values: Hashes) -> list[str]:
    """Return the keys of a row of values as strings, each once and in order."""
    return _strings(_written(letter, np.unique(_mixed(values))))


def _mixed(values: Hashes) -> Hashes:
    return values * np.uint64(C2) >> np.uint64(29)


def _written(letter: Letter, mixed: Hashes) -> NDArray[np.bytes_]:
    digits = mixed[..., None] >> _SHIFTS & np.uint64(31)
    written = np.full((*mixed.shape, DIGITS + 1), ord(letter), np.uint8)
    written[..., 1:] = _ALPHABET.take(digits.view(np.int64))
    return written.view("S8")[..., 0]


def _strings(written: NDArray[np.bytes_]) -> list[str]:
    joined = written.tobytes().decode()
    return [joined[at : at + DIGITS + 1] for at in range(0, len(joined), DIGITS + 1)]
