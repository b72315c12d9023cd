"""Many packed values at once, as columns: what grouping a window of hits works on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.signatures.numbers import SKETCH
from ibidem_ingest.signatures.packed import TERM_BYTES, Cut, Packed, cut, unpack
from ibidem_ingest.signatures.signature import FULL_SET, SLOTS

NO_TERM = 1 << 24
"""Filling behind the last term: greater than every code."""

NO_NUMBER = 1 << 16
"""Filling behind the last hash of a number sketch: greater than every hash."""

_ROW = np.dtype(
    [
        ("scheme", "u1"),
        ("flags", "u1"),
        ("length", "<u4"),
        ("shingles", "<u4"),
        ("date_from", "<i4"),
        ("date_to", "<i4"),
        ("idf", "<u8"),
        ("content", "<u8", (2,)),
        ("fingerprint", "<u8"),
        ("fingerprint_binned", "<u8"),
        ("profile", "<u8"),
        ("source", "<u4"),
        ("guard", "<u4"),
        ("numbers", "u1"),
        ("number_sketch", "<u2", (SKETCH,)),
        ("term_count", "u1"),
        ("slot_count", "u1"),
        ("terms", "u1", (FULL_SET, TERM_BYTES)),
        ("slots", "<u2", (SLOTS,)),
    ]
)
_EMPTY = bytes(_ROW.itemsize)

Whole = NDArray[np.int64]
Whole32 = NDArray[np.int32]
Words = NDArray[np.uint64]
Rows = NDArray[np.void]


@dataclass(frozen=True, eq=False, slots=True)
class PackedColumns:
    """The packed values of n hits, in their order; rows that are not signed hold zeros and filling.

    Args:
        values: The packed values themselves.
        ids: The documents' ids; empty where not signed.
        signed: (n,) bool: whether the value is there, whole and of a known scheme; what `unpack` gives no None for.
        flags: (n,) uint8: `WEAK`, `NO_SET` … of `packed`.
        length: (n,) int64, tokens.
        shingles: (n,) int64, distinct shingles.
        date_from: (n,) int64, days since 1980-01-01, `NO_DATE` when unknown.
        date_to: (n,) int64.
        idf: (n,) uint64, little-endian bytes of the idf table's name; 0 none.
        content: (n, 2) uint64; 0, 0 none.
        fingerprint: (n,) uint64; 0 none.
        fingerprint_binned: (n,) uint64; 0 none.
        profile: (n,) uint64; 0 none.
        source: (n,) uint32; 0 none.
        guard: (n,) uint32; 0 none.
        numbers: (n,) uint8, count of distinct tokens with a digit.
        number_sketch: (n, 16) int32, ascending, `NO_NUMBER` behind the last.
        term_count: (n,) uint8.
        terms: (n, 60) int32, ascending, `NO_TERM` behind the last.
        slot_count: (n,) uint8, 0 or 100.
        slots: (n, 100) uint16.
    """

    values: Sequence[bytes | None]
    ids: list[str]
    signed: NDArray[np.bool_]
    flags: NDArray[np.uint8]
    length: Whole
    shingles: Whole
    date_from: Whole
    date_to: Whole
    idf: Words
    content: Words
    fingerprint: Words
    fingerprint_binned: Words
    profile: Words
    source: NDArray[np.uint32]
    guard: NDArray[np.uint32]
    numbers: NDArray[np.uint8]
    number_sketch: Whole32
    term_count: NDArray[np.uint8]
    terms: Whole32
    slot_count: NDArray[np.uint8]
    slots: NDArray[np.uint16]

    @classmethod
    def of(cls, values: Sequence[bytes | None]) -> "PackedColumns":
        """Decode packed values; never raises, whatever they hold.

        >>> PackedColumns.of([None, b"damaged"]).signed.tolist()
        [False, False]
        """
        parts = [None if value is None else cut(value) for value in values]
        rows = np.frombuffer(b"".join([_EMPTY if each is None else _row(each) for each in parts]), _ROW)
        terms = _terms(rows)
        signed = np.array([each is not None for each in parts], bool) & ~_disordered(terms)
        rows = np.where(signed, rows, np.zeros(1, _ROW))
        return cls(
            values=values,
            ids=[each.name.decode() if good and each else "" for each, good in zip(parts, signed, strict=True)],
            signed=signed,
            flags=rows["flags"].copy(),
            length=rows["length"].astype(np.int64),
            shingles=rows["shingles"].astype(np.int64),
            date_from=rows["date_from"].astype(np.int64),
            date_to=rows["date_to"].astype(np.int64),
            idf=rows["idf"].astype(np.uint64),
            content=rows["content"].astype(np.uint64),
            fingerprint=rows["fingerprint"].astype(np.uint64),
            fingerprint_binned=rows["fingerprint_binned"].astype(np.uint64),
            profile=rows["profile"].astype(np.uint64),
            source=rows["source"].astype(np.uint32),
            guard=rows["guard"].astype(np.uint32),
            numbers=rows["numbers"].copy(),
            number_sketch=_sketches(rows),
            term_count=rows["term_count"].copy(),
            terms=np.where(signed[:, None], terms, np.int32(NO_TERM)),
            slot_count=rows["slot_count"].copy(),
            slots=rows["slots"].astype(np.uint16),
        )

    def __len__(self) -> int:
        """Return the number of hits."""
        return len(self.ids)

    def packed(self, row: int) -> Packed | None:
        """Return one row as `unpack` gives it."""
        value = self.values[row]
        return None if value is None else unpack(value)


def _row(parts: Cut) -> bytes:
    """Fill a value's parts up to the width of all rows."""
    counts = bytes((len(parts.terms) // TERM_BYTES, len(parts.slots) // 2))
    return parts.head + counts + parts.terms.ljust(FULL_SET * TERM_BYTES, b"\0") + parts.slots.ljust(SLOTS * 2, b"\0")


def _terms(rows: Rows) -> Whole32:
    octets = rows["terms"].astype(np.int32)
    codes = octets[..., 0] | octets[..., 1] << 8 | octets[..., 2] << 16
    filling = np.arange(FULL_SET) >= rows["term_count"][:, None]
    return np.where(filling, np.int32(NO_TERM), codes)


def _disordered(terms: Whole32) -> NDArray[np.bool_]:
    """Tell for each row whether its terms do not ascend."""
    falls = (terms[:, 1:] <= terms[:, :-1]) & (terms[:, 1:] != NO_TERM)
    disordered: NDArray[np.bool_] = falls.any(axis=1)
    return disordered


def _sketches(rows: Rows) -> Whole32:
    """Fill with `NO_NUMBER` from the first hash on that does not ascend."""
    sketch = rows["number_sketch"].astype(np.int32)
    filling = np.arange(SKETCH) >= rows["numbers"][:, None]
    filling[:, 1:] |= sketch[:, 1:] <= sketch[:, :-1]
    return np.where(np.logical_or.accumulate(filling, axis=1), np.int32(NO_NUMBER), sketch)
