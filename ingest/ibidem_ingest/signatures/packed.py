"""Packed value: all data of one document that grouping needs, in about 570 bytes; and many of them as columns.

Little-endian, in this order: scheme u8; flags u8; length u32; distinct shingles u32; date from and to, two i32 (days
since 1980-01-01, INT32_MIN none); idf table 4 bytes; words u16; signs u16; content 16; fingerprint 8; profile 8;
source 4; guard 4 (the fields that must not differ); title 4; numbers: count u8, 16 of u16; terms: count u8, 3 bytes
each; slots: count u8, u16 each; id: length u16, UTF-8; then blocks to the end. Zeros mean that a hash is missing. The
sketch of the numbers ascends; the rest is filling.

A block: name u8, version u8, size u16, then so many bytes; names ascend. There is one: `n`, the noise block. A block of
another name or version is passed over, so that a later version may add one and this one still reads all else.

Whoever may write a document may write this value, so it is checked as any input: what no text can have is refused,
here for one value and for columns, and in the plugin's `Packed` alike (`tests/plugin/verdicts.py`). That it is the
document's own only the engine can say: the id in it is a claim.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from itertools import pairwise, starmap
from operator import lt
from typing import Any, TypeVar

import numpy as np
import orjson
import xxhash
from numpy.typing import NDArray

from ibidem_ingest.dates import EPOCH, interval
from ibidem_ingest.document import Document
from ibidem_ingest.kernel.loops import Hashes, Octets, Places
from ibidem_ingest.signatures import content, feature_set, noise, text_profile
from ibidem_ingest.signatures.noise import Blocks
from ibidem_ingest.signatures.numbers import SKETCH
from ibidem_ingest.signatures.schema import FULL_SET, SLOTS, Signatures

SCHEME = 4
WEAK, NO_SET, NO_MINHASH, NO_WORDS, FULL, LONG, TITLED = 1, 2, 4, 8, 16, 32, 64
UNKNOWN_FLAGS = 128
NO_DATE = -(1 << 31)
FIRST_DAY, LAST_DAY = ((day - EPOCH).days for day in (date.min, date.max))  # all days that a date can name

TERM_BYTES = 3

NOISE_BYTES = 76
IDF_BYTES = 4  # of the name of an idf table

HEAD = struct.Struct("<BBIIii4sHH16s8s8s4s4s4sB16H")
BLOCK = struct.Struct("<BBH")
NOISE_BLOCK = BLOCK.pack(ord("n"), 1, NOISE_BYTES)  # what a noise block begins with: its name, its version and its size

_LENGTH = struct.Struct("<H")
_SLOTS = struct.Struct(f"<B{SLOTS}H")
_PADDING = (0,) * SKETCH
_FIELDS = frozenset(("title", "date", "source", "url", "language"))


@dataclass(frozen=True, slots=True)
class Packed:
    """Unpacked signatures of one document; a missing hash is all zeros."""

    scheme: int
    # `WEAK`, `NO_SET`, `NO_MINHASH`, `NO_WORDS`, `FULL`; `LONG`: it has long signatures; `TITLED`: its title counts,
    # since the text is short.
    flags: int
    length: int  # number of tokens
    shingles: int  # number of distinct shingles
    date_from: int  # first day of its date, in days since 1980-01-01; `NO_DATE` when unknown
    date_to: int  # last day, or `NO_DATE`
    idf: bytes  # the first 4 bytes of the idf table's name
    words: int  # hash of the words, 16 bits
    signs: int  # hash of the signs, 16 bits; 0 for none
    content: bytes  # content hash, 16 bytes
    fingerprint: bytes  # the first 8 bytes of the fingerprint
    profile: bytes  # the first 8 bytes of the text profile
    source: bytes  # hash of the source, 4 bytes
    guard: bytes  # hash of the fields that must not differ, 4 bytes; zeros when none are named or one is missing
    title: bytes  # hash of the title, 4 bytes; zeros without one
    numbers: int  # count of distinct tokens with a digit, to 255
    number_sketch: tuple[int, ...]  # the (at most) 16 smallest of their hashes, ascending
    terms: tuple[int, ...]  # feature set, ascending; empty when there is none
    slots: tuple[int, ...]  # 100 min-hash slots; empty without words
    id: str  # the document's id
    noise: bytes  # noise block, 76 bytes; zeros when there is none


def pack(document: Document, signatures: Signatures, distinct: Sequence[str] = ()) -> bytes:
    """Pack a document's signatures with its dates, source and id."""
    head = HEAD.pack(
        SCHEME,
        WEAK * signatures.weak
        | NO_SET * (not signatures.terms)
        | NO_MINHASH * (not signatures.slots)
        | NO_WORDS * (not signatures.length)
        | FULL * signatures.full
        | LONG * bool(signatures.long)
        | TITLED * signatures.titled,
        signatures.length,
        signatures.shingles,
        *_days(document.date),
        bytes.fromhex(signatures.idf)[:IDF_BYTES],
        signatures.words,
        signatures.signs,
        leading_bytes(signatures.content, 16) if signatures.length else b"",
        leading_bytes(signatures.fingerprint, 8),
        leading_bytes(signatures.profile, 8),
        hash_value(document.source.encode()),
        guard(document, distinct),
        hash_value(signatures.title.encode()),
        signatures.numbers,
        *signatures.number_sketch,
        *_PADDING[len(signatures.number_sketch) :],
    )
    terms = b"".join(code.to_bytes(TERM_BYTES, "little") for code in signatures.terms)
    slots = _SLOTS.pack(SLOTS, *signatures.slots) if signatures.slots else b"\0"
    name = document.id.encode()
    noise = NOISE_BLOCK + signatures.noise if signatures.noise else b""
    return b"%b%c%b%b%b%b%b" % (head, len(signatures.terms), terms, slots, _LENGTH.pack(len(name)), name, noise)


