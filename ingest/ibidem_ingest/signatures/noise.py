"""Noise block: distinguishes a text that was scanned and misread from a text with other content.

Hardly a run of five words survives where letters are misread, but most runs of five characters do. So 64 slots of eight
bits hold a min-hash over the runs of a text's letters and digits, without blanks (one permutation with several rounds:
Li, Owen, Zhang 2012, "One permutation hashing"; rounds as in Dahlgaard, Knudsen, Thorup, FOCS 2017; b-bit min-hash:
Li and König 2010). Long texts share a third of such runs by chance, so that from 1,000 tokens on runs have seven. Where
a letter is a syllable or a word (`dense`), a run has three.

Shared characters alone say little: recurring notices share most of them and differ in names and figures. But two
readings of a page differ in words that no list of words knows. Kept are how many distinct terms of the
text are in no idf table, and a min-hash of eight slots over them; numbers have a sketch of their own. In a dense text
pairs of letters take the place of terms: those that the list of bigrams does not know. All arithmetic
is modulo 2^32 for runs and 2^64 for terms:

    run of n code points c1 … cn:   h = c1 · A^(n-1) + … + cn
    round r:      x = h + r · A;  x = x ⊕ (x >> 16);  x = x · M1;  x = x ⊕ (x >> 13);  x = x · M2;  x = x ⊕ (x >> 16)
                  slot = x >> 26;  value = the low 26 bits; a slot keeps the low 8 bits of its smallest value in the
                  first round in which any run fell there
    slot j of terms, t = wh1 of each:   x = t · B[j];  x = x ⊕ (x >> 32);  x = x · C2;  the low 8 bits of the smallest

The value, 76 bytes: 64 slots · length of the runs u8, and 128 more where the table has few terms · number of runs u8,
as 8 · log2 rounded · unknown terms u16 · 8 slots of these. There is none for a text of fewer than 50 tokens, and none
where no idf table speaks its language, unless it is dense; and none for source code.

A misread letter makes two pairs of letters that hardly any text has; that is what words in no list are to alphabets.
A text is *dense* where more than a sixth of its letters are Han, Kana, Hangul, Thai, Lao, Khmer or Burmese ones: a word
in Latin letters has about six times as many. Its bigrams are neighbouring dense letters; in Hangul, which writes
spaces, only within a word. A single letter of an alphabet between two dense ones, such as a misread one, makes two
bigrams with them.

    t = wh1 of the two code points, little-endian, four bytes each;   a bigram is known where the bit t >> 42 is set

The list, `bigrams1.z`, has 2^22 bits (zlib, RFC 1950); one bigram in some hundreds is taken for a known one by chance.
It is made by `.ci/bigrams.py`, which names its sources; it is part of the schema, and never changed.
"""

import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from functools import cache, reduce
from importlib import resources
from itertools import pairwise
from math import log2
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.idf.table import Table
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.feature_set import RarestTerms, candidates
from ibidem_ingest.signatures.minhash import SLOT_MULTIPLIERS
from ibidem_ingest.text.tokens import TokenBatch
from ibidem_ingest.text.word_hash import C2, Hashes, Places, hash_bytes

LIST = "bigrams1.z"
BITS = 22
SHIFT = 64 - BITS
# Dense letters: Thai and Lao, Burmese, Khmer, Kana, Han, Hangul, more Han.
_DENSE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\U00020000-\U000323ff]"
)
_HANGUL = range(0xAC00, 0xD7A4)
_ALPHABETS = 0x530  # latin, Greek and Cyrillic letters are below it

_NO_LETTERS = " 0123456789"


def is_dense_letter(letter: str) -> bool:
    """Return whether a letter is a syllable or a word."""
    return _DENSE.match(letter) is not None


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


@cache
def known() -> NDArray[np.uint8]:
    """Read the list, one bit for each value of the highest bits of a hash."""
    return np.frombuffer(zlib.decompress(resources.files(__package__).joinpath(LIST).read_bytes()), np.uint8)


SLOTS = 64
OF_TERMS = 8
MIN_LENGTH = 50  # tokens from which on a text has enough runs

# Characters in a run, in a run of a long text, and the tokens from which on a text is long.
SHORT_RUN, LONG_RUN, LONG = 5, 7, 1_000

DENSE_RUN = 3  # characters in a run of a dense text

A, M1, M2 = 0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35
ROUNDS = 8
# How far the second and third slot of a band are from its first, round about: two bands share at most one slot.
SLOT_OFFSETS = (5, 17)

FIRST_SLOTS = np.arange(0, SLOTS, 2)
# The slots of the 32 pairs that are look-up keys: each slot is in one.
SECOND_SLOTS = (FIRST_SLOTS + SLOT_OFFSETS[0]) % SLOTS

# What share of the unknown words asked for is asked for of bigrams: a misread letter often makes one that is known.
UNKNOWN_BIGRAMS = 0.5

