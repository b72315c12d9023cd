"""Token classes: which tokens have letters or digits, how long they are, and which of them are terms.

A term has no digit and at least three letters, and is not a character of a script without spaces between words.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.text.unicode_kinds import DIGIT, LETTER, LOWER, SINGLE_DIGIT, code_points, kinds, kinds_of
from ibidem_ingest.text.word_hash import Hashes, Places, eight_bytes, further_words

Octets = NDArray[np.uint8]


def gather_slices(buffer: bytes, starts: Places, sizes: Places) -> Octets:
    """Copy stretches of a buffer side by side.

    Args:
        buffer: Any bytes.
        starts: Where each stretch begins.
        sizes: How many bytes it has, at least one.

    >>> gather_slices(b"res ipsa loquitur", np.array([9, 0]), np.array([4, 3])).tobytes()
    b'loqures'
    """
    steps = np.ones(sizes.sum(), np.int64)
    begins = sizes.cumsum() - sizes
    steps[begins] = starts
    steps[begins[1:]] -= starts[:-1] + sizes[:-1] - 1
    return np.frombuffer(buffer, np.uint8).take(steps.cumsum())


LEAST_LETTERS = 3

_TERM = re.compile(rb"(?:[Ll]M*+){3,}+")
_LONG = 64
_HIGH = np.uint64(0x8080808080808080)
_LOW = np.uint64(0x7F7F7F7F7F7F7F7F)
_ZEROS = np.uint64(0x3030303030303030)
_PAST_NINE = np.uint64(0x7676767676767676)

Flags = NDArray[np.bool_]


def is_term(token: str) -> bool:
    """Return whether a token is a term.

    >>> [is_term(token) for token in ("rule", "of", "12b", "東")]
    [True, False, False, False]
    """
    if token.isascii():
        return token.isalpha() and len(token) >= LEAST_LETTERS
    return _TERM.fullmatch(kinds_of(token)) is not None


def has_digit(token: str) -> bool:
    """Return whether a token holds a digit."""
    if token.isascii():
        return not token.isalpha()
    return not {DIGIT, SINGLE_DIGIT}.isdisjoint(kinds_of(token))


@dataclass(frozen=True, eq=False, slots=True)
class TokenShapes:
    """The shapes of many tokens.

    Args:
        characters: Number of characters of each.
        is_term: Whether each is a term.
        has_digit: Whether each holds a digit.
    """

    characters: Places
    is_term: Flags
    has_digit: Flags

    @classmethod
    def of(cls, buffer: bytes, starts: Places, ends: Places, leading: Hashes) -> "TokenShapes":
        """Look at tokens in the buffer of a batch.

        Args:
            buffer: UTF-8; at least eight bytes follow the last token.
            starts: Byte offset of each token.
            ends: Byte offset behind each.
            leading: Its first eight bytes, as in `TokenBatch`.

        >>> from ibidem_ingest.text.word_hash import hash_tokens
        >>> buffer, starts, ends = "naïve 12b ".encode() + b" " * 8, np.array([0, 7]), np.array([6, 10])
        >>> shapes = TokenShapes.of(buffer, starts, ends, hash_tokens(buffer, starts, ends)[1])
        >>> shapes.characters.tolist(), shapes.is_term.tolist(), shapes.has_digit.tolist()
        ([5, 3], [True, False], [False, True])
        """
        sizes = ends - starts
        digits, high = _digits(leading), leading & _HIGH
        for tokens, further in further_words(eight_bytes(buffer), starts, sizes, _LONG):
            digits[tokens] |= _digits(further)
            high[tokens] |= further & _HIGH
        has_digit = digits != 0
        shapes = cls(sizes, (sizes >= LEAST_LETTERS) & ~has_digit, has_digit)
        unusual = np.flatnonzero((high != 0) | (sizes > _LONG))
        if unusual.size:
            shapes.correct(unusual, buffer, starts.take(unusual))
        return shapes

    def correct(self, tokens: Places, buffer: bytes, starts: Places) -> None:
        """Look again, character by character, at tokens that are long or not in ASCII."""
        sizes = self.characters.take(tokens)
        octets = gather_slices(buffer, starts, sizes)
        owner = np.repeat(np.arange(tokens.size), sizes)[octets & 0xC0 != 0x80]
        shapes = kinds().take(code_points(octets.tobytes().decode()))
        letters = np.bincount(owner[np.isin(shapes, (LETTER, LOWER))], minlength=tokens.size)
        digits = np.bincount(owner[np.isin(shapes, (DIGIT, SINGLE_DIGIT))], minlength=tokens.size)
        self.characters[tokens] = np.bincount(owner, minlength=tokens.size)
        self.has_digit[tokens] = digits > 0
        self.is_term[tokens] = (letters >= LEAST_LETTERS) & (digits == 0)


def _digits(words: Hashes) -> Hashes:
    """Set the highest bit of every byte that is an ASCII digit, in words of eight bytes, and no other bit."""
    figures = words ^ _ZEROS
    over = figures & _LOW
    over += _PAST_NINE
    over |= figures
    return ~over & _HIGH
