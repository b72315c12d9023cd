"""The packed value: everything that grouping needs of one document, in about 570 bytes.

Little-endian, in this order: scheme u8; flags u8; length u32; distinct shingles u32; date from and to, two i32 (days
since 1980-01-01, INT32_MIN none); idf table 8 bytes; content 16; strict fingerprint 8; binned 8; profile 8; source 4;
guard 4 (the fields that must not differ); title 4 (of short texts); noise 76; numbers: count u8, 16 of u16; terms:
count u8, 3 bytes each; slots: count u8, u16 each; id: length u16, UTF-8. Zeros mean that a hash is missing. The
sketch of the numbers ascends; the rest is filling. A value of scheme 1 has neither title nor noise, and another
content hash: it is read as if both were zeros.

Whoever may write a document may write this value, so it is checked as any input: what no text can have is refused,
here, in `packed_columns` and in the plugin's `Packed` alike (`tests/plugin/verdicts.py`). That it is the document's own
only the engine can say: the id in it is a claim.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

import orjson
import xxhash

from ibidem_ingest.dates import EPOCH, interval
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.numbers import SKETCH
from ibidem_ingest.signatures.schema import FULL_SET, SLOTS, Signatures

SCHEME = 2
EARLIER = 1
"""The scheme without title and noise, which is read and no longer written."""

WEAK, NO_SET, NO_MINHASH, NO_WORDS, FULL, LONG = 1, 2, 4, 8, 16, 32
KNOWN_FLAGS = WEAK | NO_SET | NO_MINHASH | NO_WORDS | FULL | LONG
NO_DATE = -(1 << 31)
FIRST_DAY, LAST_DAY = ((day - EPOCH).days for day in (date.min, date.max))
"""All days that a date can name."""

TERM_BYTES = 3

NOISE_BYTES = 76

HEAD = struct.Struct(f"<BBIIii8s16s8s8s8s4s4s4s{NOISE_BYTES}sB16H")
_ADDED, _ADDED_AT = bytes(4 + NOISE_BYTES), 74
"""Fields that scheme 2 adds to scheme 1, and their place."""

EARLIER_HEAD = HEAD.size - len(_ADDED)
"""Bytes before the terms in a value of scheme 1."""

_LENGTH = struct.Struct("<H")
_SLOTS = struct.Struct(f"<B{SLOTS}H")
_FILLING = (0,) * SKETCH
_FIELDS = frozenset(("title", "date", "source", "url", "language"))


@dataclass(frozen=True, slots=True)
class Packed:
    """Signatures of one document, unpacked; bytes of zeros mean that a hash is missing.

    Args:
        scheme: 2, or 1: content hashes of two schemes are never equal.
        flags: `WEAK`, `NO_SET`, `NO_MINHASH`, `NO_WORDS`, `FULL`; `LONG`: it has long signatures.
        length: Number of tokens.
        shingles: Number of distinct shingles.
        date_from: First day of its date, in days since 1980-01-01; `NO_DATE` when unknown.
        date_to: Last day, or `NO_DATE`.
        idf: Name of the idf table, 8 bytes.
        content: Content hash, 16 bytes.
        fingerprint: The first 8 bytes of the strict fingerprint.
        fingerprint_binned: The first 8 bytes of the binned one.
        profile: The first 8 bytes of the text profile.
        source: Hash of the source, 4 bytes.
        guard: Hash of the fields that must not differ, 4 bytes; zeros when none are named or one is missing.
        title: Hash of a short text's title, 4 bytes; zeros for a longer text or without a title.
        noise: Noise block, 76 bytes; zeros when there is none.
        numbers: Count of distinct tokens with a digit, to 255.
        number_sketch: The (at most) 16 smallest of their hashes, ascending.
        terms: Feature set, ascending; empty when there is none.
        slots: 100 min-hash slots; empty without words.
        id: The document's id.
    """

    scheme: int
    flags: int
    length: int
    shingles: int
    date_from: int
    date_to: int
    idf: bytes
    content: bytes
    fingerprint: bytes
    fingerprint_binned: bytes
    profile: bytes
    source: bytes
    guard: bytes
    title: bytes
    noise: bytes
    numbers: int
    number_sketch: tuple[int, ...]
    terms: tuple[int, ...]
    slots: tuple[int, ...]
    id: str


class PackedParts(NamedTuple):
    """A packed value cut into its four parts: the head, three bytes a term, two bytes a slot, the id."""

    head: bytes
    terms: bytes
    slots: bytes
    name: bytes


def pack(document: Document, signatures: Signatures, distinct: Sequence[str] = ()) -> bytes:
    """Pack a document's signatures with its dates, source and id.

    Args:
        document: The document.
        signatures: Its signatures.
        distinct: Names of the fields that must not differ: `title`, `date`, `source`, `url`, `language`, or a name in
            `meta`, with or without `meta.` before it.

    Returns:
        The packed value.
    """
    first, last = interval(document.date)
    head = HEAD.pack(
        SCHEME,
        flags(signatures),
        signatures.length,
        signatures.shingles,
        NO_DATE if first is None else first,
        NO_DATE if last is None else last,
        bytes.fromhex(signatures.idf),
        leading_bytes(signatures.content, 16) if signatures.length else b"",
        leading_bytes(signatures.fingerprint, 8),
        leading_bytes(signatures.fingerprint_binned, 8),
        leading_bytes(signatures.profile, 8),
        hash_value(document.source.encode()),
        guard(document, distinct),
        hash_value(signatures.title.encode()),
        signatures.noise,
        signatures.numbers,
        *signatures.number_sketch,
        *_FILLING[len(signatures.number_sketch) :],
    )
    terms = _three_bytes(signatures.terms)
    slots = _SLOTS.pack(SLOTS, *signatures.slots) if signatures.slots else b"\0"
    name = document.id.encode()
    return b"%b%c%b%b%b%b" % (head, len(signatures.terms), terms, slots, _LENGTH.pack(len(name)), name)


def unpack(value: bytes) -> Packed | None:
    """Read a packed value; None when it is damaged, impossible or of an unknown scheme: the document is unsigned.

    >>> unpack(b"not a packed value") is None
    True
    """
    parts = cut(value)
    if parts is None:
        return None
    values = HEAD.unpack(parts.head)
    head, sketch = values[:-SKETCH], values[-SKETCH:]  # in the order of the fields of `Packed`
    words = struct.unpack(f"<{len(parts.terms)}B", parts.terms)
    terms = tuple(low | mid << 8 | top << 16 for low, mid, top in zip(*[iter(words)] * TERM_BYTES, strict=True))
    if terms != tuple(sorted(set(terms))):
        return None
    slots = struct.unpack(f"<{len(parts.slots) // 2}H", parts.slots)
    fields = (*head, _sketch(head[-1], sketch), terms, slots, parts.name.decode())
    packed = Packed(*fields)
    return packed if _is_possible(packed) else None


def cut(value: bytes) -> PackedParts | None:
    """Cut a packed value into its parts; None when they do not fit together."""
    value = lift_scheme(value)
    if len(value) <= HEAD.size or value[0] not in (SCHEME, EARLIER) or value[1] & ~KNOWN_FLAGS:
        return None
    terms = value[HEAD.size] * TERM_BYTES
    slots_at = HEAD.size + 1 + terms
    slots = value[slots_at] * 2 if slots_at < len(value) else 0
    name_at = slots_at + 1 + slots + _LENGTH.size
    if name_at >= len(value) or _LENGTH.unpack_from(value, name_at - _LENGTH.size)[0] != len(value) - name_at:
        return None
    parts = PackedParts(
        value[: HEAD.size],
        value[HEAD.size + 1 : slots_at],
        value[slots_at + 1 : name_at - _LENGTH.size],
        value[name_at:],
    )
    return parts if _fits(parts) and is_utf8(parts.name) else None


def lift_scheme(value: bytes) -> bytes:
    """Give a value of scheme 1 the places of scheme 2, with zeros in the new ones; it keeps its scheme."""
    return value[:_ADDED_AT] + _ADDED + value[_ADDED_AT:] if value[:1] == b"\x01" else value


def read_id(value: bytes) -> str:
    """Read the id alone, in a third of the time of `cut`; empty when it cannot be found."""
    value = lift_scheme(value)
    if len(value) <= HEAD.size or value[0] not in (SCHEME, EARLIER):
        return ""
    slots_at = HEAD.size + 1 + value[HEAD.size] * TERM_BYTES
    name_at = slots_at + 1 + _LENGTH.size + (value[slots_at] * 2 if slots_at < len(value) else 0)
    if name_at >= len(value) or _LENGTH.unpack_from(value, name_at - _LENGTH.size)[0] != len(value) - name_at:
        return ""
    return value[name_at:].decode(errors="ignore")


def flags(signatures: Signatures) -> int:
    """Return the flags of a document's signatures."""
    return (
        WEAK * signatures.weak
        | NO_SET * (not signatures.terms)
        | NO_MINHASH * (not signatures.slots)
        | NO_WORDS * (not signatures.length)
        | FULL * signatures.full
        | LONG * bool(signatures.long)
    )


