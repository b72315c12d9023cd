"""Packed value: all data of one document that grouping needs, in about 570 bytes.

Little-endian, in this order: scheme u8; flags u8; length u32; distinct shingles u32; date from and to, two i32 (days
since 1980-01-01, INT32_MIN none); idf table 4 bytes; words u16; signs u16; content 16; fingerprint 8; profile 8;
source 4; guard 4 (the fields that must not differ); title 4; numbers: count u8, 16 of u16; terms: count u8, 3 bytes
each; slots: count u8, u16 each; id: length u16, UTF-8; then blocks to the end. Zeros mean that a hash is missing. The
sketch of the numbers ascends; the rest is filling.

A block: name u8, version u8, size u16, then so many bytes; names ascend. There is one: `n`, the noise block. A block of
another name or version is passed over, so that a later version may add one and this one still reads all else.

Whoever may write a document may write this value, so it is checked as any input: what no text can have is refused,
here, in `packed_columns` and in the plugin's `Packed` alike (`tests/plugin/verdicts.py`). That it is the document's own
only the engine can say: the id in it is a claim.
"""

import struct
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from operator import lt
from typing import Self, TypeVar, overload

import numpy as np
import orjson
import xxhash
from numpy.typing import NDArray
from typing_extensions import override

from ibidem_ingest.dates import EPOCH, interval
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.numbers import SKETCH
from ibidem_ingest.signatures.schema import FULL_SET, SLOTS, Signatures

SCHEME = 4
WEAK, NO_SET, NO_MINHASH, NO_WORDS, FULL, LONG, TITLED = 1, 2, 4, 8, 16, 32, 64
KNOWN_FLAGS = WEAK | NO_SET | NO_MINHASH | NO_WORDS | FULL | LONG | TITLED
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
    first, last = interval(document.date)
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
        NO_DATE if first is None else first,
        NO_DATE if last is None else last,
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
    terms = _three_bytes(signatures.terms)
    slots = _SLOTS.pack(SLOTS, *signatures.slots) if signatures.slots else b"\0"
    name = document.id.encode()
    noise = NOISE_BLOCK + signatures.noise if signatures.noise else b""
    return b"%b%c%b%b%b%b%b" % (head, len(signatures.terms), terms, slots, _LENGTH.pack(len(name)), name, noise)


def unpack(value: bytes) -> Packed | None:
    """Parse a packed value; None if it is damaged, impossible or of an unknown scheme: the document is unsigned."""
    name = _name_bounds(value)
    noise = read_noise(value[name[1] :]) if name else None
    if name is None or noise is None or not is_utf8(value[slice(*name)]):
        return None
    values = HEAD.unpack_from(value)
    head, sketch = values[:-SKETCH], values[-SKETCH:]  # in the order of the fields of `Packed`
    slots_at = HEAD.size + 1 + value[HEAD.size] * TERM_BYTES
    terms = _read_three_bytes(value[HEAD.size + 1 : slots_at])
    slots = struct.unpack_from(f"<{value[slots_at]}H", value, slots_at + 1)
    fields = (*head, _sketch(head[-1], sketch), terms, slots, value[slice(*name)].decode(), noise)
    packed = Packed(*fields)
    return packed if _is_possible(packed) else None


def read_id(value: bytes) -> str:
    """Read only the id, in a third of the time of `unpack`; empty if it is not found."""
    name = _name_bounds(value)
    return value[slice(*name)].decode(errors="ignore") if name else ""


def read_length(value: bytes) -> int:
    """Read only the number of tokens; 0 for a truncated value."""
    return int.from_bytes(value[2:6], "little")