# The least share of unknown words, one of them in so many runs as a word has, of a text that may have been misread.
MIN_NOISE = 0.02
# The same of one that looks misread on its own, so that it can be told in clean text, and of pairs of letters.
MISREAD, MISREAD_DENSE = 0.15, 0.35
# The same of one that looks misread among others, the share of such texts in a misread collection, and the fewest texts
# of which that is said.
UNKNOWN, UNKNOWN_DENSE, MISREAD_SHARE, MIN_DOCUMENTS = 0.10, 0.35, 0.08, 200

# Runs that are lost, about, with a word that differs, and with a pair of letters in a dense text.
RUNS_OF_A_WORD, RUNS_OF_A_BIGRAM = 7.0, 1.5

POOR_TABLE = 0x80  # the mark of a block that was made with a table that lacks many good words

CHANCE = 1 / 256
NONE = b""

_LAYOUT = struct.Struct(f"<{SLOTS}sBBH{OF_TERMS}s")
# The same, for many blocks.
COLUMNS = np.dtype(
    [("slots", "u1", (SLOTS,)), ("run", "u1"), ("runs", "u1"), ("unknown", "<u2"), ("terms", "u1", (OF_TERMS,))]
)

_MASK = 0xFFFFFFFF
_VALUES = 1 << 26
Slots = NDArray[np.uint8]
Blocks = NDArray[np.void]
Figure = TypeVar("Figure", float, NDArray[np.float64])


class Noise(NamedTuple):
    """A parsed noise block."""

    slots: bytes  # 64 slots of the runs of characters
    run: int  # characters in a run, and `POOR_TABLE`; 0 when the block says nothing
    runs: float  # about how many runs the text has
    unknown: int  # distinct terms that are in no idf table
    terms: bytes  # 8 slots of these; zeros where there are none

    @property
    def dense(self) -> bool:
        """Whether bigrams are used instead of terms."""
        return self.run == DENSE_RUN

    @property
    def runs_of_a_term(self) -> float:
        """Number of runs lost with each differing term or bigram."""
        return RUNS_OF_A_BIGRAM if self.dense else RUNS_OF_A_WORD

    def is_noisy(self, share: float, dense: float) -> bool:
        """Return whether the text has many unknown words, or bigrams, for its length."""
        return self.unknown * self.runs_of_a_term >= (dense if self.dense else share) * self.runs


def read(block: bytes) -> Noise:
    """Parse a block."""
    slots, run, runs, unknown, terms = _LAYOUT.unpack(block)
    return Noise(slots, run, 2 ** (runs / 8), unknown, terms)


def sign(tokens: Sequence[str], table: Table | None) -> bytes:
    letters = "".join(tokens)
    run = _run(letters, len(tokens))
    if not run or (table is None and run != DENSE_RUN) or len(letters) < run:
        return NONE
    if run == DENSE_RUN or table is None:
        pairs = {*bigrams(tokens), *single_letters(tokens)}
        distinct, bits = {hash_bytes(each.encode("utf-32-le")) for each in pairs}, known()
        unknown = sorted(each for each in distinct if not bits[each >> SHIFT + 3] >> (each >> SHIFT & 7) & 1)
        poor = 0
    else:
        unknown, poor = candidates(tokens, table)[1], POOR_TABLE * table.is_poor
    hashes = _run_hashes(letters, run)
    runs = min(0xFF, round(8 * log2(len(hashes))))
    terms = sketch_terms(np.array(unknown, np.uint64), np.array([0, len(unknown)])).tobytes()
    return _LAYOUT.pack(_slots(hashes), run | poor, runs, min(len(unknown), 0xFFFF), terms) if runs else NONE


def _run(letters: str, tokens: int) -> int:
    """Return the length of a text's character runs; 0 if it is too short."""
    if tokens < MIN_LENGTH:
        return 0
    if 6 * sum(map(is_dense_letter, letters)) > len(letters):
        return DENSE_RUN
    return SHORT_RUN if tokens < LONG else LONG_RUN


def _run_hashes(letters: str, run: int) -> list[int]:
    """Return the hash of the run that begins at each letter."""
    return [
        reduce(lambda value, letter: value * A + ord(letter) & _MASK, letters[position : position + run], 0)
        for position in range(len(letters) - run + 1)
    ]


def _slots(hashes: Sequence[int]) -> bytes:
    """Return the 64 slots of a text's runs."""
    slots: dict[int, int] = {}
    for number in range(ROUNDS):
        least: dict[int, int] = {}
        for hash_ in hashes:
            value = hash_ + number * A & _MASK
            value = (value ^ value >> 16) * M1 & _MASK
            value = (value ^ value >> 13) * M2 & _MASK
            slot, value = divmod(value ^ value >> 16, _VALUES)
            least[slot] = min(value, least.get(slot, value))
        slots = least | slots
        if len(slots) == SLOTS:
            break
    return bytes(slots.get(slot, 0) & 0xFF for slot in range(SLOTS))