def _days(date: str) -> tuple[int, int]:
    """Return the first and the last day of a date, as they are packed."""
    first, last = interval(date)
    return NO_DATE if first is None else first, NO_DATE if last is None else last


def unpack(value: bytes) -> Packed | None:
    """Parse a packed value; None if it is damaged, impossible or of an unknown scheme: the document is unsigned."""
    if len(value) <= HEAD.size or value[0] != SCHEME:
        return None
    slots_at = HEAD.size + 1 + value[HEAD.size] * TERM_BYTES
    begin = slots_at + 1 + _LENGTH.size + (value[slots_at] * 2 if slots_at < len(value) else 0)
    if begin >= len(value):
        return None
    end: int = begin + _LENGTH.unpack_from(value, begin - _LENGTH.size)[0]
    noise, id_ = read_noise(value[end:]), _read_text(value[begin:end])
    if end > len(value) or noise is None or not id_:
        return None
    values = HEAD.unpack_from(value)
    head, sketch = values[:-SKETCH], values[-SKETCH:]  # in the order of the fields of `Packed`
    codes = struct.iter_unpack("<HB", value[HEAD.size + 1 : slots_at])
    terms = tuple(low + (high << 16) for low, high in codes)
    slots = struct.unpack_from(f"<{value[slots_at]}H", value, slots_at + 1)
    parts = (*head, _sketch(head[-1], sketch), terms, slots, id_, noise)
    its = Packed(*parts)
    is_possible = (
        all(map(lt, terms, terms[1:]))
        and _flags_fit(its.flags, its.length > 0, any(its.title), len(terms), len(slots))
        and _figures_fit(its.length, its.shingles, its.numbers, any(its.content), (its.date_from, its.date_to))
    )
    return its if is_possible else None


def read_length(value: bytes) -> int:
    """Read only the number of tokens; 0 for a truncated value."""
    return int.from_bytes(value[2:6], "little")


def read_noise(blocks: bytes) -> bytes | None:
    """Return the noise block among the blocks after the id."""
    noise, last, position = bytes(NOISE_BYTES), -1, 0
    while position < len(blocks):
        begin, content = blocks[position : position + BLOCK.size], position + BLOCK.size
        if len(begin) < BLOCK.size:
            return None
        name, _, size = BLOCK.unpack(begin)
        position = content + size
        if name <= last or position > len(blocks):
            return None
        noise = blocks[content:position] if begin == NOISE_BLOCK else noise
        last = name
    return noise


def guard(document: Document, distinct: Sequence[str]) -> bytes:
    """Hash the values of the required equal fields."""
    values = [
        getattr(document, name) if name in _FIELDS else document.meta.get(name.removeprefix("meta."))
        for name in distinct
    ]
    if not values or any(value in (None, "") for value in values):
        return bytes(4)
    return hash_value(orjson.dumps(values, option=orjson.OPT_SORT_KEYS))


