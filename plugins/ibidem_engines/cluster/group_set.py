"""Group set: the indexes behind an alias or of a data stream, or one index, whose groups are settled together.

A set is known by the record of its progress, which is next to the name that stands for all of it. Where an alias gets a
second index, as by a rollover, the record of the first one becomes that of the alias.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.cluster.index import read
from ibidem_engines.cluster.records import LedgerStore
from ibidem_engines.engine import HealthIssue
from ibidem_engines.group_checkpoint import KEY, checkpoint_of
from ibidem_engines.stored_groups import IndexNames, StoredRecord, parse_marks
from ibidem_ingest.errors import UsageError

LEASE = "groups/lease"
AS_ONE = "compare their documents anew, as one set: ibidem regroup --all"


@dataclass(frozen=True, slots=True)
class GroupSet:
    """A group set, and the changes needed to its progress records."""

    home: str  # the name next to which its progress is kept
    begins_with: Any = None  # the record that becomes that of the set; None if it has one, or begins anew
    superseded: tuple[str, ...] = ()  # names next to which another record is removed


@dataclass(frozen=True, slots=True)
class SettledNames:
    """Progress records next to the names of some indexes."""

    names: IndexNames
    entries: Mapping[str, Any]  # the record next to each of them that has one

    @classmethod
    def of(cls, names: IndexNames, records: Iterable[StoredRecord]) -> "SettledNames":
        """Build the set from stored records."""
        return cls(names, {each.source: each.entry for each in records})

    @property
    def wide(self) -> list[str]:
        """Aliases and data streams whose indexes are settled as one."""
        return sorted(source for source in self.entries if source not in self.names.indices)

    @property
    def own(self) -> list[str]:
        """Indexes that are settled separately, in order of creation."""
        return [index for index in self.names.indices if index in self.entries]

    def find(self) -> GroupSet:
        """Find the group set of the indexes."""
        home = self._home()
        if home in self.names.indices:
            return GroupSet(home)
        known = self._settled_indices(home)
        apart = [index for index in self.own if index not in known]
        if not apart or (len(self.names.indices) == 1 and home in self.entries):
            return GroupSet(home, superseded=tuple(self.own))
        if home not in self.entries and apart == [self.names.indices[0]]:
            return GroupSet(home, self.entries[apart[0]], tuple(apart))
        raise UsageError(f"groups of {_listing(apart)} behind {home!r} are settled index by index", AS_ONE)

    def unite(self, indices: Sequence[str]) -> GroupSet:
        """Settle all indexes as one set."""
        home = self.names.home
        if outside := [source for source in self.wide if source not in (home, *indices)]:
            raise self._overlap(home, outside)
        others = [source for source in self.entries if source != home]
        figures = [checkpoint_of(self.entries[source]).policy for source in others]
        if home not in self.entries and any(each != figures[0] for each in figures):
            raise UsageError(
                f"groups of {_listing(others)} are stored with different figures",
                "store them with the same figures first, with each name in turn in IBIDEM_INDEX: "
                "ibidem regroup --all --preset NAME",
            )
        begins_with = self.entries[others[0]] if others and home not in self.entries else None
        return GroupSet(home, begins_with, tuple(others))

    def _home(self) -> str:
        """Return the name under which the set's records are stored."""
        home, indices = self.names.home, self.names.indices
        parts = [each for each in self.wide if not all(self.names.covers(each, index) for index in indices)]
        if parts:
            raise self._overlap(home, parts)
        if len(indices) == 1 and home in self.own and not set(indices) & self._settled_indices(*self.wide):
            return home
        if len(self.wide) > 1:
            raise UsageError(
                f"groups of {_listing(indices)} are settled by several names: {_listing(self.wide)}",
                "name one of them in IBIDEM_INDEX, and compare documents anew by it: ibidem regroup --all",
            )
        return self.wide[0] if self.wide else home

    def _settled_indices(self, *sources: str) -> set[str]:
        """Return the indexes whose settling progress is recorded next to some names."""
        done = [checkpoint_of(self.entries[source]).done for source in sources if source in self.entries]
        return {part.index for marks in done for part in parse_marks(marks)}

    def _overlap(self, home: str, sources: Sequence[str]) -> UsageError:
        return UsageError(
            f"groups of some indexes behind {home!r} are settled with those of {_listing(sources)}",
            f"name {sources[0]!r} in IBIDEM_INDEX",
        )


def find_set(cluster: ClusterClient, names: IndexNames, *, takes_over: bool = False) -> str:
    """Return the name of the group set of indexes, and move its progress record there."""
    store = LedgerStore(cluster, names)
    records = {each.source: each for each in store.stored("groups", [KEY])}
    settled = SettledNames.of(names, records.values())
    indices = set(names.indices)
    if takes_over:
        found = settled.unite([each for each in settled.wide if indices.issuperset(read(cluster, each).indices)])
    else:
        found = settled.find()
    if found.begins_with is not None:
        LedgerStore(cluster, names.keep(found.home)).put("groups", {KEY: found.begins_with})
    superseded = [records[source] for source in found.superseded]
    store.remove("groups", superseded)
    store.remove("runs", [StoredRecord(each.source, LEASE, None) for each in superseded])
    return found.home


def issues(cluster: ClusterClient, names: IndexNames) -> Iterator[HealthIssue]:
    """Yield the reasons why the groups of some indexes cannot be settled."""
    try:
        SettledNames.of(names, LedgerStore(cluster, names).stored("groups", [KEY])).find()
    except UsageError as error:
        yield HealthIssue("groups", error.what, error.remedy)


def _listing(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