def guard(document: Document, distinct: Sequence[str]) -> bytes:
    """Hash the values of the fields that must not differ.

    Returns:
        4 bytes; zeros when none are named or one is missing, since a missing value speaks against no pair.
    """
    values = [_value(document, name) for name in distinct]
    if not values or any(value in (None, "") for value in values):
        return bytes(4)
    return hash_value(orjson.dumps(values, option=orjson.OPT_SORT_KEYS))


def hash_value(value: bytes) -> bytes:
    """Hash a value to four bytes, xxh32 little-endian; zeros for an empty one, and only for that."""
    return max(1, xxhash.xxh32_intdigest(value)).to_bytes(4, "little") if value else bytes(4)


def leading_bytes(signature: str, size: int) -> bytes:
    """Return the first bytes of a stored hash, without its scheme; none of an empty one."""
    start = signature.find(":") + 1
    return bytes.fromhex(signature[start : start + 2 * size])


def _value(document: Document, name: str) -> object:
    return getattr(document, name) if name in _FIELDS else document.meta.get(name.removeprefix("meta."))


def _three_bytes(codes: Sequence[int]) -> bytes:
    """Write codes in three bytes each."""
    words = struct.pack(f"<{len(codes)}I", *codes)
    octets = bytearray(TERM_BYTES * len(codes))
    for place in range(TERM_BYTES):
        octets[place::TERM_BYTES] = words[place::4]
    return bytes(octets)