def hash_value(value: bytes) -> bytes:
    """Hash a value to four bytes, xxh32 little-endian; zeros only for an empty value."""
    return max(1, xxhash.xxh32_intdigest(value)).to_bytes(4, "little") if value else bytes(4)


def leading_bytes(signature: str, size: int) -> bytes:
    """Return the first bytes of a stored hash, without its scheme; empty for an empty hash."""
    start = signature.find(":") + 1
    return bytes.fromhex(signature[start : start + 2 * size])


def _sketch(count: int, hashes: Sequence[int]) -> tuple[int, ...]:
    """Return the ascending part of the sketch; the rest is padding."""
    size = min(count, 1)
    while 0 < size < min(count, SKETCH) and hashes[size] > hashes[size - 1]:
        size += 1
    return tuple(hashes[:size])


Figure = TypeVar("Figure", int, NDArray[Any])  # of one value, or of many


def _flags_fit(flags: Figure, has_words: Figure, has_title: Figure, terms: Figure, slots: Figure) -> Figure:
    """Return whether the flags are known and fit the parts, and there can be as many terms and slots."""
    fit: Figure = (
        ((flags & UNKNOWN_FLAGS) == 0)
        & (terms <= FULL_SET)
        & ((slots == 0) | (slots == SLOTS))
        & (((flags & NO_SET) != 0) == (terms == 0))
        & (((flags & NO_MINHASH) != 0) == (slots == 0))
        & (((flags & NO_WORDS) == 0) == has_words)
        & (((flags & FULL) == 0) | (terms == FULL_SET))
        & ((slots > 0) == has_words)
        & (has_words | (terms == 0))
        & (((flags & TITLED) == 0) | (has_words & has_title))
    )
    return fit


def _figures_fit(
    length: Figure, shingles: Figure, numbers: Figure, has_content: Figure, days: tuple[Figure, Figure]
) -> Figure:
    """Return whether a text can have these figures."""
    first, last = days
    fit: Figure = (
        ((shingles > 0) == (length > 0))
        & (has_content == (length > 0))
        & (shingles <= length)
        & (numbers <= length)
        & (((first == NO_DATE) & (last == NO_DATE)) | ((first >= FIRST_DAY) & (first <= last) & (last <= LAST_DAY)))
    )
    return fit


def _read_text(octets: bytes) -> str:
    """Decode an id; empty if it is no UTF-8."""
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return ""


# Zeros behind the last value: so many bytes can be read from the beginning of each, however short it is.
ROOM = HEAD.size + 1 + FULL_SET * TERM_BYTES + 1 + SLOTS * 2 + 2 + len(NOISE_BLOCK) + NOISE_BYTES

MISSING = -1


@dataclass(frozen=True, eq=False, slots=True)
class PackedValues:
    """Packed values in one buffer, each read on access."""

    text: bytes  # the buffer, maybe with filling between the values, and `ROOM` zeros at the end
    begin: Places  # (n,) where each begins
    size: Places  # (n,) its bytes; `MISSING` where a document has none

    @classmethod
    def join(cls, values: "Sequence[bytes | None] | PackedValues") -> "PackedValues":
        """Join values in one buffer."""
        if isinstance(values, PackedValues):
            return values
        text = b"".join([*(value or b"" for value in values), bytes(ROOM)])
        size = np.array([MISSING if value is None else len(value) for value in values], np.int64)
        length = np.maximum(size, 0)
        return cls(text, length.cumsum() - length, size)

    def __len__(self) -> int:
        return len(self.size)

    def __iter__(self) -> Iterator[bytes | None]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, row: int) -> bytes | None:
        begin, size = int(self.begin[row]), int(self.size[row])
        return None if size == MISSING else self.text[begin : begin + size]

    def take(self, rows: Sequence[int]) -> "PackedValues":
        """Return some of the values, in the given order."""
        return replace(self, begin=self.begin[rows], size=self.size[rows])

    def keep_own(self, ids: Sequence[str]) -> "PackedValues":
        """Return the values with the right document ids; a value with another id is discarded."""
        size = self.size.copy()
        size[[row for row, (claimed, own) in enumerate(zip(self.ids, ids, strict=True)) if claimed != own]] = MISSING
        return replace(self, size=size)

    @property
    def octets(self) -> Octets:
        """The buffer, byte by byte."""
        return np.frombuffer(self.text, np.uint8)

    @property
    def ids(self) -> list[str]:
        """The id in each value; empty if it is not found."""
        begins, sizes = self.id_places()
        return [
            _read_text(self.text[begin : begin + size])
            for begin, size in zip(begins.tolist(), sizes.tolist(), strict=True)
        ]

    def id_places(self) -> tuple[Places, Places]:
        """Return where the id of each value begins in the buffer, and its bytes; zeros where it is not found."""
        octets, size = self.octets, np.maximum(self.size, 0)
        slots_at = HEAD.size + 1 + octets[self.begin + HEAD.size].astype(np.int64) * TERM_BYTES
        slots = octets[self.begin + np.minimum(slots_at, size)].astype(np.int64)
        start = slots_at + 1 + slots * 2 + 2
        is_known = (octets[self.begin] == SCHEME) & (start < size)
        mark = self.begin + np.where(is_known, start, 2) - 2
        length = octets[mark] | octets[mark + 1].astype(np.int64) << 8
        is_known &= (length > 0) & (start + length <= size)
        return np.where(is_known, self.begin + start, 0), np.where(is_known, length, 0)