def sign_blocks(batch: TokenBatch, rarest: RarestTerms, table: Table | None) -> Blocks:
    """Sign several documents, as `sign` does; zeros for an empty block."""
    blocks = np.zeros(len(batch), COLUMNS)
    if not (batch.lengths >= MIN_LENGTH).any():
        return blocks
    tokens, size = (batch.buffer, batch.starts, batch.ends, batch.offsets), len(batch)
    slots, (run, letters) = np.empty((size, SLOTS), np.uint8), np.empty((2, size), np.int64)
    loops.call("ibidem_noise", *tokens, size, slots, run, letters)
    dense = run == DENSE_RUN
    if table:
        poor = np.where(dense, 0, POOR_TABLE * table.is_poor)
        _fill(blocks, rarest.unknown_terms, rarest.strange_offsets)
    else:
        run, poor = np.where(dense, run, 0), np.zeros_like(run)
    if dense.any():
        hashes, offsets = np.empty(len(batch.buffer) + 1, np.uint64), np.empty(size + 1, np.int64)
        out = (size, dense.astype(np.uint8), known(), SHIFT, hashes, offsets)
        count = loops.call("ibidem_bigrams", *tokens, *out)
        _fill(blocks, hashes[:count], offsets, dense)
    blocks["slots"], blocks["run"] = slots, run | poor
    runs = np.maximum(letters - run + 1, 1)
    blocks["runs"] = np.where(run > 0, np.minimum(255, np.rint(8 * np.log2(runs))), 0)
    blocks[blocks["runs"] == 0] = 0
    return blocks


def _fill(blocks: Blocks, terms: Hashes, offsets: Places, rows: NDArray[np.bool_] | slice = slice(None)) -> None:
    """Fill in the unknown terms of each document."""
    blocks["unknown"][rows] = np.minimum(np.diff(offsets), 0xFFFF)[rows]
    blocks["terms"][rows] = sketch_terms(terms, offsets)[rows]


def rows(blocks: Blocks) -> list[bytes]:
    """Return the block of each document; `NONE` if it is empty."""
    return [block if any(block) else NONE for block in blocks.view(f"V{COLUMNS.itemsize}").tolist()]


def shares_keys(a: bytes, b: bytes, pairs: int) -> bool:
    """Return whether two texts share candidate keys: in a window, and in an index."""
    equal = [left == right for left, right in zip(a, b, strict=True)]
    second, third = SLOT_OFFSETS
    slot_pairs = [equal[at] and equal[(at + second) % SLOTS] for at in range(SLOTS)]
    return sum(slot_pairs[::2]) >= pairs and any(slot_pairs[at] and equal[(at + third) % SLOTS] for at in range(SLOTS))


def estimate(equal: int) -> float:
    """Return the share of common runs of two texts from their equal slots, corrected for slots equal by chance.

    >>> estimate(64), estimate(0)
    (1.0, 0.0)
    """
    return max(0.0, (equal / SLOTS - CHANCE) / (1 - CHANCE))


def estimate_difference(share: Figure, a: Figure, b: Figure) -> Figure:
    """Return how many elements are in only one of two sets, from their Jaccard index and sizes; also for many pairs."""
    return (1 - share) / (1 + share) * (a + b)


def estimate_unknown(a: Noise, b: Noise) -> float:
    """Estimate how many unknown terms are in only one text."""
    equal = sum(left == right for left, right in zip(a.terms, b.terms, strict=True))
    share = max(0.0, equal / OF_TERMS - CHANCE) if a.unknown and b.unknown else 0.0
    return estimate_difference(share, a.unknown, b.unknown)


def sketch_terms(unknown_terms: Hashes, offsets: Places) -> Slots:
    """Return the 8 slots of each document's unknown terms; zeros if there are none."""
    slots = np.zeros((offsets.size - 1, OF_TERMS), np.uint8)
    rows = np.flatnonzero(np.diff(offsets))
    if rows.size:
        values = unknown_terms[:, None] * np.array(SLOT_MULTIPLIERS[:OF_TERMS], np.uint64)
        values ^= values >> np.uint64(32)
        values *= np.uint64(C2)
        slots[rows] = np.minimum.reduceat(values, offsets[:-1].take(rows), axis=0).astype(np.uint8)
    return slots


CHARACTERS_PER_SIGN = 80


def is_source_code(text: str) -> bool:
    """Return whether a text is source code."""
    if not ("=" in text or "_" in text or "{" in text or "}" in text):  # most: counting takes six times as long
        return False
    return sum(map(text.count, "{}=_;")) * CHARACTERS_PER_SIGN >= len(text)
