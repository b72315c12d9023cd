"""Settled leads of a shard in memory: a filter of the look-up values that they may have.

A server looks each value up in each segment of a shard, and most values of a new document are carried by no lead. So
the packed values of settled leads are read once, by the stretch, as soon as look-ups have cost as much: postings of
their rare terms, and a Bloom filter of their other values. What changes is written again under a later number, so what
was read of earlier numbers stays true, but for leads that are no more: the search for the documents leaves these out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ibidem_engines.bloom_filter import BloomFilter, Marks, marks
from ibidem_engines.rare_postings import LAST_PLACE, Places, RarePostings
from ibidem_engines.stored_groups import LeadKeys, Several
from ibidem_ingest.signatures.lookup_keys import LookupField, lookup_keys_batch
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_ingest.signatures.schema import BANDS

WORTH = 30  # leads that are read in about the time that the values of one document take a server to look up

# Leads of an index that are held, of some 300 bytes each; one with more of them is asked for every value.
MAX_LEADS = 500_000

SLICE = 5_000

# Classes of which one value is enough.
FILTERED: tuple[LookupField, ...] = ("content", "fingerprint", "profile", "bands")

VALUES = 3 + BANDS  # values of a lead in these classes

GROWTH = 4  # how many times the values that were seen a further filter makes room for

# Reads the first leads from a number on: the number of the write of each, and its packed value.
Read = Callable[[int, int], Sequence[tuple[int, bytes]]]


@dataclass(frozen=True, slots=True)
class LeadSearch:
    """One search of a shard: its look-up values and sequence numbers."""

    keys: Sequence[LeadKeys]  # values that its leads may carry
    writes: Sequence[int] = ()  # numbers of the writes of leads of about the same length that share enough rare terms


class KeyMarks:
    """Look-up values of some documents, hashed once for all shards."""

    def __init__(self, keys: Sequence[LeadKeys]) -> None:
        self.keys = keys
        self._classes = [(at, clue) for at, each in enumerate(keys) for clue in each.values]
        values = [entries for each in keys for entries in each.values.values()]
        self._values = list(chain.from_iterable(values))
        self._class_numbers = np.repeat(np.arange(len(values)), [len(entries) for entries in values])
        self._marks = marks(self._values)

    def narrow(self, has_value: Callable[[Marks], NDArray[np.bool_]]) -> list[LeadKeys]:
        """Return the values that any lead may have; rare terms are left out where several values must be shared."""
        values: list[dict[LookupField, list[str]]] = [{} for _ in self.keys]
        is_open = np.array([clue not in FILTERED for _, clue in self._classes], bool)[self._class_numbers]
        positions = np.flatnonzero(has_value(self._marks) | is_open)
        for number, position in zip(self._class_numbers[positions].tolist(), positions.tolist(), strict=True):
            at, clue = self._classes[number]
            values[at].setdefault(clue, []).append(self._values[position])
        narrow_keys = [
            LeadKeys(entries, {clue: several for clue, several in each.several.items() if clue != "rare"})
            for each, entries in zip(self.keys, values, strict=True)
        ]
        return [each for each in narrow_keys if each.values or each.several]


class SettledLeads:
    """The settled leads of one shard, read so far."""

    def __init__(self, limit: int = MAX_LEADS) -> None:
        self._limit = limit
        self._lookups = self._last = self._count = 0
        self._forget()

    def _forget(self) -> None:
        self._postings = RarePostings()
        self._filters: list[BloomFilter] = []
        self._writes, self._lengths = np.empty(0, np.int64), np.empty(0, np.int64)

    def search(self, values: KeyMarks, end: int, read: Read) -> LeadSearch:
        """Return the search for leads of the shard up to a sequence number."""
        if not self._catch_up(end, len(values.keys), read):
            return LeadSearch(values.keys)
        rare = [several for each in values.keys if (several := each.several.get("rare"))]
        writes = self._postings.sharing([each.values for each in rare], [each.min_shared for each in rare])
        matches = [self._keep_lengths(numbers, several) for numbers, several in zip(writes, rare, strict=True)]
        distinct_writes = np.unique(np.concatenate([np.empty(0, np.int64), *matches]))
        return LeadSearch(values.narrow(self._may_carry), distinct_writes.tolist())

    def _keep_lengths(self, writes: Places, requirement: Several) -> Places:
        """Return the leads with a length within bounds."""
        lengths = self._lengths[np.searchsorted(self._writes, writes)]
        return writes[(lengths >= requirement.shortest) & (lengths <= requirement.longest)]

    def _catch_up(self, end: int, lookups: int, read: Read) -> bool:
        """Read the leads up to a sequence number, if cheaper than look-ups; returns whether all are known."""
        if end < self._last:
            self._last = self._count = 0
            self._forget()
        self._lookups += lookups
        if self._count > self._limit or end > LAST_PLACE or end - self._last > WORTH * self._lookups:
            return False
        while self._last < end:
            leads = read(self._last, SLICE)
            self._count += len(leads)
            if self._count > self._limit:
                self._forget()
                return False
            self._learn([place for place, _ in leads], [packed for _, packed in leads])
            self._last = leads[-1][0] + 1 if len(leads) == SLICE else end
        self._lookups = 0
        return True

    def _learn(self, places: Sequence[int], packed: Sequence[bytes]) -> None:
        keys = lookup_keys_batch(packed)
        self._writes = np.concatenate((self._writes, np.array(places, np.int64)))
        self._lengths = np.concatenate((self._lengths, PackedColumns.decode(packed).length))
        self._postings.learn(places, [each.get("rare", ()) for each in keys])
        values = marks([value for each in keys for clue in FILTERED for value in each.get(clue, ())])
        if not self._filters or not self._filters[-1].holds(values.size):
            self._filters.append(BloomFilter(GROWTH * VALUES * self._count))
        self._filters[-1].learn(values)

    def _may_carry(self, values: Marks) -> NDArray[np.bool_]:
        """Return which values any lead may have, by a scalable Bloom filter (Almeida et al. 2007)."""
        may_carry = np.zeros(len(values), bool)
        for each in self._filters:
            may_carry |= each.counts(values) > 0
        return may_carry
