"""Leads by look-up value, read in ascending ranges of positions, as settling needs them.

Leads that are settled do not change while later ones are settled, so what was read of a frequent value stays good, and
only what came since is read. A lead that joined another is still listed, and left out by whoever reads the documents; a
document that is made a lead gets a new place.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem_engines.rare_postings import RarePostings
from ibidem_engines.sqlite.file import SqliteFile
from ibidem_engines.sqlite.tables import word
from ibidem_ingest.signatures.lookup_keys import rare_batch
from ibidem_ingest.signatures.packed_columns import PackedColumns

LOOSE = 1_000  # carriers from which on leads alone are read: very many documents follow one lead

MAX_LEADS = 30_000  # leads of one value that are read; one that has more is left unread where others suffice

CACHE_SIZE = 2_000_000  # places that are cached, of 8 bytes each; the least recently used values are evicted

ENTRY_OVERHEAD = 32  # what a cached value takes besides its places, in places

Places = NDArray[np.int64]

_BETWEEN = """select group_concat(rowid) from (select rowid from "ibidem.{index}.keys"
    where "ibidem.{index}.keys" match ? and rowid > ? and rowid <= ? order by rowid limit ?)"""
_LEADS_BETWEEN = """select group_concat(rowid) from (select rowid from "ibidem.{index}.keys"
    where "ibidem.{index}.keys" match ? and rowid > ? and rowid <= ?
    and (select lead from "ibidem.{index}.documents" where place = "ibidem.{index}.keys".rowid)
    order by rowid limit ?)"""


@dataclass(frozen=True, slots=True)
class _Carriers:
    """The leads that have a look-up value."""

    places: Places  # their places, ascending
    last: int  # up to which place they were read
    loose: bool  # whether leads alone were read

    @property
    def size(self) -> int:
        """Size of the entry in memory."""
        return len(self.places) + ENTRY_OVERHEAD

    @property
    def is_whole(self) -> bool:
        """Whether all leads with the value are known."""
        return len(self.places) < MAX_LEADS


class LeadCarriers:
    """The leads with look-up values in one index."""

    def __init__(self, file: SqliteFile) -> None:
        self.last = 0
        self._file = file
        self._cache: OrderedDict[str, _Carriers] = OrderedDict()
        self._size = 0

    def until(self, last_place: int) -> "LeadCarriers":
        """Set the last position to look up to, inside an open transaction."""
        if last_place < self.last:
            self._cache.clear()
            self._size = 0
        self.last = last_place
        return self

    def find_shared(self, values: Sequence[str], min_shared: int, start: int = 0) -> Places | None:
        """Return the positions that have at least `min_shared` of the values; None if there are too many.

        Places of documents that are no leads may be among them, and of those with fewer values where one is carried by
        too many.

        A carrier of `min_shared` of n values carries one of any n - `min_shared` + 1. So the rarest are counted first,
        and the others are only searched for places found so (Li, Lu, Lu 2008, "Efficient merging and
        filtering algorithms for approximate string searches").
        """
        if len(values) < min_shared:
            return np.empty(0, np.int64)
        carriers = [self._known_carriers(value, start) for value in values]
        complete = sorted((each.places for each in carriers if each.is_whole), key=len)
        unread_count = len(carriers) - len(complete)
        if unread_count >= min_shared:
            return None
        rarest, frequent = complete[: len(values) - min_shared + 1], complete[len(values) - min_shared + 1 :]
        places, times = np.unique(np.concatenate([np.empty(0, np.int64), *rarest]), return_counts=True)
        for each in frequent:
            times += each.take(np.searchsorted(each, places), mode="clip") == places
        return places[times >= min_shared - unread_count]

    def _known_carriers(self, value: str, start: int) -> _Carriers:
        """Read the leads with a value that are not cached yet."""
        cached = self._cache.pop(value, None)
        if cached is not None and (cached.last == self.last or not cached.is_whole):
            self._cache[value] = cached
            return cached
        carriers = self._read(value, cached, start)
        self._cache[value] = carriers
        self._size += carriers.size - (cached.size if cached else 0)
        while self._size > CACHE_SIZE:
            _, least_recent = self._cache.popitem(last=False)
            self._size -= least_recent.size
        return carriers

    def _read(self, value: str, carriers: _Carriers | None, start: int) -> _Carriers:
        if carriers is None or not carriers.loose:
            carriers = carriers or _Carriers(np.empty(0, np.int64), start, loose=False)
            places = self._read_range(_BETWEEN, value, carriers.last, LOOSE - len(carriers.places))
            if len(carriers.places) + len(places) < LOOSE:
                return _Carriers(np.concatenate((carriers.places, places)), self.last, loose=False)
            carriers = _Carriers(np.empty(0, np.int64), start, loose=True)
        places = self._read_range(_LEADS_BETWEEN, value, carriers.last, MAX_LEADS - len(carriers.places))
        return _Carriers(np.concatenate((carriers.places, places)), self.last, loose=True)

    def _read_range(self, statement: str, value: str, start: int, limit: int) -> Places:
        """Read positions as one blob, which is faster than separate rows."""
        (text,) = self._file.run(statement, (f'"{word(value)}"', start, self.last, limit)).fetchone()
        return np.fromstring(text or "", np.int64, sep=",")


WORTH = 30  # leads that are read in about the time that the rare terms of one document take to look up in the file

# Terms of leads that are held, of 8 bytes each; what carries further ones is looked up in the file.
MAX_TERMS = 8_000_000

_SLICE = 5_000

_LEADS = """select place, packed from "ibidem.{index}.documents"
    where place > ? and place <= ? and lead and packed is not null order by place limit ?"""


class LeadPostings:
    """The settled leads with rare terms, as far as they were read.

    A look-up of one term in the file costs more with each segment that the file's full-text table has grown. So the
    terms of settled leads are read once, by the stretch, as soon as look-ups have cost as much.

    `last` is the place up to which leads were read.
    """

    def __init__(self, file: SqliteFile) -> None:
        self.last = 0
        self._file = file
        self._postings = RarePostings()
        self._lookups = 0

    def catch_up(self, last: int, lookups: int) -> None:
        """Read the leads up to a position if this is cheaper than look-ups, inside an open transaction."""
        if last < self.last:
            self.last, self._postings = 0, RarePostings()
        self._lookups += lookups
        if last - self.last > WORTH * self._lookups:
            return
        while self.last < last and self._postings.size < MAX_TERMS:
            rows = self._file.run(_LEADS, (self.last, last, _SLICE)).fetchall()
            has_terms, terms = rare_batch(PackedColumns.decode([packed for _, packed in rows]))
            self._postings.learn(np.array([place for place, _ in rows], np.int64)[has_terms].tolist(), terms)
            self.last = rows[-1][0] if len(rows) == _SLICE else last
        self._lookups = 0

    def sharing(self, terms: Sequence[Sequence[str]], min_shared: Sequence[int]) -> list[Places]:
        """Return the leads that share enough terms; see `RarePostings.sharing`."""
        return self._postings.sharing(terms, min_shared)
