"""Records next to the index, one small index for each ledger."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from typing import Any

import orjson

from ibidem_core.errors import Permanent
from ibidem_engines.cluster.bulk import CONFLICT, MISSING, Action, ActionOutcome, run
from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.cluster.index import is_failure, refresh_index
from ibidem_engines.cluster.ledger_index import LEDGERS, ledger_index, make_missing, repair
from ibidem_engines.cluster.ledger_search import (
    FORBIDDEN,
    MAYBE,
    SLICE,
    THERE,
    first_cursor_key,
    get_docs,
    read_keys,
    read_slice,
    readable_sources,
    record_id,
    search_ledger,
    stored_record,
)
from ibidem_engines.cluster.state_store import CHANGEABLE, contention_error, put_in_place
from ibidem_engines.cursor import KEY, new_key
from ibidem_engines.engine import HealthIssue, Ledger, RecordState
from ibidem_engines.index_names import IndexNames, StoredRecord
from ibidem_engines.own_record import ATTEMPTS
from ibidem_engines.ttl_cache import TtlCache

NAMES_AT_ONCE = 25  # indexes in the path of one request

# Ledgers that searches read and people write: made visible as they are written, the others as they are read.
READ_OFTEN: frozenset[Ledger] = frozenset(("overrides", "presets", "tags"))

Place = tuple[str, str]  # the name next to which a record is stored, and its key


@dataclass(frozen=True, slots=True)
class LedgerStore:
    """The records next to an index; see `Engine` for its methods."""

    cluster: ClusterClient
    names: IndexNames  # the index's names
    # Indexes of ledgers that were found with their mapping of late.
    made: TtlCache[str, bool] = field(default_factory=TtlCache)

    def create(self) -> None:
        """Create all ledgers."""
        make_missing(self.cluster, [ledger_index(self.names.home, ledger) for ledger in LEDGERS])

    def make_cursor_key(self) -> None:
        """Store a cursor key unless there is a valid one; of several processes, the first one wins."""
        stored = self.get_key("runs", KEY)
        if not first_cursor_key([stored]):
            name = ledger_index(self.names.home, "runs")
            make_missing(self.cluster, [name])
            body = orjson.dumps({"key": KEY, "entry": new_key()})
            run(self.cluster, [Action("create" if stored is None else "index", name, record_id(KEY), body)])
            refresh_index(self.cluster, name)

    def put(self, ledger: Ledger, entries: Mapping[str, Mapping[str, object]]) -> None:
        """Store records."""
        name = ledger_index(self.names.home, ledger)
        replaced = self._replaced(ledger, entries)
        if ledger in CHANGEABLE:
            put_in_place(self, self.cluster.label, ledger, entries)
        else:
            actions = [Action("index", name, record_id(key), _as_body(key, entry)) for key, entry in entries.items()]
            self._write(ledger, actions)
        self._delete(ledger, replaced)
        if ledger in READ_OFTEN:
            for each in {name, *(ledger_index(source, ledger) for source, _ in replaced)}:
                refresh_index(self.cluster, each, **MAYBE)

    def read_states(self, ledger: Ledger, keys: Sequence[str]) -> tuple[dict[str, Any], dict[str, RecordState]]:
        """Read current records by key, with sequence number and primary term of those that a write replaces."""
        docs = self._find(ledger, keys)
        found = [stored_record(each, ledger) for each in docs.values()]
        states = {key: _state(each) for (source, key), each in docs.items() if source == self.names.home}
        return self.names.own_records(ledger, found), states

    def put_onto(
        self,
        ledger: Ledger,
        entries: Mapping[str, Mapping[str, object]],
        states: Mapping[str, RecordState],
    ) -> list[str]:
        """Store records whose stored version has not changed since it was read."""
        actions = [self._replacement(ledger, key, entry, states.get(key)) for key, entry in entries.items()]
        outcomes = self._write(ledger, actions)
        return [key for key, outcome in zip(entries, outcomes, strict=True) if outcome.status == CONFLICT]

    def replace(
        self, ledger: Ledger, key: str, entry: Mapping[str, object], state: RecordState | None
    ) -> RecordState | None:
        """Store one record in place of an earlier state; see `Engine.replace_record`."""
        (outcome,) = self._write(ledger, [self._replacement(ledger, key, entry, state)])
        if outcome.status != CONFLICT:
            return outcome.place, outcome.term
        entries, states = self.read_states(ledger, [key])  # a write whose answer was lost may have been sent again
        if key not in states:  # where the ledger was removed, a server has made it again with another mapping
            repair(self.cluster, [self.names.home])
        return states.get(key) if entries.get(key) == orjson.loads(orjson.dumps(entry)) else None

    def _replacement(self, ledger: Ledger, key: str, entry: Mapping[str, object], state: RecordState | None) -> Action:
        name, verb = ledger_index(self.names.home, ledger), "create" if state is None else "index"
        return Action(verb, name, record_id(key), _as_body(key, entry), state)

    def _write(self, ledger: Ledger, actions: Sequence[Action]) -> list[ActionOutcome]:
        """Write records to a ledger, which is created if missing."""
        name = ledger_index(self.names.home, ledger)
        if self.made.get(name) is None:
            make_missing(self.cluster, [name])
            self.made.put(name, value=True)
        outcomes = run(self.cluster, actions)
        if refused := [outcome.reason for outcome in outcomes if outcome.reason and outcome.status != CONFLICT]:
            raise Permanent(f"{self.cluster.label}: index {name!r} rejects a record: {refused[0]}")
        if any(outcome.place == 0 for outcome in outcomes):  # the first write: others may have removed the ledger since
            repair(self.cluster, [self.names.home])
        return outcomes

    def _replaced(self, ledger: Ledger, keys: Iterable[str]) -> set[Place]:
        """Find decisions on the same pairs, stored under other names of the index."""
        if ledger != "overrides":
            return set()
        return self._places(ledger, keys) - set(product([self.names.home], keys))

    def _places(self, ledger: Ledger, keys: Iterable[str]) -> set[Place]:
        """Find where the records with some keys are stored; keys of decisions contain index names, which may vary."""
        if ledger != "overrides":
            return set(product(self.names.sources, keys))
        wanted = set(keys)
        return {
            (each.source, each.key) for each in self._stored(ledger, "") if self.names.raw_keys(ledger, wanted, [each])
        }

    def get(self, ledger: Ledger, prefix: str) -> Iterator[tuple[str, Any]]:
        """Read records in slices; a foreign index without ledgers has none."""
        if ledger not in READ_OFTEN:
            self._refresh(ledger)
        records = self._stored(ledger, prefix)
        if ledger == "overrides":  # their keys name indexes, which may change their order
            yield from self.names.own_records(ledger, records).items()
            return
        for _, same in groupby(records, lambda record: record.key):
            yield from self.names.own_records(ledger, same).items()

    def _stored(self, ledger: Ledger, prefix: str) -> Iterator[StoredRecord]:
        sources, after = list(self.names.sources), None
        while True:
            try:
                hits = self.cluster.hold(read_slice(sources, ledger, prefix, after))
            except Permanent as error:
                readable = self._readable(sources, ledger) if is_failure(error, FORBIDDEN) else sources
                if self.names.home not in readable or readable == sources:
                    raise
                sources = readable
                continue
            yield from (stored_record(hit, ledger) for hit in hits)
            if len(hits) < SLICE:
                return
            after = hits[-1]["sort"]

    def _readable(self, sources: Sequence[str], ledger: Ledger) -> list[str]:
        return self.cluster.hold(readable_sources(sources, ledger))

    def get_key(self, ledger: Ledger, key: str) -> Any:
        """Read the record of one key, without a refresh; None if there is none."""
        return self.get_keys(ledger, [key]).get(key)

    def get_keys(self, ledger: Ledger, keys: Sequence[str]) -> dict[str, Any]:
        """Read the current records by key."""
        records = self.cluster.hold(read_keys(self.names.sources, ledger, keys)) if keys else []
        return self.names.own_records(ledger, records)

    def stored(self, ledger: Ledger, keys: Sequence[str]) -> list[StoredRecord]:
        """Read the current records with some keys next to each name."""
        return self.cluster.hold(read_keys(self.names.sources, ledger, keys))

    def remove(self, ledger: Ledger, records: Sequence[StoredRecord]) -> None:
        """Remove records next to the names under which they are stored; missing ones are skipped."""
        self._delete(ledger, {(each.source, each.key) for each in records})

    def issues(self) -> Iterator[HealthIssue]:
        """Yield the problems of the names in records."""
        try:
            count = len(self._misnamed())
        except Permanent as error:
            if not is_failure(error, FORBIDDEN):
                raise
            return
        if count:
            message = f"{count} manual {'decision names' if count == 1 else 'decisions name'} an alias, not an index"
            yield HealthIssue("records", f"{message}: the plugin does not follow it", "ibidem doctor --repair")

    def rename_decisions(self) -> list[str]:
        """Store manual decisions under the concrete names of indexes; returns their keys."""
        misnamed = self._misnamed()
        if misnamed:
            self.put("overrides", misnamed)
        return sorted(misnamed)

    def _misnamed(self) -> dict[str, Any]:
        keys = {each.key for each in self._stored("overrides", "")}
        return {key: entry for key, entry in self.get("overrides", "") if key not in keys}

    def count(self, ledger: Ledger) -> int:
        """Count records, as last made visible by a refresh."""
        head = {"index": [ledger_index(source, ledger) for source in self.names.sources], **THERE}
        body = {"size": 0, "track_total_hits": True}
        answer = self.cluster.hold(search_ledger(head, body))
        return int(answer["hits"]["total"]["value"]) if answer else 0

    def delete(self, ledger: Ledger, keys: Iterable[str]) -> int:
        """Remove records under every name of the index; returns how many existed."""
        deleted = self._delete(ledger, self._places(ledger, list(keys)))
        if ledger in READ_OFTEN:
            for source in {source for source, _ in deleted}:
                refresh_index(self.cluster, ledger_index(source, ledger), **MAYBE)
        return len({key for _, key in deleted})

    def _delete(self, ledger: Ledger, places: Collection[Place]) -> set[Place]:
        """Remove records in their current state, so that a delayed request removes no later record."""
        remaining, deleted = set(places), set[Place]()
        for _ in range(ATTEMPTS):
            docs = self._find_at(ledger, remaining)
            deleted |= self._delete_as_read(ledger, docs)
            remaining = docs.keys() - deleted
            if not remaining:
                return deleted
        raise contention_error(self.cluster.label, ledger, min(remaining)[1])

    def delete_unchanged(self, ledger: Ledger, entries: Mapping[str, Any]) -> int:
        """Remove records that have not changed since they were read, under every index name; returns how many."""
        keys = list(entries)
        return sum(
            self._delete_unchanged(ledger, {key: entries[key] for key in keys[start : start + SLICE]})
            for start in range(0, len(keys), SLICE)
        )

    def _delete_unchanged(self, ledger: Ledger, entries: Mapping[str, Any]) -> int:
        docs = self._find(ledger, list(entries))
        same = {place: each for place, each in docs.items() if stored_record(each, ledger).entry == entries[place[1]]}
        return len({key for _, key in self._delete_as_read(ledger, same)})

    def _find(self, ledger: Ledger, keys: Sequence[str], field_name: str = "") -> dict[Place, Mapping[str, Any]]:
        """Read the documents with some keys, or one of their fields, by place; missing ones are omitted."""
        docs = self.cluster.hold(get_docs(self.names.sources, ledger, keys, field_name)) if keys else []
        places = ((source, key) for key in keys for source in self.names.sources)
        return {place: each for place, each in zip(places, docs, strict=True) if each.get("found")}

    def _find_at(self, ledger: Ledger, places: Collection[Place]) -> dict[Place, Mapping[str, Any]]:
        keys = sorted({key for _, key in places})
        parts = (self._find(ledger, keys[start : start + SLICE], "key") for start in range(0, len(keys), SLICE))
        return {place: each for part in parts for place, each in part.items() if place in places}

    def _delete_as_read(self, ledger: Ledger, docs: Mapping[Place, Mapping[str, Any]]) -> set[Place]:
        """Remove records that have not changed since they were read; returns where they were."""
        actions = [
            Action("delete", ledger_index(source, ledger), record_id(key), state=_state(each))
            for (source, key), each in docs.items()
        ]
        outcomes = run(self.cluster, actions)
        return {place for place, each in zip(docs, outcomes, strict=True) if each.status not in (CONFLICT, MISSING)}

    def _refresh(self, ledger: Ledger) -> None:
        """Make all records visible, including readable records under other names of the index."""
        home, *others = (ledger_index(source, ledger) for source in self.names.sources)
        refresh_index(self.cluster, home, **MAYBE)
        for start in range(0, len(others), NAMES_AT_ONCE):
            try:
                refresh_index(self.cluster, ",".join(others[start : start + NAMES_AT_ONCE]), **MAYBE)
            except Permanent as error:
                if not is_failure(error, FORBIDDEN):
                    raise


def _state(document: Mapping[str, Any]) -> RecordState:
    """Return sequence number and primary term of a document."""
    return document["_seq_no"], document["_primary_term"]


def _as_body(key: str, entry: Mapping[str, object]) -> bytes:
    return orjson.dumps({"key": key, "entry": entry})