NO_TERM = 1 << 24  # filling behind the last term: greater than every code

NO_NUMBER = 1 << 16  # filling behind the last hash of a number sketch: greater than every hash

# The part of a packed value that is at the same place in each: the first fields of `Packed`, in their order.
HEAD_COLUMNS = np.dtype("u1,u1,<u4,<u4,<i4,<i4,<u4,<u2,<u2,(2,)<u8,<u8,<u8,<u4,<u4,<u4,u1,(16,)<u2")
HEAD_COLUMNS.names = tuple(each.name for each in fields(Packed))[: len(HEAD_COLUMNS.names or ())]

# Columns that are computed with in more bits than they are stored in.
_WIDER = dict.fromkeys(("length", "shingles", "date_from", "date_to"), np.int64) | {"idf": np.uint64}

Codes = NDArray[np.int32]
Rows = NDArray[np.void]


@dataclass(frozen=True, eq=False, slots=True)
class PackedColumns:
    """The packed values of n hits, in order; rows that are not signed have zeros and padding."""

    values: Sequence[bytes | None] | PackedValues  # the packed values themselves
    ids: Sequence[str]  # the documents' ids; empty where not signed
    # (n,) bool: whether the value is there, whole and of a known scheme: `unpack` of it is not None.
    is_signed: NDArray[np.bool_]
    scheme: Octets  # (n,) uint8: 4; 0 where not signed
    flags: Octets  # (n,) uint8: `WEAK`, `NO_SET` … of `packed`
    length: Places  # (n,) int64, tokens
    shingles: Places  # (n,) int64, distinct shingles
    date_from: Places  # (n,) int64, days since 1980-01-01, `NO_DATE` when unknown
    date_to: Places  # (n,) int64
    idf: Hashes  # (n,) uint64, the first four bytes of the idf table's name, little-endian; 0 none
    words: NDArray[np.uint16]  # (n,) uint16, hash of the words
    signs: NDArray[np.uint16]  # (n,) uint16, hash of the signs; 0 none
    content: Hashes  # (n, 2) uint64; 0, 0 none
    fingerprint: Hashes  # (n,) uint64; 0 none
    profile: Hashes  # (n,) uint64; 0 none
    source: NDArray[np.uint32]  # (n,) uint32; 0 none
    guard: NDArray[np.uint32]  # (n,) uint32; 0 none
    title: NDArray[np.uint32]  # (n,) uint32; 0 none
    noise: Octets  # (n, 76) uint8; zeros none
    numbers: Octets  # (n,) uint8, count of distinct tokens with a digit
    number_sketch: Codes  # (n, 16) int32, ascending, `NO_NUMBER` behind the last
    term_count: Octets  # (n,) uint8
    terms: Codes  # (n, 60) int32, ascending, `NO_TERM` behind the last
    slot_count: Octets  # (n,) uint8, 0 or 100
    slots: NDArray[np.uint16]  # (n, 100) uint16

    @classmethod
    def decode(cls, values: Sequence[bytes | None] | PackedValues) -> "PackedColumns":
        """Decode packed values; damaged ones do not raise."""
        values = PackedValues.join(values)
        octets, begin, size, ids = values.octets, values.begin, np.maximum(values.size, 0), values.ids
        id_begin, id_size = values.id_places()
        heads = _cut(octets, begin, HEAD_COLUMNS.itemsize).view(HEAD_COLUMNS)[:, 0]
        term_count = octets[begin + HEAD_COLUMNS.itemsize].astype(np.int64)
        terms = _terms(_cut(octets, begin + HEAD_COLUMNS.itemsize + 1, FULL_SET * TERM_BYTES), term_count)
        slots_at = HEAD_COLUMNS.itemsize + 1 + term_count * TERM_BYTES
        slot_count = octets[begin + np.minimum(slots_at, size)].astype(np.int64)
        slots = _cut(octets, begin + np.where(id_size > 0, slots_at + 1, 0), SLOTS * 2).view("<u2")
        has_blocks, noise = _noise(values, np.where(id_size > 0, id_begin + id_size - begin, size))
        length, days = heads["length"], (heads["date_from"], heads["date_to"])
        is_signed: NDArray[np.bool_] = (
            np.fromiter(map(len, ids), np.int64, len(ids)).astype(bool)
            & has_blocks
            & _flags_fit(heads["flags"], length > 0, heads["title"] > 0, term_count, slot_count)
            & _figures_fit(length, heads["shingles"], heads["numbers"], heads["content"].max(axis=1) > 0, days)
            & ((terms[:, 1:] > terms[:, :-1]) | (terms[:, 1:] == NO_TERM)).all(axis=1)
        )
        unsigned = np.flatnonzero(~is_signed)
        heads[unsigned] = np.zeros(1, HEAD_COLUMNS)
        noise[unsigned] = term_count[unsigned] = slot_count[unsigned] = 0
        terms[unsigned], slots[slot_count == 0] = NO_TERM, 0
        for row in unsigned.tolist():
            ids[row] = ""
        fixed = {name: heads[name].astype(_WIDER.get(name, heads[name].dtype)) for name in HEAD_COLUMNS.names or ()}
        return cls(
            **fixed | {"number_sketch": _sketches(heads)},
            values=values,
            ids=ids,
            is_signed=is_signed,
            noise=noise,
            term_count=term_count.astype(np.uint8),
            terms=terms,
            slot_count=slot_count.astype(np.uint8),
            slots=slots,
        )

    def __len__(self) -> int:
        return len(self.ids)

    def unpack_row(self, row: int) -> Packed | None:
        """Return one row, as `unpack` returns it."""
        value = self.values[row]
        return None if value is None else unpack(value)


