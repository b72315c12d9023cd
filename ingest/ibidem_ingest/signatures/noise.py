"""Noise block: distinguishes a text that was scanned and misread from a text with other content.

Hardly a run of five words survives where letters are misread, but most runs of five characters do. So 64 slots of eight
bits hold a min-hash over the runs of a text's letters and digits, without blanks (one permutation with several rounds:
Li, Owen, Zhang 2012, "One permutation hashing"; rounds as in Dahlgaard, Knudsen, Thorup, FOCS 2017; b-bit min-hash:
Li and König 2010). Long texts share a third of such runs by chance, so that from 1,000 tokens on runs have seven.

Shared characters alone say little: recurring notices share most of them and differ in names and figures. But two
readings of a page differ in words that no list of words knows. Kept are how many distinct terms of the
text are in no idf table, and a min-hash of eight slots over them; numbers have a sketch of their own. All arithmetic
is modulo 2^32 for runs and 2^64 for terms:

    run of n code points c1 … cn:   h = c1 · A^(n-1) + … + cn
    round r:      x = h + r · A;  x = x ⊕ (x >> 16);  x = x · M1;  x = x ⊕ (x >> 13);  x = x · M2;  x = x ⊕ (x >> 16)
                  slot = x >> 26;  value = the low 26 bits; a slot keeps the low 8 bits of its smallest value in the
                  first round in which any run fell there
    slot j of terms, t = wh1 of each:   x = t · B[j];  x = x ⊕ (x >> 32);  x = x · C2;  the low 8 bits of the smallest

The value, 76 bytes: 64 slots · length of the runs u8, and 128 more where the table has few terms · number of runs u8,
as 8 · log2 rounded · unknown terms u16 · 8 slots of these. Zeros for a text of fewer than 50 tokens, and where no idf
table speaks its language.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.idf.table import Table
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.feature_set import RarestTerms, candidates
from ibidem_ingest.signatures.minhash import SLOT_MULTIPLIERS
from ibidem_ingest.text.tokens import TokenBatch
from ibidem_ingest.text.word_hash import C2, Hashes, Places

SLOTS = 64
OF_TERMS = 8
SHORTEST = 50
"""Tokens from which on a text has enough runs."""

SHORT_RUN, LONG_RUN, LONG = 5, 7, 1_000
"""Characters in a run, in a run of a long text, and the tokens from which on a text is long."""

A, M1, M2 = 0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35
ROUNDS = 8
APART = (5, 17)
"""How far the second and third slot of a band are from its first, round about: two bands share at most one slot."""

FIRST = np.arange(0, SLOTS, 2)
SECOND = (FIRST + APART[0]) % SLOTS
"""The slots of the 32 pairs that are look-up keys: each slot is in one."""

NOISY = 0.02
"""The least share of unknown words, one of them in so many runs as a word has, of a text that may have been misread."""

RUNS_OF_A_WORD = 7.0
"""Runs that are lost, about, with a word that differs."""

POOR, FEW_TERMS = 0x80, 100_000
"""The mark of a block that was made with an idf table of fewer terms than this: it does not know many good words."""

CHANCE = 1 / 256
NONE = b""

_LAYOUT = struct.Struct(f"<{SLOTS}sBBH{OF_TERMS}s")
_COLUMNS = np.dtype(
    [("slots", "u1", (SLOTS,)), ("run", "u1"), ("runs", "u1"), ("unknown", "<u2"), ("terms", "u1", (OF_TERMS,))]
)
"""The same, for many blocks."""

_VALUE = np.uint32((1 << 26) - 1)
_EMPTY = np.uint32(0xFFFFFFFF)
Letters = NDArray[np.uint32]
Slots = NDArray[np.uint8]
Blocks = NDArray[np.void]


class Noise(NamedTuple):
    """A noise block, read.

    Args:
        slots: 64 slots of the runs of characters.
        run: Characters in a run, and `POOR`; 0 when the block says nothing.
        runs: About how many runs the text has.
        unknown: Distinct terms that are in no idf table.
        terms: 8 slots of these; zeros where there are none.
    """

    slots: bytes
    run: int
    runs: float
    unknown: int
    terms: bytes

    @property
    def poor(self) -> bool:
        """Whether the idf table has few terms."""
        return self.run >= POOR

    @property
    def noisy(self) -> bool:
        """Whether the text has many unknown words for its length."""
        return self.unknown * RUNS_OF_A_WORD >= NOISY * self.runs


def read(block: bytes) -> Noise:
    """Read a block.

    >>> read(bytes(76)).run
    0
    """
    slots, run, runs, unknown, terms = _LAYOUT.unpack(block)
    return Noise(slots, run, 2 ** (runs / 8), unknown, terms)


def sign(tokens: Sequence[str], table: Table) -> bytes:
    """Sign one document.

    Args:
        tokens: In text order.
        table: The idf table of their language.
    """
    if len(tokens) < SHORTEST:
        return NONE
    strange = candidates(tokens, table)[1]
    letters = np.frombuffer("".join(tokens).encode("utf-32-le", "surrogatepass"), np.uint32)
    runs = _sketch(LetterBatch(letters, np.array([letters.size]), np.array([len(tokens)])))
    (block,) = rows(_blocks(runs, np.array(strange, np.uint64), np.array([0, len(strange)]), table))
    return block


def sign_blocks(batch: TokenBatch, rarest: RarestTerms, table: Table) -> Blocks:
    """Sign several documents, as `sign` does each; zeros where a block says nothing.

    Args:
        batch: The tokens.
        rarest: Their terms, looked up in the idf table.
        table: The table.
    """
    if not (batch.lengths >= SHORTEST).any():
        return no_blocks(len(batch))
    if loops.IN_USE:
        runs = Runs(*loops.IN_USE.noise(batch.buffer, batch.starts, batch.ends, batch.offsets, SLOTS))
    else:
        runs = _sketch(_join_letters(batch))
    return _blocks(runs, rarest.strange, rarest.strange_offsets, table)


def no_blocks(documents: int) -> Blocks:
    """Return blocks that say nothing."""
    return np.zeros(documents, _COLUMNS)


def rows(blocks: Blocks) -> list[bytes]:
    """Return the block of each document; `NONE` where it says nothing."""
    data, size = blocks.tobytes(), _COLUMNS.itemsize
    return [
        data[at : at + size] if runs else NONE
        for at, runs in zip(range(0, len(data), size), blocks["runs"].tolist(), strict=True)
    ]


def shares_keys(a: bytes, b: bytes, pairs: int) -> bool:
    """Return whether two texts share the keys by which candidates are found: in a window, and in an index.

    Args:
        a: 64 slots.
        b: 64 slots of the other; one of the 64 bands of three slots, one from each slot on, has to be equal.
        pairs: How many of the 32 pairs of slots have to be equal.
    """
    equal = [left == right for left, right in zip(a, b, strict=True)]
    second, third = APART
    slot_pairs = [equal[at] and equal[(at + second) % SLOTS] for at in range(SLOTS)]
    return sum(slot_pairs[::2]) >= pairs and any(slot_pairs[at] and equal[(at + third) % SLOTS] for at in range(SLOTS))


def estimate(equal: int) -> float:
    """Return the share of runs that two texts have in common, from equal slots: corrected for those equal by chance.

    >>> estimate(64), estimate(0)
    (1.0, 0.0)
    """
    return max(0.0, (equal / SLOTS - CHANCE) / (1 - CHANCE))


def estimate_difference(share: float, a: float, b: float) -> float:
    """Return how many of two sets' elements are in one only, from their Jaccard index and sizes."""
    return (1 - share) / (1 + share) * (a + b)


