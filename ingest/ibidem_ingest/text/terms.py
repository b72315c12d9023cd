"""Terms: which tokens are evidence, and their groups in a batch of texts.

Token classes: which tokens have letters or digits, how long they are, and which of them are terms.

A term has no digit and at least three letters, and is not a character of a script without spaces between words.

The distinct tokens of each document, with first places and counts, from which idf signatures and profiles are made.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.kernel import loops
from ibidem_ingest.text.tokens import (
    DIGIT,
    LETTER,
    LOWER,
    SINGLE_DIGIT,
    TokenBatch,
    character_kinds,
    code_points,
    kinds,
)
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
    return _TERM.fullmatch(character_kinds(token)) is not None


def has_digit(token: str) -> bool:
    """Return whether a token holds a digit."""
    if token.isascii():
        return not token.isalpha()
    return not {DIGIT, SINGLE_DIGIT}.isdisjoint(character_kinds(token))


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
    def classify(cls, buffer: bytes, starts: Places, ends: Places, leading: Hashes) -> "TokenShapes":
        """Look at tokens in the buffer of a batch.

        Args:
            buffer: UTF-8; at least eight bytes follow the last token.
            starts: Byte offset of each token.
            ends: Byte offset behind each.
            leading: Its first eight bytes, as in `TokenBatch`.

        >>> from ibidem_ingest.text.word_hash import hash_tokens
        >>> buffer, starts, ends = "naïve 12b ".encode() + b" " * 8, np.array([0, 7]), np.array([6, 10])
        >>> shapes = TokenShapes.classify(buffer, starts, ends, hash_tokens(buffer, starts, ends)[1])
        >>> shapes.characters.tolist(), shapes.is_term.tolist(), shapes.has_digit.tolist()
        ([5, 3], [True, False], [False, True])
        """
        sizes = ends - starts
        has_digit, unusual = _octets_of_tokens(buffer, starts, ends, leading)
        shapes = cls(sizes, (sizes >= LEAST_LETTERS) & ~has_digit, has_digit)
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


def _octets_of_tokens(buffer: bytes, starts: Places, ends: Places, leading: Hashes) -> tuple[Flags, Places]:
    """Return which tokens hold an ASCII digit, and the tokens to check again: long ones, or not in ASCII."""
    if loops.IN_USE:
        digit, non_ascii = loops.IN_USE.shapes(buffer, starts, ends)
        return digit != 0, np.flatnonzero(non_ascii)
    sizes = ends - starts
    digits, non_ascii = _digits(leading), leading & _HIGH
    for tokens, further in further_words(eight_bytes(buffer), starts, sizes, _LONG):
        digits[tokens] |= _digits(further)
        non_ascii[tokens] |= further & _HIGH
    return digits != 0, np.flatnonzero((non_ascii != 0) | (sizes > _LONG))


def _digits(words: Hashes) -> Hashes:
    """Set the highest bit of every byte that is an ASCII digit, in words of eight bytes, and no other bit."""
    figures = words ^ _ZEROS
    low_bits = figures & _LOW
    low_bits += _PAST_NINE
    low_bits |= figures
    return ~low_bits & _HIGH


_STEP, _LONG_TERM = 8, 64


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The distinct tokens of a batch over all documents, in no order; a token may occur twice.

    Args:
        hashes: `wh1` of each word.
        leading: Its first eight bytes, as in `TokenBatch`.
        starts: Byte offset of one of its occurrences in the buffer.
        ends: Byte offset behind it.
        buffer: The batch's.
    """

    hashes: Hashes
    leading: Hashes
    starts: Places
    ends: Places
    buffer: bytes

    @classmethod
    def build(cls, batch: TokenBatch, places: Places) -> "Vocabulary":
        """Read the words at some places of a batch."""
        hashes, leading = batch.hashes.take(places), batch.leading.take(places)
        return cls(hashes, leading, batch.starts.take(places), batch.ends.take(places), batch.buffer)

    def word(self, number: int) -> bytes:
        """Return the UTF-8 of one word."""
        return self.buffer[self.starts[number] : self.ends[number]]

    @cached_property
    def shapes(self) -> TokenShapes:
        """Kinds of characters that the words consist of."""
        return TokenShapes.classify(self.buffer, self.starts, self.ends, self.leading)


