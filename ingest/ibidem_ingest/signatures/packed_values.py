"""Adjacent packed values in one buffer, so that numpy reads all of them at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from ibidem_ingest.signatures.packed import HEAD, NOISE_BLOCK, NOISE_BYTES, SCHEME, TERM_BYTES
from ibidem_ingest.signatures.schema import FULL_SET, SLOTS

# Zeros behind the last value: so many bytes can be read from the beginning of each, however short it is.
ROOM = HEAD.size + 1 + FULL_SET * TERM_BYTES + 1 + SLOTS * 2 + 2 + len(NOISE_BLOCK) + NOISE_BYTES

MISSING = -1

Octets = NDArray[np.uint8]
Places = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class PackedValues(Sequence[bytes | None]):
    """A sequence of packed values, each sliced from the buffer on access."""

    text: bytes  # all values, maybe with filling between them, and `ROOM` zeros at the end
    begin: Places  # (n,) where each begins
    size: Places  # (n,) its bytes; `MISSING` for a document that has none

    @classmethod
    def join(cls, values: Sequence[bytes | None]) -> "PackedValues":
        """Join values in one buffer.

        >>> list(PackedValues.join([b"one", None, b""]))
        [b'one', None, b'']
        """
        if isinstance(values, PackedValues):
            return values
        text = b"".join([*(value or b"" for value in values), bytes(ROOM)])
        size = np.array([MISSING if value is None else len(value) for value in values], np.int64)
        return cls(text, end_places(size) - np.maximum(size, 0), size)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.size)

    @overload
    def __getitem__(self, row: int) -> bytes | None: ...

    @overload
    def __getitem__(self, row: slice) -> "PackedValues": ...

    @override
    def __getitem__(self, row: int | slice) -> "bytes | PackedValues | None":
        """Return one value, or the values of some documents."""
        if isinstance(row, slice):
            return replace(self, begin=self.begin[row], size=self.size[row])
        begin, size = int(self.begin[row]), int(self.size[row])
        return None if size == MISSING else self.text[begin : begin + size]

    def take(self, rows: Sequence[int] | Places) -> "PackedValues":
        """Return some of the documents, in the given order."""
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
    """Return for each slice of the buffer whether it has a non-ASCII byte.

    >>> octets = np.frombuffer("ab é ".encode(), np.uint8)
    >>> hold_high_octets(octets, np.array([0, 2, 3]), np.array([2, 0, 2])).tolist()
    [False, False, True]
    """
    piece = np.repeat(np.arange(len(size)), size)
    place = np.arange(len(piece)) - np.repeat(end_places(size) - size - begin, size)
    holds: Bools = np.zeros(len(size), bool)
    holds[piece[octets[place] >= 0x80]] = True
    return holds


MAX_SORTED_ID = 64  # bytes of an id up to which ids are put in order in columns


@dataclass(frozen=True, eq=False, slots=True)
class IdColumn(Sequence[str]):
    """Ids in one buffer, read on access."""

    text: bytes  # the memory that holds them
    begin: Places  # (n,) where each begins
    size: Places  # (n,) its bytes; 0 for a document whose id is not known

    @classmethod
    def join(cls, ids: Sequence[str]) -> "IdColumn":
        """Join ids in one buffer.

        >>> list(IdColumn.join(["a", "", "é"]))
        ['a', '', 'é']
        """
        names = [each.encode("utf-8", "surrogatepass") for each in ids]
        size = np.array([len(each) for each in names], np.int64)
        return cls(b"".join(names), end_places(size) - size, size)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.begin)

    @overload
    def __getitem__(self, row: int) -> str: ...

    @overload
    def __getitem__(self, row: slice) -> "IdColumn": ...

    @override
    def __getitem__(self, row: int | slice) -> "str | IdColumn":
        """Return one id, or the ids of some documents."""
        if isinstance(row, slice):
            return replace(self, begin=self.begin[row], size=self.size[row])
        begin = int(self.begin[row])
        return self.text[begin : begin + int(self.size[row])].decode(errors="ignore")

    def take(self, rows: Sequence[int] | Places) -> "IdColumn":
        """Return the ids of some documents, in the given order."""
        return replace(self, begin=self.begin[rows], size=self.size[rows])

    @property
    def complete(self) -> bool:
        """Whether each document has an id."""
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