def estimate_unknown(a: Noise, b: Noise) -> float:
    """Estimate how many unknown terms are in one text only."""
    equal = sum(left == right for left, right in zip(a.terms, b.terms, strict=True))
    share = max(0.0, equal / OF_TERMS - CHANCE) if a.unknown and b.unknown else 0.0
    return estimate_difference(share, a.unknown, b.unknown)


class LetterBatch(NamedTuple):
    """Documents without blanks.

    Args:
        letters: Code points of all.
        counts: Letters of each document.
        lengths: Its tokens.
    """

    letters: Letters
    counts: Places
    lengths: Places


class Runs(NamedTuple):
    """The runs of characters of documents.

    Args:
        slots: (n, 64) slots.
        run: (n,) characters in a run; 0 where there are none.
        letters: (n,) letters and digits.
    """

    slots: Slots
    run: Places
    letters: Places


def _join_letters(batch: TokenBatch) -> LetterBatch:
    """Take the blanks out of a batch."""
    text, sizes = batch.buffer.translate(None, b" "), batch.ends - batch.starts
    if batch.buffer.isascii():
        letters = np.frombuffer(text, np.uint8).astype(np.uint32)
    else:
        letters = np.frombuffer(
            text.decode("utf-8", "surrogatepass").encode("utf-32-le", "surrogatepass"), "<u4"
        ).astype(np.uint32, copy=False)
        begins = np.frombuffer(batch.buffer, np.uint8) & 0xC0 != 0x80
        blanks = np.diff(batch.starts, append=len(batch.buffer)) - sizes
        sizes = np.add.reduceat(begins, batch.starts, dtype=np.int64) - blanks
    counts = np.diff(np.concatenate(([0], sizes.cumsum())).take(batch.offsets))
    return LetterBatch(letters, counts, batch.lengths)


def _sketch(batch: LetterBatch) -> Runs:
    """Sketch the runs of documents."""
    letters, counts, lengths = batch
    run = np.where(lengths < LONG, SHORT_RUN, LONG_RUN)
    run[(lengths < SHORTEST) | (counts < run)] = 0
    return Runs(sketch(letters, counts, run), run, counts)