def _cut(octets: Octets, begin: Places, size: int) -> Octets:
    """Copy `size` bytes from each position."""
    return np.lib.stride_tricks.sliding_window_view(octets, size)[begin]


def _noise(values: PackedValues, ends: Places) -> tuple[NDArray[np.bool_], Octets]:
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


def _terms(octets: Octets, count: Places) -> Codes:
    codes = octets[:, 0::3] | octets[:, 1::3].astype(np.int32) << 8 | octets[:, 2::3].astype(np.int32) << 16
    return np.where(np.arange(FULL_SET) >= count[:, None], np.int32(NO_TERM), codes)


def _sketches(rows: Rows) -> Codes:
    """Replace hashes by `NO_NUMBER`, starting at the first hash that is not ascending."""
    sketch = rows["number_sketch"].astype(np.int32)
    filling = np.arange(SKETCH) >= rows["numbers"][:, None]
    filling[:, 1:] |= sketch[:, 1:] <= sketch[:, :-1]
    return np.where(np.logical_or.accumulate(filling, axis=1), np.int32(NO_NUMBER), sketch)


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
    numbers: Places  # (n,) distinct tokens that hold a digit, to 255
    number_sketch: NDArray[np.uint16]  # (n, 16) hashes, ascending; zeros behind the last
    slots: NDArray[np.uint16]  # (n, 100) uint16; of a text without words, anything
    fingerprints: Sequence[bytes]  # empty without candidate terms
    candidates: Places  # (n,) candidate terms: with few a fingerprint is weak, with many a feature set is full
    terms: Places  # codes of the feature sets, one behind the other
    term_counts: Places  # (n,) how many each has
    noise: Blocks  # (n,) noise blocks; zeros for none
    long: Sequence[bytes]  # long signatures of each, encoded; empty for none
    words: Sequence[int]  # hashes of 16 bits of the words
    signs: Sequence[int]  # hashes of 16 bits of the signs; 0 for none

    def rows(self) -> list[Signatures]:
        count = len(self.names)
        slots = map(tuple, self.slots.tolist())
        codes, ends = self.terms.tolist(), self.term_counts.cumsum().tolist()
        columns = (
            self.lengths.tolist(),
            self.shingles.tolist(),
            map(content.format_hash, self.contents, self.names),
            [feature_set.FINGERPRINT_SCHEME + each.hex() if each else "" for each in self.fingerprints],
            (self.candidates < feature_set.FINGERPRINT_TERMS).tolist(),
            [text_profile.SCHEME + each.hex() if each else "" for each in self.profiles],
            self.numbers.tolist(),
            map(_sketch, self.numbers.tolist(), self.number_sketch.tolist()),
            [tuple(codes[start:end]) for start, end in pairwise([0, *ends])],
            (self.candidates >= FULL_SET).tolist(),
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

    def pack(self, documents: Sequence[Document], distinct: Sequence[str] = ()) -> list[bytes]:
        """Build the packed values with the dates, sources and ids of the documents, as `packed.pack` does."""
        slots = np.full((len(documents), 1 + 2 * SLOTS), SLOTS, np.uint8)
        slots[:, 1:] = self.slots.astype("<u2").view(np.uint8)
        minima = zip(slots.view(f"V{slots.shape[1]}")[:, 0].tolist(), self.lengths.tolist(), strict=True)
        terms = self.terms.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :TERM_BYTES].tobytes()
        ends = (TERM_BYTES * self.term_counts.cumsum()).tolist()
        names = [name.encode() for name in self.names]
        parts = (
            self._heads(documents, distinct).view(f"V{HEAD_COLUMNS.itemsize}").tolist(),
            self.term_counts.astype(np.uint8).view("V1").tolist(),
            [terms[start:end] for start, end in pairwise([0, *ends])],
            [each if length else b"\0" for each, length in minima],
            [_LENGTH.pack(len(name)) + name for name in names],
            [NOISE_BLOCK + block if block else b"" for block in noise.rows(self.noise)],
        )
        return list(map(b"".join, zip(*parts, strict=True)))

    def _heads(self, documents: Sequence[Document], distinct: Sequence[str]) -> NDArray[np.void]:
        """Fill the fields at fixed positions of each value."""
        heads = np.zeros(len(documents), HEAD_COLUMNS)
        heads["scheme"] = SCHEME
        heads["flags"] = (
            WEAK * (self.candidates < feature_set.FINGERPRINT_TERMS)
            + NO_SET * (self.term_counts == 0)
            + (NO_MINHASH + NO_WORDS) * (self.lengths == 0)
            + FULL * (self.candidates >= FULL_SET)
            + LONG * np.array([bool(each) for each in self.long])
            + TITLED * np.array(self.title_flags, np.int64)
        )
        heads["length"], heads["shingles"] = self.lengths, self.shingles
        days = {date: _days(date) for date in {document.date for document in documents}}
        dates = np.array([days[document.date] for document in documents], np.int64).reshape(-1, 2)
        heads["date_from"], heads["date_to"] = dates.T
        heads["idf"] = int.from_bytes(bytes.fromhex(self.idf)[:IDF_BYTES], "little")
        heads["words"], heads["signs"] = self.words, self.signs
        heads["content"] = _first_words(self.contents, content.SIZE)
        heads["fingerprint"] = _first_words(self.fingerprints, 8)[:, 0]
        heads["profile"] = _first_words(self.profiles, 8)[:, 0]
        heads["source"] = _hashes([document.source for document in documents])
        heads["title"] = _hashes(self.titles)
        if distinct:
            heads["guard"] = np.frombuffer(b"".join(guard(document, distinct) for document in documents), "<u4")
        heads["numbers"], heads["number_sketch"] = self.numbers, self.number_sketch
        return heads


def _first_words(hashes: Sequence[bytes], size: int) -> Hashes:
    """Return the first bytes of hashes as integers; zeros for an empty hash."""
    cut = b"".join([each[:size].ljust(size, b"\0") for each in hashes])
    return np.frombuffer(cut, "<u8").reshape(-1, size // 8)


def _hashes(values: Sequence[str]) -> list[int]:
    """Hash values to four bytes each, as `hash_value` does; repeated values are hashed once."""
    by_value = {value: int.from_bytes(hash_value(value.encode()), "little") for value in set(values)}
    return [by_value[value] for value in values]