def _sketch(count: int, hashes: Sequence[int]) -> tuple[int, ...]:
    """Return the part of the sketch that ascends: the rest is filling."""
    size = min(count, 1)
    while 0 < size < min(count, SKETCH) and hashes[size] > hashes[size - 1]:
        size += 1
    return tuple(hashes[:size])


def _fits(parts: PackedParts) -> bool:
    """Return whether the flags and the length agree with the parts."""
    bits = parts.head[1]
    terms = len(parts.terms) // TERM_BYTES
    return (
        terms <= FULL_SET
        and len(parts.slots) in (0, 2 * SLOTS)
        and bool(bits & NO_SET) == (terms == 0)
        and bool(bits & NO_MINHASH) == (not parts.slots)
        and bool(bits & NO_WORDS) == (not any(parts.head[2:6]))
        and not (bits & FULL and terms != FULL_SET)
    )


def _is_possible(packed: Packed) -> bool:
    """Return whether a text can have these figures."""
    has_words = packed.length > 0
    return (
        has_words == (packed.shingles > 0) == any(packed.content) == bool(packed.slots)
        and (has_words or not packed.terms)
        and max(packed.shingles, packed.numbers) <= packed.length
        and _is_interval(packed.date_from, packed.date_to)
    )


def _is_interval(first: int, last: int) -> bool:
    """Return whether two days are the first and the last of a date, or both unknown."""
    return first == last == NO_DATE or FIRST_DAY <= first <= last <= LAST_DAY


def is_utf8(name: bytes) -> bool:
    """Return whether bytes are text."""
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True
