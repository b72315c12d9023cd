"""Packed columns: many packed values as arrays, for the grouping of a window."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, starmap

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.dates import interval
from ibidem_ingest.document import Document
from ibidem_ingest.signatures import content, fingerprint, noise, text_profile
from ibidem_ingest.signatures.feature_set import FeatureColumns
from ibidem_ingest.signatures.fingerprint import FingerprintColumns
from ibidem_ingest.signatures.noise import Blocks
from ibidem_ingest.signatures.numbers import SKETCH, NumberColumns
from ibidem_ingest.signatures.packed import (
    FIRST_DAY,
    FULL,
    IDF_BYTES,
    KNOWN_FLAGS,
    LAST_DAY,
    LONG,
    NO_DATE,
    NO_MINHASH,
    NO_SET,
    NO_WORDS,
    NOISE_BLOCK,
    NOISE_BYTES,
    SCHEME,
    TERM_BYTES,
    TITLED,
    WEAK,
    Packed,
    PackedValues,
    guard,
    hash_value,
    is_utf8,
    read_noise,
    unpack,
)
from ibidem_ingest.signatures.schema import FULL_SET, SLOTS, Signatures, StoredSignatures
from ibidem_ingest.text.word_hash import Places

NO_TERM = 1 << 24  # filling behind the last term: greater than every code

NO_NUMBER = 1 << 16  # filling behind the last hash of a number sketch: greater than every hash

# The part of a packed value that is at the same place in each.
HEAD_COLUMNS = np.dtype(
    [
        ("scheme", "u1"),
        ("flags", "u1"),
        ("length", "<u4"),
        ("shingles", "<u4"),
        ("date_from", "<i4"),
        ("date_to", "<i4"),
        ("idf", "<u4"),
        ("words", "<u2"),
        ("signs", "<u2"),
        ("content", "<u8", (2,)),
        ("fingerprint", "<u8"),
        ("profile", "<u8"),
        ("source", "<u4"),
        ("guard", "<u4"),
        ("title", "<u4"),
        ("numbers", "u1"),
        ("number_sketch", "<u2", (SKETCH,)),
    ]
)

# Columns that are computed with in more bits than they are stored in.
_WIDER = dict.fromkeys(("length", "shingles", "date_from", "date_to"), np.int64) | {"idf": np.uint64}

Whole = NDArray[np.int64]
Whole32 = NDArray[np.int32]
Words = NDArray[np.uint64]
Rows = NDArray[np.void]


@dataclass(frozen=True, eq=False, slots=True)
class PackedColumns:
    """The packed values of n hits, in order; rows that are not signed have zeros and padding."""

    values: Sequence[bytes | None]  # the packed values themselves
    ids: Sequence[str]  # the documents' ids; empty where not signed
    # (n,) bool: whether the value is there, whole and of a known scheme: `unpack` of it is not None.
    is_signed: NDArray[np.bool_]
    scheme: NDArray[np.uint8]  # (n,) uint8: 4; 0 where not signed
    flags: NDArray[np.uint8]  # (n,) uint8: `WEAK`, `NO_SET` … of `packed`
    length: Whole  # (n,) int64, tokens
    shingles: Whole  # (n,) int64, distinct shingles
    date_from: Whole  # (n,) int64, days since 1980-01-01, `NO_DATE` when unknown
    date_to: Whole  # (n,) int64
    idf: Words  # (n,) uint64, the first four bytes of the idf table's name, little-endian; 0 none
    words: NDArray[np.uint16]  # (n,) uint16, hash of the words
    signs: NDArray[np.uint16]  # (n,) uint16, hash of the signs; 0 none
    content: Words  # (n, 2) uint64; 0, 0 none
    fingerprint: Words  # (n,) uint64; 0 none
    profile: Words  # (n,) uint64; 0 none
    source: NDArray[np.uint32]  # (n,) uint32; 0 none
    guard: NDArray[np.uint32]  # (n,) uint32; 0 none
    title: NDArray[np.uint32]  # (n,) uint32; 0 none
    noise: NDArray[np.uint8]  # (n, 76) uint8; zeros none
    numbers: NDArray[np.uint8]  # (n,) uint8, count of distinct tokens with a digit
    number_sketch: Whole32  # (n, 16) int32, ascending, `NO_NUMBER` behind the last
    term_count: NDArray[np.uint8]  # (n,) uint8
    terms: Whole32  # (n, 60) int32, ascending, `NO_TERM` behind the last
    slot_count: NDArray[np.uint8]  # (n,) uint8, 0 or 100
    slots: NDArray[np.uint16]  # (n, 100) uint16

    @classmethod
    def decode(cls, values: Sequence[bytes | None]) -> "PackedColumns":
        """Decode packed values; damaged ones do not raise."""
        values = PackedValues.join(values)
        octets, begin, size, ids = values.octets, values.begin, np.maximum(values.size, 0), values.ids
        heads = _cut(octets, begin, HEAD_COLUMNS.itemsize).view(HEAD_COLUMNS)[:, 0]
        term_count = octets[begin + HEAD_COLUMNS.itemsize].astype(np.int64)
        terms = _terms(_cut(octets, begin + HEAD_COLUMNS.itemsize + 1, FULL_SET * TERM_BYTES), term_count)
        slots_at = HEAD_COLUMNS.itemsize + 1 + term_count * TERM_BYTES
        slot_count = octets[begin + np.minimum(slots_at, size)].astype(np.int64)
        slots = _cut(octets, begin + np.where(ids.size > 0, slots_at + 1, 0), SLOTS * 2).view("<u2")
        has_blocks, noise = _noise(values, np.where(ids.size > 0, ids.begin + ids.size - begin, size))
        is_signed = (
            (ids.size > 0)
            & has_blocks
            & _is_possible(heads, term_count, slot_count)
            & ((terms[:, 1:] > terms[:, :-1]) | (terms[:, 1:] == NO_TERM)).all(axis=1)
        )
        for row in np.flatnonzero(is_signed & ids.not_ascii).tolist():
            is_signed[row] = is_utf8(values.text[ids.begin[row] : ids.begin[row] + ids.size[row]])
        rows = np.where(is_signed, heads, np.zeros(1, HEAD_COLUMNS))
        fixed = {name: rows[name].astype(_WIDER.get(name, rows[name].dtype)) for name in HEAD_COLUMNS.names or ()}
        return cls(
            **fixed | {"number_sketch": _sketches(rows)},
            values=values,
            ids=replace(ids, size=np.where(is_signed, ids.size, 0)),
            is_signed=is_signed,
            noise=np.where(is_signed[:, None], noise, np.uint8(0)),
            term_count=np.where(is_signed, term_count, 0).astype(np.uint8),
            terms=np.where(is_signed[:, None], terms, np.int32(NO_TERM)),
            slot_count=np.where(is_signed, slot_count, 0).astype(np.uint8),
            slots=np.where((is_signed & (slot_count > 0))[:, None], slots, np.uint16(0)),
        )

    def __len__(self) -> int:
        return len(self.ids)

    def unpack_row(self, row: int) -> Packed | None:
        """Return one row, as `unpack` returns it."""
        value = self.values[row]
        return None if value is None else unpack(value)


def _cut(octets: NDArray[np.uint8], begin: Whole, size: int) -> NDArray[np.uint8]:
    """Copy `size` bytes from each position."""
    return np.lib.stride_tricks.sliding_window_view(octets, size)[begin]


def _noise(values: PackedValues, ends: Whole) -> tuple[NDArray[np.bool_], NDArray[np.uint8]]:
    """Read the blocks after the ids; nearly all values have only a noise block there, or nothing."""
    octets, begin, size = values.octets, values.begin, np.maximum(values.size, 0)
    rest = size - ends
    begins = _cut(octets, begin + np.where(rest > 0, ends, 0), len(NOISE_BLOCK))
    alone = (rest == len(NOISE_BLOCK) + NOISE_BYTES) & (begins == np.frombuffer(NOISE_BLOCK, np.uint8)).all(axis=1)
    noise = _cut(octets, begin + np.where(alone, ends + len(NOISE_BLOCK), 0), NOISE_BYTES)
    noise[~alone] = 0
    is_sound = alone | (rest == 0)
    for row in np.flatnonzero(~is_sound).tolist():
        block = read_noise(values.text[begin[row] + ends[row] : begin[row] + size[row]])
        is_sound[row] = block is not None
        noise[row] = np.frombuffer(block or bytes(NOISE_BYTES), np.uint8)
    return is_sound, noise


def _is_possible(heads: Rows, term_count: Whole, slot_count: Whole) -> NDArray[np.bool_]:
    """`packed._is_possible` for many values, except for the order of their terms."""
    flags, has_words = heads["flags"], heads["length"] > 0
    first, last = heads["date_from"], heads["date_to"]
    is_possible: NDArray[np.bool_] = (
        (heads["scheme"] == SCHEME)
        & ((flags & (0xFF & ~KNOWN_FLAGS)) == 0)
        & (term_count <= FULL_SET)
        & ((slot_count == 0) | (slot_count == SLOTS))
        & (((flags & NO_SET) != 0) == (term_count == 0))
        & (((flags & NO_MINHASH) != 0) == (slot_count == 0))
        & (((flags & NO_WORDS) != 0) != has_words)
        & (((flags & FULL) == 0) | (term_count == FULL_SET))
        & ((heads["shingles"] > 0) == has_words)
        & (heads["content"].any(axis=1) == has_words)
        & ((slot_count > 0) == has_words)
        & (has_words | (term_count == 0))
        & (((flags & TITLED) == 0) | (has_words & (heads["title"] > 0)))
        & (np.maximum(heads["shingles"], heads["numbers"]) <= heads["length"])
        & (((first == NO_DATE) & (last == NO_DATE)) | ((first >= FIRST_DAY) & (first <= last) & (last <= LAST_DAY)))
    )
    return is_possible


def _terms(octets: NDArray[np.uint8], count: Whole) -> Whole32:
    codes = octets[:, 0::3] | octets[:, 1::3].astype(np.int32) << 8 | octets[:, 2::3].astype(np.int32) << 16
    return np.where(np.arange(FULL_SET) >= count[:, None], np.int32(NO_TERM), codes)


def _sketches(rows: Rows) -> Whole32:
    """Replace hashes by `NO_NUMBER`, starting at the first hash that is not ascending."""
    sketch = rows["number_sketch"].astype(np.int32)
    filling = np.arange(SKETCH) >= rows["numbers"][:, None]
    filling[:, 1:] |= sketch[:, 1:] <= sketch[:, :-1]
    return np.where(np.logical_or.accumulate(filling, axis=1), np.int32(NO_NUMBER), sketch)


_NO_HASH = bytes(content.SIZE)


@dataclass(frozen=True, eq=False, slots=True)
class SignedColumns:
    """The signatures of n documents, signed with one idf table or none."""

    idf: str  # name of the table; empty for none
    names: Sequence[str]  # ids of the documents
    lengths: Places  # (n,) tokens
    shingles: Places  # (n,) distinct shingles
    contents: Sequence[bytes]  # content hashes; empty of a text without words
    titles: Sequence[str]  # tokens of the titles, joined by one space
    title_flags: Sequence[bool]  # whether each title counts
    profiles: Sequence[bytes]  # text profiles; empty for none
    numbers: NumberColumns  # numbers of all
    slots: NDArray[np.uint16]  # (n, 100) uint16; of a text without words, anything
    fingerprints: FingerprintColumns  # fingerprints of all
    features: FeatureColumns  # feature sets of all
    noise: Blocks  # (n,) noise blocks; zeros for none
    long: Sequence[bytes]  # long signatures of each, encoded; empty for none
    words: Sequence[int]  # hashes of 16 bits of the words
    signs: Sequence[int]  # hashes of 16 bits of the signs; 0 for none

    def rows(self) -> list[Signatures]:
        count = len(self.names)
        slots = map(tuple, self.slots.tolist())
        sketches = zip(self.numbers.sketch.tolist(), self.numbers.sizes.tolist(), strict=True)
        codes, ends = self.features.codes.tolist(), self.features.counts.cumsum().tolist()
        columns = (
            self.lengths.tolist(),
            self.shingles.tolist(),
            map(content.format_hash, self.contents, self.names),
            [fingerprint.SCHEME + each.hex() if each else "" for each in self.fingerprints.values],
            [terms < fingerprint.TERMS for terms in self.fingerprints.terms],
            [text_profile.SCHEME + each.hex() if each else "" for each in self.profiles],
            self.numbers.distinct.tolist(),
            [tuple(sketch[:size]) for sketch, size in sketches],
            [tuple(codes[start:end]) for start, end in pairwise([0, *ends])],
            self.features.full.tolist(),
            [row if length else () for row, length in zip(slots, self.lengths.tolist(), strict=True)],
            [self.idf] * count,
            self.titles,
            self.title_flags,
            noise.rows(self.noise),
            self.long,
            self.words,
            self.signs,
        )
        return list(starmap(Signatures, zip(*columns, strict=True)))

    def stored_rows(self) -> list[StoredSignatures]:
        """Return for each document the signatures that engines store in addition to its packed value."""
        contents = map(content.format_hash, self.contents, self.names)
        idf = [self.idf] * len(self.names)
        return list(map(StoredSignatures, self.lengths.tolist(), contents, idf, self.long))

    def pack(self, documents: Sequence[Document], distinct: Sequence[str] = ()) -> list[bytes]:
        """Build the packed values with the dates, sources and ids of the documents, as `packed.pack` does."""
        heads = self._heads(documents, distinct).tobytes()
        counts, size, width = self.features.counts, HEAD_COLUMNS.itemsize, 1 + 2 * SLOTS
        terms = self.features.codes.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :TERM_BYTES].tobytes()
        slots = np.zeros((len(documents), width), np.uint8)
        slots[:, 0] = SLOTS
        slots[:, 1:] = self.slots.astype("<u2").view(np.uint8)
        minima = slots.tobytes()
        names = [name.encode() for name in self.names]
        blocks = [NOISE_BLOCK + block if block else b"" for block in noise.rows(self.noise)]
        ends = (TERM_BYTES * counts.cumsum()).tolist()
        rows = zip(names, counts.tolist(), ends, self.lengths.tolist(), blocks, strict=True)
        values, head, slot = [], 0, 0
        for name, count, end, length, block in rows:
            minima_part = minima[slot : slot + width] if length else b"\0"
            term_bytes = terms[end - TERM_BYTES * count : end]
            name_length = len(name).to_bytes(2, "little")
            values.append(
                b"%b%c%b%b%b%b%b"
                % (heads[head : head + size], count, term_bytes, minima_part, name_length, name, block)
            )
            head, slot = head + size, slot + width
        return values

    def _heads(self, documents: Sequence[Document], distinct: Sequence[str]) -> NDArray[np.void]:
        """Fill the fields at fixed positions of each value."""
        heads = np.zeros(len(documents), HEAD_COLUMNS)
        heads["scheme"] = SCHEME
        heads["flags"] = self._flags()
        heads["length"], heads["shingles"] = self.lengths, self.shingles
        dates = [document.date for document in documents]
        days = {date: interval(date) for date in set(dates)}
        for name, end in (("date_from", 0), ("date_to", 1)):
            numbers = {date: NO_DATE if each[end] is None else each[end] for date, each in days.items()}
            heads[name] = [numbers[date] for date in dates]
        heads["idf"] = int.from_bytes(bytes.fromhex(self.idf)[:IDF_BYTES], "little")
        heads["words"], heads["signs"] = self.words, self.signs
        heads["content"] = _first_words(self.contents, content.SIZE)
        heads["fingerprint"] = _first_words(self.fingerprints.values, 8)[:, 0]
        heads["profile"] = _first_words(self.profiles, 8)[:, 0]
        heads["source"] = _hashes([document.source for document in documents])
        heads["title"] = _hashes(self.titles)
        if distinct:
            heads["guard"] = np.frombuffer(b"".join(guard(document, distinct) for document in documents), "<u4")
        heads["numbers"], heads["number_sketch"] = self.numbers.distinct, self.numbers.sketch
        return heads

    def _flags(self) -> NDArray[np.int64]:
        weak = np.array(self.fingerprints.terms) < fingerprint.TERMS
        is_long = np.array([bool(each) for each in self.long])
        none, no_set = self.lengths == 0, self.features.counts == 0
        flags: NDArray[np.int64] = (
            WEAK * weak
            + NO_SET * no_set
            + NO_MINHASH * none
            + NO_WORDS * none
            + FULL * self.features.full
            + LONG * is_long
            + TITLED * np.array(self.title_flags, np.int64)
        )
        return flags


def _first_words(hashes: Sequence[bytes], size: int) -> NDArray[np.uint64]:
    """Return the first bytes of hashes as integers; zeros for an empty hash."""
    cut = b"".join([each[:size] or _NO_HASH[:size] for each in hashes])
    return np.frombuffer(cut, "<u8").reshape(-1, size // 8)


def _hashes(values: Sequence[str]) -> list[int]:
    """Hash values to four bytes each, as `hash_value` does; repeated values are hashed once."""
    by_value = {value: int.from_bytes(hash_value(value.encode()), "little") for value in set(values)}
    return [by_value[value] for value in values]