@dataclass(frozen=True, eq=False, slots=True)
class TermGroups:
    """The distinct (word, document) pairs of a batch, in no order that counts.

    Args:
        word: Number of the word in the vocabulary.
        document: Number of the document.
        first: Place of the word's first occurrence in the document, counted in tokens of the batch.
        count: How often it occurs in the document.
        vocabulary: The words.
    """

    word: Places
    document: Places
    first: Places
    count: Places
    vocabulary: Vocabulary

    @classmethod
    def group(cls, batch: TokenBatch, place: Places | None = None) -> "TermGroups":
        """Group the tokens of a batch.

        Args:
            batch: The tokens.
            place: `sort_tokens` of them, where it is known: it does not depend on the documents.

        >>> groups = TermGroups.group(TokenBatch.tokenize(["no means no", "no"]))
        >>> words = [groups.vocabulary.word(number).decode() for number in groups.word]
        >>> sorted(zip(words, groups.document.tolist(), groups.first.tolist(), groups.count.tolist()))
        [('means', 0, 1, 1), ('no', 0, 0, 2), ('no', 1, 3, 1)]
        """
        if loops.IN_USE:
            columns = (batch.buffer, batch.starts, batch.ends, batch.hashes, batch.offsets)
            (word, document, first, count), word_place = loops.IN_USE.groups(*columns)
            return cls(word, document, first, count, Vocabulary.build(batch, word_place))
        place = sorted_places(batch.hashes) if place is None else place
        sorted_hashes, owner = batch.hashes.take(place), batch.documents.take(place)
        new_word = np.ones(place.size, bool)
        np.not_equal(sorted_hashes[1:], sorted_hashes[:-1], out=new_word[1:])
        is_begin = new_word.copy()
        is_begin[1:] |= owner[1:] != owner[:-1]
        begins = np.flatnonzero(is_begin)
        differ = ~new_word.take(begins)
        differ[differ] = _differs_from_previous(batch, place.take(begins), np.flatnonzero(differ))
        new_word[begins.take(np.flatnonzero(differ))] = True
        words = np.flatnonzero(new_word)
        word_place, sizes = place.take(words), np.diff(np.flatnonzero(new_word.take(begins)), append=begins.size)
        return cls(
            word=np.repeat(np.arange(words.size), sizes),
            document=owner.take(begins),
            first=place.take(begins),
            count=np.diff(begins, append=place.size),
            vocabulary=Vocabulary.build(batch, word_place),
        )


def _differs_from_previous(batch: TokenBatch, place: Places, numbers: Places) -> Flags:
    """Return which tokens differ from the one before them with the same hash: `wh1` is no cryptographic hash.

    One document's words say nothing of another's so, though both are signed in one batch.

    Args:
        batch: The tokens.
        place: Their places.
        numbers: Numbers of the tokens to check, from 1 on.
    """
    current, previous = place.take(numbers), place.take(numbers - 1)
    starts, previous_starts = batch.starts.take(current), batch.starts.take(previous)
    sizes = batch.ends.take(current) - starts
    unlike: Flags = sizes != batch.ends.take(previous) - previous_starts
    unlike |= batch.leading.take(current) != batch.leading.take(previous)
    open_ = np.flatnonzero(~unlike & (sizes > _STEP))
    starts, previous_starts, sizes = starts.take(open_), previous_starts.take(open_), sizes.take(open_)
    words = eight_bytes(batch.buffer)
    streams = (further_words(words, first, sizes, _LONG_TERM) for first in (starts, previous_starts))
    for (tokens, a), (_, b) in zip(*streams, strict=True):
        unlike[open_.take(tokens)] |= a != b
    for at in np.flatnonzero(sizes > _LONG_TERM).tolist():
        a, b = (batch.buffer[first : first + sizes[at]] for first in (starts[at], previous_starts[at]))
        unlike[open_[at]] = a != b
    return unlike


def sort_tokens(batch: TokenBatch) -> Places | None:
    """Order the tokens of a batch, once for however it is divided; None where compiled loops need no order."""
    return None if loops.IN_USE else sorted_places(batch.hashes)


def first_and_count(tokens: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return first place and count of each distinct token of one document, in the order of the first places.

    >>> first_and_count(["no", "means", "no"])
    {'no': (0, 2), 'means': (1, 1)}
    """
    terms: dict[str, tuple[int, int]] = {}
    for place, token in enumerate(tokens):
        first, count = terms.get(token, (place, 0))
        terms[token] = (first, count + 1)
    return terms


def sorted_places(hashes: Hashes) -> Places:
    """Order tokens by hash, then by place.

    The top 16 bits are sorted by radix, which takes a quarter of the time of a comparison sort; then only tokens
    whose hashes share these bits with another.
    """
    if hashes.size < _RADIX_FROM:
        return _sorted_keys(hashes)
    top = (hashes >> np.uint64(48)).astype(np.uint16)
    places: Places = np.argsort(top, kind="stable")
    sorted_hashes, top = hashes.take(places), top.take(places)
    differ = (sorted_hashes[1:] != sorted_hashes[:-1]) & (top[1:] == top[:-1])
    if differ.any():
        has_both = np.zeros(1 << 16, bool)
        has_both[top[1:][differ]] = True
        rows = np.flatnonzero(has_both.take(top))
        places[rows] = places.take(rows).take(np.argsort(sorted_hashes.take(rows), kind="stable"))
    return places


_RADIX_FROM = 4_096
"""Tokens from which on the radix sort is faster."""


def _sorted_keys(hashes: Hashes) -> Places:
    """Order tokens in one sort of 64-bit keys: the top bits of the hash, then the place.

    Where two hashes share these top bits and their tokens alternate, which is rare, all is sorted again by the whole
    hash.
    """
    place_mask = np.uint64((1 << max(1, (hashes.size - 1).bit_length())) - 1)
    keys = hashes & ~place_mask
    keys |= np.arange(hashes.size, dtype=np.uint64)
    keys.sort()
    keys &= place_mask
    places: Places = keys.view(np.int64)
    sorted_hashes = hashes.take(places)
    if (sorted_hashes[1:] < sorted_hashes[:-1]).any():
        return np.argsort(hashes, kind="stable")
    return places