def _blocks(runs: Runs, strange: Hashes, offsets: Places, table: Table) -> Blocks:
    """Make the blocks of documents.

    Args:
        runs: Their runs of characters.
        strange: Hashes of unknown terms, document by document.
        offsets: Where each document's begin, and the end.
        table: The idf table.
    """
    run_counts = np.maximum(runs.letters - runs.run + 1, 1)
    blocks = no_blocks(runs.run.size)
    blocks["slots"] = runs.slots
    blocks["run"] = runs.run | (POOR if table.size < FEW_TERMS else 0)
    blocks["runs"] = np.where(runs.run > 0, np.minimum(255, np.rint(8 * np.log2(run_counts))), 0)
    blocks["unknown"] = np.minimum(np.diff(offsets), 0xFFFF)
    blocks["terms"] = sketch_terms(strange, offsets)
    blocks[blocks["runs"] == 0] = 0
    return blocks


def sketch_terms(strange: Hashes, offsets: Places) -> Slots:
    """Return the 8 slots of each document's unknown terms; zeros where there are none."""
    slots = np.zeros((offsets.size - 1, OF_TERMS), np.uint8)
    rows = np.flatnonzero(np.diff(offsets))
    if rows.size:
        values = strange[:, None] * np.array(SLOT_MULTIPLIERS[:OF_TERMS], np.uint64)
        values ^= values >> np.uint64(32)
        values *= np.uint64(C2)
        slots[rows] = np.minimum.reduceat(values, offsets[:-1].take(rows), axis=0).astype(np.uint8)
    return slots


def sketch(letters: Letters, counts: Places, run: Places) -> Slots:
    """Return the 64 slots of each document.

    Args:
        letters: Code points of all, without blanks.
        counts: Letters of each document.
        run: Characters in a run of each; 0 for a document that is not signed.
    """
    hashes = _run_hashes(letters, counts, run)
    runs = np.where(run > 0, counts - run + 1, 0)
    first = counts.cumsum() - counts
    values = _mix(hashes, 0)
    at = np.repeat(np.arange(counts.size) * SLOTS, counts)
    at += values >> np.uint32(26)
    at[_tail_letters(first, counts, runs)] = counts.size * SLOTS  # one further slot, of no document
    lowest = np.full(counts.size * SLOTS + 1, _EMPTY)
    np.minimum.at(lowest, at, values)  # within a slot the bits above the value are the same
    smallest = lowest[:-1].reshape(-1, SLOTS)
    open_ = np.flatnonzero((smallest == _EMPTY).any(axis=1) & (run > 0))
    for number in range(ROUNDS if open_.size else 0):
        letter = np.concatenate([np.arange(at, at + size) for at, size in zip(first[open_], runs[open_], strict=True)])
        minima = np.full((counts.size, SLOTS), _EMPTY)
        _drop(minima, _mix(hashes[letter], number), np.repeat(open_, runs[open_]))
        smallest = np.where(smallest == _EMPTY, minima, smallest)
        open_ = open_[(smallest[open_] == _EMPTY).any(axis=1)]
        if not open_.size:
            break
    slots = smallest.astype(np.uint8)
    slots[smallest == _EMPTY] = 0
    return slots


def _tail_letters(first: Places, counts: Places, runs: Places) -> Places:
    """Return the letters at which no run of their document begins: its last ones, and all where nothing is signed."""
    sizes = counts - runs
    ends = sizes.cumsum()
    places: Places = np.arange(sizes.sum())
    places -= np.repeat(ends - sizes - first - runs, sizes)
    return places


def _run_hashes(letters: Letters, counts: Places, run: Places) -> Letters:
    """Return the hash of the run that begins at each letter; runs beyond a document's end are not looked at."""
    points = np.concatenate((letters, np.zeros(LONG_RUN, np.uint32)))
    size = letters.size
    pair_hashes = points[:-1] * np.uint32(A)
    pair_hashes += points[1:]
    quad_hashes = pair_hashes[:-2] * np.uint32(A * A & 0xFFFFFFFF)
    quad_hashes += pair_hashes[2:]
    short_runs = quad_hashes[:size] * np.uint32(A)
    short_runs += points[4 : size + 4]
    is_long = run == LONG_RUN
    if not is_long.any():
        return short_runs
    long_runs = quad_hashes[:size] * np.uint32(A * A * A & 0xFFFFFFFF)
    long_runs += pair_hashes[4 : size + 4] * np.uint32(A)
    long_runs += points[6 : size + 6]
    return np.where(np.repeat(is_long, counts), long_runs, short_runs)


def _mix(hashes: Letters, number: int) -> Letters:
    values = hashes + np.uint32(number * A & 0xFFFFFFFF)
    values ^= values >> np.uint32(16)
    values *= np.uint32(M1)
    values ^= values >> np.uint32(13)
    values *= np.uint32(M2)
    values ^= values >> np.uint32(16)
    return values


def _drop(smallest: Letters, values: Letters, owner: Places) -> None:
    """Keep the smallest value that falls into each slot."""
    at = owner * SLOTS
    at += values >> np.uint32(26)
    np.minimum.at(smallest.reshape(-1), at, values & _VALUE)
