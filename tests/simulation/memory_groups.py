"""Stored groups of an index in memory; see `StoredGroups`."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from typing_extensions import override

from ibidem_engines.stored_groups import (
    Assignment,
    GroupCounts,
    GroupedDocument,
    Hit,
    LeadKeys,
    Marks,
    Name,
    SeqNoRange,
    ShardRef,
    StoredGroups,
)
from ibidem_ingest.signatures.lookup_keys import LookupField
from ibidem_ingest.signatures.packed import Packed, unpack
from simulation.memory_cluster import Link, Stored

SLICE = 1_000


class MemoryGroups(StoredGroups):
    def __init__(self, link: Link, name: str) -> None:
        self.index = name
        self._link = link
        found = link.cluster.resolve(name)
        self._parts = [ShardRef(name, number) for number in range(len(found.shards))]
        self._uuids = {name: found.uuid}

    @override
    def parts(self) -> list[ShardRef]:
        return self._parts

    @override
    def uuids(self) -> Mapping[str, str]:
        return self._uuids

    @override
    def newest(self, marks: Marks | None = None) -> dict[ShardRef, int]:
        return self._link.newest(self._parts)

    @override
    def deletions(self) -> int:
        return self._link.call(lambda: sum(self._link.cluster.shard(part).deletions for part in self._parts))

    @override
    def has_threads(self) -> bool:
        """Return False: no document of a schedule is a mail."""
        return False

    @override
    def documents(self, seq_range: SeqNoRange, size: int, *, leads: bool = False) -> list[GroupedDocument]:
        return [each for each in self._stretch(seq_range) if each.lead or not leads][:size]

    @override
    def count_leads(self, seq_range: SeqNoRange) -> int:
        return sum(each.lead for each in self._stretch(seq_range))

    @override
    def with_value(self, keys: Sequence[LeadKeys], end: Marks) -> list[Hit]:
        found = {}
        for part, number in end.items():
            for each in self._search(part):
                if not each.lead or each.order > number or (packed := unpack(each.record.packed)) is None:
                    continue
                if any(carries(packed, each.values, one) for one in keys):
                    found[each.id] = Hit(self.index, each.id, 0.0, each.record.packed or None, each.order)
        return list(found.values())

    @override
    def members(
        self, groups: Sequence[str], excluded: Sequence[tuple[str, str]] = (), *, lead: bool | None = None
    ) -> Iterator[list[GroupedDocument]]:
        names = set(groups)
        found = [
            self._document(each)
            for part in self._parts
            for each in self._search(part)
            if each.group in names and lead in (None, each.lead) and (self.index, each.id) not in excluded
        ]
        found.sort(key=lambda each: (each.name.order, each.name.id))
        for start in range(0, len(found), SLICE):
            yield found[start : start + SLICE]

    @override
    def read(self, ids: Sequence[tuple[str, str]], end: Marks | None = None) -> list[GroupedDocument]:
        wanted = {id_ for index, id_ in ids if index == self.index}
        found = [
            self._document(each)
            for part in self._parts
            for each in self._search(part)
            if each.id in wanted and (end is None or each.order <= end[part])
        ]
        return sorted(found, key=lambda each: each.name.order)

    @override
    def assign(self, changes: Sequence[Assignment]) -> list[bool]:
        cluster = self._link.cluster

        def write(change: Assignment) -> bool:
            shard = cluster.resolve(self.index).shard(change.document.name.id)
            before = shard.documents.get(change.document.name.id)
            if before is None or before.state != change.document.state:
                return False
            shard.put(
                Stored(before.record, before.version, change.group, change.lead, engine_version=before.engine_version)
            )
            return True

        return self._link.each([lambda change=change: write(change) for change in changes], "assign")

    @override
    def counts(self) -> GroupCounts:
        documents = [each for part in self._parts for each in self._search(part)]
        unsigned = sum(not each.record.packed or not each.record.signatures.length for each in documents)
        return GroupCounts(len(documents), sum(each.lead for each in documents), unsigned)

    @override
    def sizes(self, size: int = SLICE) -> Iterator[Mapping[str, int]]:
        counts: dict[str, int] = {}
        for part in self._parts:
            for each in self._search(part):
                if not each.lead:
                    counts[each.group] = counts.get(each.group, 0) + 1
        names = sorted(counts)
        for start in range(0, len(names), size):
            yield {name: counts[name] for name in names[start : start + size]}

    def _stretch(self, seq_range: SeqNoRange) -> list[GroupedDocument]:
        return [self._document(each) for each in self._link.states(seq_range)]

    def _search(self, part: ShardRef) -> list[Stored]:
        return self._link.call(lambda: list(self._link.cluster.shard(part).view.values()), "search")

    def _document(self, each: Stored) -> GroupedDocument:
        return GroupedDocument(
            Name(self.index, each.id, each.order), each.record.packed, each.group, each.lead, each.state
        )


def carries(packed: Packed, own: Mapping[LookupField, Collection[str]], keys: LeadKeys) -> bool:
    """Return whether a document has enough of the values of a field, and a length that counts with them."""
    for field, values in keys.values.items():
        fewest, most = keys.lengths.get(field, (0, packed.length))
        shared = len(set(own.get(field, ())) & set(values))
        if shared >= keys.min_shared.get(field, 1) and fewest <= packed.length <= most:
            return True
    return False
