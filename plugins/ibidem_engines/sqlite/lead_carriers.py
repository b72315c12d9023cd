"""Leads by look-up value, read in ranges of places: settling asks for later and later places.

Leads that are settled do not change while later ones are settled, so what was read of a frequent value stays good, and
only what came since is read. A lead that joined another is still listed, and left out by whoever reads the documents; a
document that is made a lead gets a new place.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem_engines.sqlite.file import SqliteFile
from ibidem_engines.sqlite.tables import word

LOOSE = 1_000
"""Carriers from which on leads alone are read: very many documents follow one lead."""

MOST = 30_000
"""Leads of one value that are read; one that has more is left unread where others suffice."""

KEPT, ALONE = 2_000_000, 32
"""Carriers that are kept in all, of 8 bytes each, and of how many a value takes the room besides its own; those of
values that were asked for least recently go."""

Places = NDArray[np.int64]

_BETWEEN = """select group_concat(rowid) from (select rowid from "ibidem.{index}.keys"
    where "ibidem.{index}.keys" match ? and rowid > ? and rowid <= ? order by rowid limit ?)"""
_LEADS_BETWEEN = """select group_concat(rowid) from (select rowid from "ibidem.{index}.keys"
    where "ibidem.{index}.keys" match ? and rowid > ? and rowid <= ?
    and (select lead from "ibidem.{index}.documents" where place = "ibidem.{index}.keys".rowid)
    order by rowid limit ?)"""


@dataclass(frozen=True, slots=True)
class _Carriers:
    """The carriers of a value.

    Args:
        places: Their places, ascending.
        last: Up to which place they were read.
        loose: Whether leads alone were read.
    """

    places: Places
    last: int
    loose: bool

    @property
    def size(self) -> int:
        """How much room it takes."""
        return len(self.places) + ALONE

    @property
    def is_whole(self) -> bool:
        """Whether there are no more."""
        return len(self.places) < MOST


class LeadCarriers:
    """The leads that carry values in one index.

    Args:
        file: Where the index is.
    """

    def __init__(self, file: SqliteFile) -> None:
        self.last = 0
        self._file = file
        self._kept: OrderedDict[str, _Carriers] = OrderedDict()
        self._size = 0

    def upto(self, last: int) -> "LeadCarriers":
        """Look up to a place from now on, inside a transaction that is open."""
        if last < self.last:
            self._kept.clear()
            self._size = 0
        self.last = last
        return self

    def of(self, values: Sequence[str], least: int, after: int = 0) -> Places | None:
        """Return the places that carry at least so many of some values; None where too many carry them.

        Places of documents that are no leads may be among them, and of those with fewer values where one is carried by
        too many.

        Args:
            values: The values, all of one class.
            least: How many.
            after: The place from which on carriers are needed, the same or a later one than before for this class;
                earlier ones may be named too.

        What carries `least` of n values carries one of any n - `least` + 1, so counting begins with the rarest, and the
        others are only looked through for what was found (Li, Lu, Lu 2008, "Efficient merging and filtering algorithms
        for approximate string searches").
        """
        if len(values) < least:
            return np.empty(0, np.int64)
        carriers = [self._of(value, after) for value in values]
        whole = sorted((each.places for each in carriers if each.is_whole), key=len)
        unread = len(carriers) - len(whole)
        if unread >= least:
            return None
        rarest, frequent = whole[: len(values) - least + 1], whole[len(values) - least + 1 :]
        places, times = np.unique(np.concatenate([np.empty(0, np.int64), *rarest]), return_counts=True)
        for each in frequent:
            times += each.take(np.searchsorted(each, places), mode="clip") == places
        return places[times >= least - unread]

    def _of(self, value: str, after: int) -> _Carriers:
        """Read the carriers of a value, as far as they are not known."""
        before = self._kept.pop(value, None)
        if before is not None and (before.last == self.last or not before.is_whole):
            self._kept[value] = before
            return before
        carriers = self._read(value, before, after)
        self._kept[value] = carriers
        self._size += carriers.size - (before.size if before else 0)
        while self._size > KEPT:
            _, least_recent = self._kept.popitem(last=False)
            self._size -= least_recent.size
        return carriers

    def _read(self, value: str, before: _Carriers | None, after: int) -> _Carriers:
        if before is None or not before.loose:
            before = before or _Carriers(np.empty(0, np.int64), after, loose=False)
            places = self._between(_BETWEEN, value, before.last, LOOSE - len(before.places))
            if len(before.places) + len(places) < LOOSE:
                return _Carriers(np.concatenate((before.places, places)), self.last, loose=False)
            before = _Carriers(np.empty(0, np.int64), after, loose=True)
        places = self._between(_LEADS_BETWEEN, value, before.last, MOST - len(before.places))
        return _Carriers(np.concatenate((before.places, places)), self.last, loose=True)

    def _between(self, statement: str, value: str, after: int, most: int) -> Places:
        """Read places in one piece: a row costs more."""
        (text,) = self._file.run(statement, (f'"{word(value)}"', after, self.last, most)).fetchone()
        return np.fromstring(text or "", np.int64, sep=",")
