"""Hits of a ranking in columns, from which single hits are created on access."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
from typing_extensions import override

from ibidem_engines.stored_groups import Hit
from ibidem_ingest.signatures.packed_values import IdColumn, PackedValues


@dataclass(frozen=True, eq=False, slots=True)
class HitColumns(Sequence[Hit]):
    """The fields of n hits; a window of a few hundred hits is grouped without a Python object for each."""

    indices: Sequence[str]  # (n) as `Hit.index`
    ids: IdColumn  # (n) as `Hit.id`
    scores: Sequence[float]  # (n) as `Hit.score`
    packed: PackedValues  # (n) as `Hit.packed`
    orders: Sequence[int] = ()  # (n) as `Hit.order`; empty if none has one
    sorts: Sequence[tuple[object, ...]] = ()  # (n) as `Hit.sort`; empty if none has any
    cache: dict[int, Hit] = field(default_factory=dict)  # the hits that were asked for so far, by their row

    def __len__(self) -> int:
        """Return the number of hits."""
        return len(self.indices)

    @overload
    def __getitem__(self, row: int) -> Hit: ...

    @overload
    def __getitem__(self, row: slice) -> "HitColumns": ...

    @override
    def __getitem__(self, row: int | slice) -> "Hit | HitColumns":
        """Return one hit, or a slice of hits."""
        if isinstance(row, slice):
            return HitColumns(
                self.indices[row],
                self.ids[row],
                self.scores[row],
                self.packed[row],
                self.orders[row],
                self.sorts[row],
            )
        row = range(len(self))[row]
        if row not in self.cache:
            self.cache[row] = Hit(
                self.indices[row],
                self.ids[row],
                self.scores[row],
                self.packed[row],
                self.orders[row] if self.orders else 0,
                self.sorts[row] if self.sorts else (),
            )
        return self.cache[row]

    def take(self, rows: Sequence[int]) -> "HitColumns":
        """Return some of the hits, in the given order."""
        return HitColumns(
            [self.indices[row] for row in rows],
            self.ids.take(rows),
            [self.scores[row] for row in rows],
            self.packed.take(rows),
            [self.orders[row] for row in rows] if self.orders else (),
            [self.sorts[row] for row in rows] if self.sorts else (),
        )

    def sort(self) -> "HitColumns":
        """Sort hits as in a ranking: by score, ties by index and id."""
        worse = -np.array(self.scores, np.float64)
        if (worse[1:] > worse[:-1]).all():
            return self
        keys = self.ids.keys
        if keys is None:
            return self.take(sorted(range(len(self)), key=lambda row: (worse[row], self.indices[row], self.ids[row])))
        place = {index: number for number, index in enumerate(sorted(set(self.indices)))}
        index = [np.array([place[each] for each in self.indices])] if len(place) > 1 else []
        rows: list[int] = np.lexsort([*reversed(keys), *index, worse]).tolist()
        return self.take(rows)


def read_packed(hits: Sequence[Hit]) -> PackedValues:
    """Return the packed values of hits."""
    return hits.packed if isinstance(hits, HitColumns) else PackedValues.join([hit.packed for hit in hits])


@dataclass(frozen=True, eq=False, slots=True)
class HitNames(Sequence[tuple[str, str]]):
    """Index and id of hits, built on access."""

    hits: Sequence[Hit]

    def __len__(self) -> int:
        """Return the number of hits."""
        return len(self.hits)

    @overload
    def __getitem__(self, row: int) -> tuple[str, str]: ...

    @overload
    def __getitem__(self, row: slice) -> "HitNames": ...

    @override
    def __getitem__(self, row: "int | slice") -> "tuple[str, str] | HitNames":
        """Return the name of one hit, or the names of a slice."""
        if isinstance(row, slice):
            return HitNames(self.hits[row])
        hit = self.hits[row]
        return hit.index, hit.id
