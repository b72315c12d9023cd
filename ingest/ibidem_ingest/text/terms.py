"""Terms: the tokens that count as evidence, and their groups in a batch of texts.

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
from ibidem_ingest.text.word_hash import Hashes, Places

Octets = NDArray[np.uint8]


def gather_slices(buffer: bytes, starts: Places, sizes: Places) -> Octets:
    """Copy slices of a buffer next to each other."""
    steps = np.ones(sizes.sum(), np.int64)
    begins = sizes.cumsum() - sizes
    steps[begins] = starts
    steps[begins[1:]] -= starts[:-1] + sizes[:-1] - 1
    return np.frombuffer(buffer, np.uint8).take(steps.cumsum())


MIN_LETTERS = 3

_TERM = re.compile(rb"(?:[Ll]M*+){3,}+")

Flags = NDArray[np.bool_]


def is_term(token: str) -> bool:
    """Return whether a token is a term."""
    if token.isascii():
        return token.isalpha() and len(token) >= MIN_LETTERS
    return _TERM.fullmatch(character_kinds(token)) is not None


def has_digit(token: str) -> bool:
    if token.isascii():
        return not token.isalpha()
    return not {DIGIT, SINGLE_DIGIT}.isdisjoint(character_kinds(token))


@dataclass(frozen=True, eq=False, slots=True)
class TokenShapes:
    characters: Places  # number of characters of each
    is_term: Flags  # whether each is a term
    has_digit: Flags  # whether each holds a digit

    @classmethod
    def classify(cls, buffer: bytes, starts: Places, ends: Places) -> "TokenShapes":
        """Classify the tokens in the buffer of a batch."""
        sizes = ends - starts
        digit, non_ascii = loops.compiled().shapes(buffer, starts, ends)
        has_digit, unusual = digit != 0, np.flatnonzero(non_ascii)
        shapes = cls(sizes, (sizes >= MIN_LETTERS) & ~has_digit, has_digit)
        if unusual.size:
            shapes.correct(unusual, buffer, starts.take(unusual))
        return shapes

    def correct(self, tokens: Places, buffer: bytes, starts: Places) -> None:
        """Check tokens that are long or not ASCII again, character by character."""
        sizes = self.characters.take(tokens)
        octets = gather_slices(buffer, starts, sizes)
        owner = np.repeat(np.arange(tokens.size), sizes)[octets & 0xC0 != 0x80]
        shapes = kinds().take(code_points(octets.tobytes().decode()))
        letters = np.bincount(owner[np.isin(shapes, (LETTER, LOWER))], minlength=tokens.size)
        digits = np.bincount(owner[np.isin(shapes, (DIGIT, SINGLE_DIGIT))], minlength=tokens.size)
        self.characters[tokens] = np.bincount(owner, minlength=tokens.size)
        self.has_digit[tokens] = digits > 0
        self.is_term[tokens] = (letters >= MIN_LETTERS) & (digits == 0)


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The distinct tokens of all documents of a batch, unordered; a token may occur twice."""

    hashes: Hashes  # `wh1` of each word
    leading: Hashes  # its first eight bytes, as in `TokenBatch`
    starts: Places  # byte offset of one of its occurrences in the buffer
    ends: Places  # byte offset behind it
    buffer: bytes  # the batch's

    @cached_property
    def shapes(self) -> TokenShapes:
        """Kinds of characters in the words."""
        return TokenShapes.classify(self.buffer, self.starts, self.ends)


@dataclass(frozen=True, eq=False, slots=True)
class TermGroups:
    """The distinct (word, document) pairs of a batch, unordered."""

    word: Places  # number of the word in the vocabulary
    document: Places  # number of the document
    first: Places  # place of the word's first occurrence in the document, counted in tokens of the batch
    count: Places  # how often it occurs in the document
    vocabulary: Vocabulary  # the words

    @classmethod
    def group(cls, batch: TokenBatch) -> "TermGroups":
        """Group the tokens of a batch."""
        columns = (batch.buffer, batch.starts, batch.ends, batch.hashes, batch.offsets)
        (word, document, first, count), word_place = loops.compiled().groups(*columns)
        hashes, leading = batch.hashes.take(word_place), batch.leading.take(word_place)
        starts, ends = batch.starts.take(word_place), batch.ends.take(word_place)
        return cls(word, document, first, count, Vocabulary(hashes, leading, starts, ends, batch.buffer))


def first_and_count(tokens: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return first position and count of each distinct token of one document, ordered by first position."""
    terms: dict[str, tuple[int, int]] = {}
    for place, token in enumerate(tokens):
        first, count = terms.get(token, (place, 0))
        terms[token] = (first, count + 1)
    return terms
