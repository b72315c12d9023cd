"""Protocol of an engine over a cluster in memory; documents are written and deleted by the code for real clusters."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from zlib import crc32

import orjson
from typing_extensions import override

from ibidem_engines.cluster import write as writing
from ibidem_engines.cluster.client import Action, ActionOutcome
from ibidem_engines.cluster.records import put_in_place
from ibidem_engines.cluster.write import WriteMode, WriteTarget
from ibidem_engines.engine import Engine, Info, LookupResult, Outcome, Ranking, Record, SignatureLookup, StoredDocument
from ibidem_engines.ledger import StoredVersion, UnstorableRecord, check_storable
from ibidem_engines.query import NOW, Query, ReadView
from ibidem_engines.stored_groups import MANUAL_LEDGERS, Hit, Ledger, RecordState, new_group
from ibidem_ingest.dates import interval
from ibidem_ingest.signatures.schema import SCHEMA
from simulation.memory_cluster import Link, MemoryCluster, Stored
from simulation.memory_groups import MemoryGroups
from simulation.memory_reindex import MemorySource


class MemoryLedgers:
    """Records next to an index; see `Engine` for its methods, and `LedgerStore` for the others."""

    def __init__(self, link: Link, index: str) -> None:
        self._link, self.index = link, index

    def _of(self, ledger: Ledger) -> dict[str, bytes]:
        cluster = self._link.cluster
        cluster.resolve(self.index)
        return cluster.records.setdefault((cluster.names_next_to(self.index), ledger), {})

    def put_records(self, ledger: Ledger, entries: Mapping[str, Mapping[str, object]]) -> None:
        if ledger in MANUAL_LEDGERS and entries:
            put_in_place(self, self._link.label, ledger, entries)
            return
        bodies = {key: orjson.dumps(entry) for key, entry in entries.items()}
        if bodies:
            self._link.call(lambda: self._of(ledger).update(bodies), f"put {ledger} {', '.join(bodies)}")

    def read_states(self, ledger: Ledger, keys: Sequence[str]) -> tuple[dict[str, Any], dict[str, RecordState]]:
        """Read records by key, and what another write of each changes."""
        found = self._link.call(lambda: {key: self._of(ledger)[key] for key in keys if key in self._of(ledger)})
        return {key: orjson.loads(body) for key, body in found.items()}, {
            key: _state(body) for key, body in found.items()
        }

    def put_onto(
        self, ledger: Ledger, entries: Mapping[str, Mapping[str, object]], states: Mapping[str, RecordState]
    ) -> list[str]:
        def keep(key: str) -> bool:
            own = self._of(ledger)
            if (_state(own[key]) if key in own else None) != states.get(key):
                return False
            own[key] = orjson.dumps(entries[key])
            return True

        kept = self._link.each([partial(keep, key) for key in entries], f"put onto {ledger}") if entries else []
        return [key for key, is_kept in zip(entries, kept, strict=True) if not is_kept]

    def get_records_by_key(self, ledger: Ledger, keys: Sequence[str]) -> dict[str, Any]:
        return self.read_states(ledger, keys)[0]

    def read_record(self, ledger: Ledger, key: str) -> tuple[Any, RecordState | None]:
        entries, states = self.read_states(ledger, [key])
        return entries.get(key), states.get(key)

    def get_records(self, ledger: Ledger, prefix: str = "") -> Iterator[tuple[str, Any]]:
        found = self._link.call(lambda: sorted(self._of(ledger).items()))
        return iter([(key, orjson.loads(body)) for key, body in found if key.startswith(prefix)])

    def count(self, ledger: Ledger) -> int:
        return len(list(self.get_records(ledger)))

    def replace_record(
        self, ledger: Ledger, key: str, entry: Mapping[str, object], state: RecordState | None
    ) -> RecordState | None:
        if self.put_onto(ledger, {key: entry}, {} if state is None else {key: state}):
            kept, state = self.read_record(ledger, key)
            return state if kept == orjson.loads(orjson.dumps(entry)) else None
        return _state(orjson.dumps(entry))

    def delete_unchanged(self, ledger: Ledger, entries: Mapping[str, Any]) -> int:
        def remove(key: str) -> bool:
            own = self._of(ledger)
            return key in own and orjson.loads(own[key]) == entries[key] and own.pop(key) is not None

        return sum(self._link.each([partial(remove, key) for key in entries])) if entries else 0

    def delete_records(self, ledger: Ledger, keys: Iterable[str]) -> int:
        found = list(keys)
        return self._link.call(lambda: sum(self._of(ledger).pop(key, None) is not None for key in found))


def _state(body: bytes) -> RecordState:
    """Return what tells a record from another: one that is written again with the same words is the same."""
    return crc32(body), 1


class MemoryTarget(WriteTarget):
    """Where documents are written: the requests of `writing` go to the cluster in memory."""

    __slots__ = ()

    @override
    def stored_versions(self, ids: Sequence[str]) -> dict[str, StoredVersion]:
        link: Link = self.cluster  # type: ignore[assignment]
        if not ids:
            return {}
        found = link.call(lambda: [(id_, link.cluster.resolve(self.index).get(id_)) for id_ in ids], "standing")
        return {id_: self._stored_version(each) for id_, each in found if each is not None}

    def _stored_version(self, each: Stored) -> StoredVersion:
        document = each.record.document
        group = each.group if each.lead else ""
        return StoredVersion(each.version, each.record.digest, each.state, document.origin, self.index, group)

    @override
    def source(self, record: Record, values: object = None, group: str = "") -> bytes:
        link: Link = self.cluster  # type: ignore[assignment]
        check_storable(record)
        try:
            interval(record.document.date)
        except ValueError as error:
            raise UnstorableRecord("date", str(error)) from error
        try:
            orjson.dumps(dict(record.document.meta))
        except TypeError as error:
            raise UnstorableRecord("meta", str(error)) from error
        return link.cluster.body(Stored(record, record.version, group or new_group()))

    @override
    def run(self, actions: Sequence[Action]) -> list[ActionOutcome]:
        link: Link = self.cluster  # type: ignore[assignment]
        return link.each([partial(link.cluster.act, action) for action in actions], "bulk") if actions else []


class MemoryEngine(MemoryLedgers, Engine):
    """An index in memory, as one process sees it; see `Engine`."""

    def __init__(self, link: Link, index: str) -> None:
        super().__init__(link, index)
        self._mode = WriteMode()

    @property
    def _cluster(self) -> MemoryCluster:
        return self._link.cluster

    @override
    def create(self) -> None:
        self._link.call(lambda: self._cluster.create(self.index), "create")

    def _place(self) -> MemoryTarget:
        """Resolve the name, as a request of its own: an alias may move before documents are written."""
        index = self._link.call(lambda: self._cluster.resolve(self.index).name, "layout")
        ledgers: Any = MemoryLedgers(self._link, index)
        link: Any = self._link
        return MemoryTarget(link, index, "lean", ledgers, self._mode, (index,))

    @override
    def write(self, records: Sequence[Record]) -> list[Outcome]:
        return writing.write(self._place(), records)

    @override
    def delete(self, ids: Sequence[str], version: int, *, any_version: bool = False) -> list[Outcome]:
        return writing.delete(self._place(), ids, version, any_version=any_version)

    @override
    def refresh(self) -> None:
        self._link.call(lambda: [shard.refresh() for shard in self._cluster.resolve(self.index).shards], "refresh")

    def _view(self) -> list[Stored]:
        def view() -> list[Stored]:
            return [each for shard in self._cluster.resolve(self.index).shards for each in shard.view.values()]

        return sorted(self._link.call(view, "search"), key=lambda each: each.order)

    def _hit(self, each: Stored) -> Hit:
        return Hit(self._cluster.names_next_to(self.index), each.id, 0.0, each.record.packed or None, each.order)

    @override
    def scan(self, size: int = 1_000) -> Iterator[list[Hit]]:
        found = self._view()
        return iter([[self._hit(each) for each in found[at : at + size]] for at in range(0, len(found), size)])

    @override
    def search(self, query: Query, size: int, view: ReadView = NOW) -> Ranking:
        """Find the documents that hold all words, in the order of ids; nothing else of a query is read."""
        words = set(re.findall(r"\w+", query.typed.lower()))
        found = [
            each
            for each in sorted(self._view(), key=lambda each: each.id)
            if words <= set(re.findall(r"\w+", f"{each.record.document.title} {each.record.document.text}".lower()))
        ]
        return Ranking([self._hit(each) for each in found[:size]], len(found))

    @override
    def fetch(self, ids: Sequence[tuple[str, str]], query: Query | None = None) -> list[StoredDocument]:
        found = {each.id: each for each in self._view()}
        documents = [(index, found[id_]) for index, id_ in ids if id_ in found]
        return [StoredDocument(index, each.record.document, each.version) for index, each in documents]

    @override
    def find(self, searches: Sequence[SignatureLookup], query: Query | None = None) -> list[LookupResult]:
        found = sorted(self._view(), key=lambda each: each.id)
        return [LookupResult([self._hit(each) for each in found if _shares(each, search)]) for search in searches]

    @override
    def long_signatures(self, ids: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
        found = {each.id: each.record.long for each in self._view()}
        return {name: found[name[1]] for name in ids if found.get(name[1])}

    @override
    def info(self) -> Info:
        found = self._view()
        return Info("memory", "1", exists=True, documents=len(found), unsigned=0, schema=(SCHEMA,), tables={})

    @override
    def close(self) -> None:
        """Close nothing."""

    def groups(self) -> MemoryGroups:
        """Give the groups of the index that the name stands for now."""
        return MemoryGroups(self._link, self._link.call(lambda: self._cluster.resolve(self.index).name))

    def group_set(self, *, use_cache: bool = False, takes_over: bool = False) -> "MemoryEngine":
        """Give the index itself: each alias stands for one."""
        return self

    def reindex_source(self) -> MemorySource:
        """Open the documents of the index."""
        return MemorySource(self._link, self.index)


def _shares(document: Stored, search: SignatureLookup) -> bool:
    """Return whether a document carries enough of the values of a search."""
    own = document.values
    return document.id != search.own_id and any(
        len(own.get(field, frozenset()) & set(values)) >= search.min_shared.get(field, 1)
        for field, values in search.values.items()
    )


def opened(cluster: MemoryCluster, index: str) -> MemoryEngine:
    """Open an index over a link that loses and delays nothing."""
    return MemoryEngine(Link(cluster), index)