def _name_bounds(value: bytes) -> tuple[int, int] | None:
    """Return the start and end of the id; None if the value is too short, or of another scheme."""
    if len(value) <= HEAD.size or value[0] != SCHEME:
        return None
    slots_at = HEAD.size + 1 + value[HEAD.size] * TERM_BYTES
    begin = slots_at + 1 + _LENGTH.size + (value[slots_at] * 2 if slots_at < len(value) else 0)
    if begin >= len(value):
        return None
    end: int = begin + _LENGTH.unpack_from(value, begin - _LENGTH.size)[0]
    return (begin, end) if begin < end <= len(value) else None


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


def _three_bytes(codes: Sequence[int]) -> bytes:
    words = struct.pack(f"<{len(codes)}I", *codes)
    octets = bytearray(TERM_BYTES * len(codes))
    for place in range(TERM_BYTES):
        octets[place::TERM_BYTES] = words[place::4]
    return bytes(octets)


def _read_three_bytes(octets: bytes) -> tuple[int, ...]:
    """Decode the codes of `_three_bytes`."""
    words = bytearray(len(octets) // TERM_BYTES * 4)
    for place in range(TERM_BYTES):
        words[place::4] = octets[place::TERM_BYTES]
    return struct.unpack(f"<{len(words) // 4}I", words)


def _sketch(count: int, hashes: Sequence[int]) -> tuple[int, ...]:
    """Return the ascending part of the sketch; the rest is padding."""
    size = min(count, 1)
    while 0 < size < min(count, SKETCH) and hashes[size] > hashes[size - 1]:
        size += 1
    return tuple(hashes[:size])


def _is_possible(packed: Packed) -> bool:
    """Return whether the parts fit together, and a text can have these figures."""
    bits, terms, has_words = packed.flags, packed.terms, packed.length > 0
    return (
        not bits & ~KNOWN_FLAGS
        and len(terms) <= FULL_SET
        and all(map(lt, terms, terms[1:]))
        and len(packed.slots) in (0, SLOTS)
        and bool(bits & NO_SET) == (not terms)
        and bool(bits & NO_MINHASH) == (not packed.slots)
        and bool(bits & NO_WORDS) != has_words
        and not (bits & FULL and len(terms) != FULL_SET)
        and has_words == (packed.shingles > 0) == any(packed.content) == bool(packed.slots)
        and (has_words or not terms)
        and (not bits & TITLED or (has_words and any(packed.title)))
        and max(packed.shingles, packed.numbers) <= packed.length
        and (
            packed.date_from == packed.date_to == NO_DATE or FIRST_DAY <= packed.date_from <= packed.date_to <= LAST_DAY
        )
    )


def is_utf8(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


# Zeros behind the last value: so many bytes can be read from the beginning of each, however short it is.
ROOM = HEAD.size + 1 + FULL_SET * TERM_BYTES + 1 + SLOTS * 2 + 2 + len(NOISE_BLOCK) + NOISE_BYTES

MISSING = -1

Octets = NDArray[np.uint8]
Places = NDArray[np.int64]
Bools = NDArray[np.bool_]


T = TypeVar("T")


@dataclass(frozen=True, eq=False, slots=True)
class Slices(Sequence[T]):
    """Values in one buffer, each read on access."""

    text: bytes  # the buffer, maybe with filling between the values
    begin: Places  # (n,) where each begins
    size: Places  # (n,) its bytes

    @abstractmethod
    def read(self, row: int) -> T: ...

    def __len__(self) -> int:
        return len(self.size)

    @overload
    def __getitem__(self, row: int) -> T: ...

    @overload
    def __getitem__(self, row: slice) -> Self: ...

    @override
    def __getitem__(self, row: int | slice) -> T | Self:
        return self.take(row) if isinstance(row, slice) else self.read(row)

    def take(self, rows: Sequence[int] | Places | slice) -> Self:
        """Return some of the values, in the given order."""
        return replace(self, begin=self.begin[rows], size=self.size[rows])


class PackedValues(Slices[bytes | None]):
    """Packed values, with `ROOM` zeros at the end of the buffer; `MISSING` is the size where a document has none."""

    __slots__ = ()

    @classmethod
    def join(cls, values: Sequence[bytes | None]) -> "PackedValues":
        """Join values in one buffer."""
        if isinstance(values, PackedValues):
            return values
        text = b"".join([*(value or b"" for value in values), bytes(ROOM)])
        size = np.array([MISSING if value is None else len(value) for value in values], np.int64)
        return cls(text, end_places(size) - np.maximum(size, 0), size)

    @override
    def read(self, row: int) -> bytes | None:
        begin, size = int(self.begin[row]), int(self.size[row])
        return None if size == MISSING else self.text[begin : begin + size]

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
    def ids(self) -> "IdColumn":
        """The id in each value, as `packed.read_id` finds it."""
        octets, size = self.octets, np.maximum(self.size, 0)
        slots_at = HEAD.size + 1 + octets[self.begin + HEAD.size].astype(np.int64) * TERM_BYTES
        slots = octets[self.begin + np.minimum(slots_at, size)].astype(np.int64)
        start = slots_at + 1 + slots * 2 + 2
        is_known: Bools = (octets[self.begin] == SCHEME) & (start < size)
        mark = self.begin + np.where(is_known, start, 2) - 2
        length = octets[mark] | octets[mark + 1].astype(np.int64) << 8
        is_known &= (length > 0) & (start + length <= size)
        return IdColumn(self.text, np.where(is_known, self.begin + start, 0), np.where(is_known, length, 0))


def end_places(size: Places) -> Places:
    """Return the end of each value that directly follows the previous one; missing values are empty."""
    ends: Places = np.cumsum(np.maximum(size, 0))
    return ends


def hold_high_octets(octets: Octets, begin: Places, size: Places) -> Bools:
    """Return for each slice of the buffer whether it has a non-ASCII byte."""
    piece = np.repeat(np.arange(len(size)), size)
    place = np.arange(len(piece)) - np.repeat(end_places(size) - size - begin, size)
    holds: Bools = np.zeros(len(size), bool)
    holds[piece[octets[place] >= 0x80]] = True
    return holds


MAX_SORTED_ID = 64  # bytes of an id up to which ids are put in order in columns


class IdColumn(Slices[str]):
    """Ids; of a document whose id is not known, the size is 0."""

    __slots__ = ()

    @classmethod
    def join(cls, ids: Sequence[str]) -> "IdColumn":
        """Join ids in one buffer.

        >>> list(IdColumn.join(["a", "", "é"]))
        ['a', '', 'é']
        """
        names = [each.encode("utf-8", "surrogatepass") for each in ids]
        size = np.array([len(each) for each in names], np.int64)
        return cls(b"".join(names), end_places(size) - size, size)

    @override
    def read(self, row: int) -> str:
        begin = int(self.begin[row])
        return self.text[begin : begin + int(self.size[row])].decode(errors="ignore")

    @property
    def complete(self) -> bool:
        return bool(self.size.all()) and all(self[row] for row in np.flatnonzero(self.not_ascii).tolist())

    @property
    def not_ascii(self) -> Bools:
        """For each id, whether it has a non-ASCII byte."""
        return hold_high_octets(np.frombuffer(self.text, np.uint8), self.begin, self.size)

    @property
    def keys(self) -> list[NDArray[np.uint64]] | None:
        """Numbers that sort like the ids, the most significant number first; None if ids are too long.

        Eight bytes make one; where all are equal, the shorter id comes first.
        """
        longest = int(self.size.max(initial=0))
        if longest > MAX_SORTED_ID or self.not_ascii.any():
            return None
        column = np.arange(-(-longest // 8) * 8)
        octets = np.frombuffer(self.text + bytes(1), np.uint8)
        place = np.where(column < self.size[:, None], self.begin[:, None] + column, len(self.text))
        parts = octets[place].view(">u8").astype(np.uint64)
        return [*parts.T, self.size.astype(np.uint64)]
