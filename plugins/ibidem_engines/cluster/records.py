"""Records next to the index, in its two record indexes."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from typing import Any

import orjson

from ibidem_core.errors import Permanent
from ibidem_core.retry import retry_unavailable
from ibidem_engines.cluster.bulk import CONFLICT, MISSING, Action, ActionOutcome, run
from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.cluster.index import is_failure, refresh_index
from ibidem_engines.cluster.ledger_search import (
    FORBIDDEN,
    MAYBE,
    SLICE,
    LedgerQuery,
    Reading,
    first_cursor_key,
    get_docs,
    read_keys,
    read_slices,
    record_id,
    stored_record,
)
from ibidem_engines.cluster.record_index import make_missing, record_index
from ibidem_engines.cluster.state_store import contention_error, put_in_place
from ibidem_engines.cursor import KEY, new_key
from ibidem_engines.engine import HealthIssue
from ibidem_engines.ledger import ATTEMPTS
from ibidem_engines.stored_groups import MANUAL_LEDGERS, IndexNames, Ledger, RecordState, StoredRecord
from ibidem_engines.ttl_cache import TtlCache

NAMES_AT_ONCE = 25  # indexes in the path of one request
STARTS_WITHIN = 10.0  # seconds in which an index that another process has just created starts

Place = tuple[str, str]  # the name next to which a record is stored, and its key


@dataclass(frozen=True, slots=True)
class LedgerStore:
    """The records next to an index; see `Engine` for its methods."""

    cluster: ClusterClient
    names: IndexNames  # the index's names
    made: TtlCache[str, bool] = field(default_factory=TtlCache)  # names whose record indexes were checked of late

    def create(self) -> None:
        """Create the record indexes, and a cursor key unless there is a valid one: the first process wins."""
        make_missing(self.cluster, self.names.home)
        stored = retry_unavailable(lambda: self.get_key("runs", KEY), STARTS_WITHIN)
        if not first_cursor_key([stored]):
            run(self.cluster, [self._action("create" if stored is None else "index", "runs", KEY, new_key())])
            refresh_index(self.cluster, record_index(self.names.home, "runs"))

    def put(self, ledger: Ledger, entries: Mapping[str, Mapping[str, object]]) -> None:
        """Store records."""
        replaced = self._replaced(ledger, entries)
        if ledger in MANUAL_LEDGERS:
            put_in_place(self, self.cluster.label, ledger, entries)
        else:
            self._write(ledger, [self._action("index", ledger, key, entry) for key, entry in entries.items()])
        self._delete(ledger, replaced)
        self._show(ledger, {self.names.home, *(source for source, _ in replaced)})

    def _show(self, ledger: Ledger, sources: Iterable[str]) -> None:
        """Make manual records visible as they are written; others are as they are read."""
        for source in sources if ledger in MANUAL_LEDGERS else ():
            refresh_index(self.cluster, record_index(source, ledger), **MAYBE)

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
        return states.get(key) if entries.get(key) == orjson.loads(orjson.dumps(entry)) else None

    def _replacement(self, ledger: Ledger, key: str, entry: Mapping[str, object], state: RecordState | None) -> Action:
        return self._action("create" if state is None else "index", ledger, key, entry, state)

    def _action(
        self, verb: str, ledger: Ledger, key: str, entry: Mapping[str, object], state: RecordState | None = None
    ) -> Action:
        body = orjson.dumps({"ledger": ledger, "key": key, "entry": entry})
        return Action(verb, record_index(self.names.home, ledger), record_id(ledger, key), body, state)

    def _write(self, ledger: Ledger, actions: Sequence[Action]) -> list[ActionOutcome]:
        """Write records to a ledger, whose index is created if missing."""
        home = self.names.home
        if self.made.get(home) is None:
            make_missing(self.cluster, home)
            self.made.put(home, value=True)
        outcomes = run(self.cluster, actions)
        if refused := [outcome.reason for outcome in outcomes if outcome.reason and outcome.status != CONFLICT]:
            name = record_index(home, ledger)
            what = f"{self.cluster.label}: index {name!r} rejects a record: {refused[0]}"
            raise Permanent(what, "see what is wrong: ibidem doctor")
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
        if ledger not in MANUAL_LEDGERS:
            self._refresh(ledger)
        records = self._stored(ledger, prefix)
        if ledger == "overrides":  # their keys name indexes, which may change their order
            yield from self.names.own_records(ledger, records).items()
            return
        for _, same in groupby(records, lambda record: record.key):
            yield from self.names.own_records(ledger, same).items()

    def _stored(self, ledger: Ledger, prefix: str) -> Iterator[StoredRecord]:
        reading = Reading(LedgerQuery(ledger, prefix=prefix), list(self.names.sources), self.names.home)
        while not reading.has_ended:
            self.cluster.hold(read_slices([reading]))
            yield from reading.records
            reading.records = []

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
        return self.cluster.hold(LedgerQuery(ledger).count(self.names.sources))

    def delete(self, ledger: Ledger, keys: Iterable[str]) -> int:
        """Remove records under every name of the index; returns how many existed."""
        deleted = self._delete(ledger, self._places(ledger, list(keys)))
        self._show(ledger, {source for source, _ in deleted})
        return len({key for _, key in deleted})

    def _delete(self, ledger: Ledger, places: Collection[Place]) -> set[Place]:
        """Remove records in their current state, so that a delayed request removes no later record."""
        remaining, deleted = set(places), set[Place]()
        for _ in range(ATTEMPTS):
            found = self._find(ledger, sorted({key for _, key in remaining}), "key")
            docs = {place: each for place, each in found.items() if place in remaining}
            deleted |= self._delete_as_read(ledger, docs)
            remaining = docs.keys() - deleted
            if not remaining:
                return deleted
        raise contention_error(self.cluster.label, ledger, min(remaining)[1])

    def delete_unchanged(self, ledger: Ledger, entries: Mapping[str, Any]) -> int:
        """Remove records that have not changed since they were read, under every index name; returns how many."""
        docs = self._find(ledger, list(entries))
        same = {place: each for place, each in docs.items() if stored_record(each, ledger).entry == entries[place[1]]}
        return len({key for _, key in self._delete_as_read(ledger, same)})

    def _find(self, ledger: Ledger, keys: Sequence[str], field_name: str = "") -> dict[Place, Mapping[str, Any]]:
        """Read the documents with some keys, or one of their fields, by place; missing ones are omitted."""
        slices = [keys[start : start + SLICE] for start in range(0, len(keys), SLICE)]
        docs = [
            doc for each in slices for doc in self.cluster.hold(get_docs(self.names.sources, ledger, each, field_name))
        ]
        places = ((source, key) for key in keys for source in self.names.sources)
        return {place: each for place, each in zip(places, docs, strict=True) if each.get("found")}

    def _delete_as_read(self, ledger: Ledger, docs: Mapping[Place, Mapping[str, Any]]) -> set[Place]:
        """Remove records that have not changed since they were read; returns where they were."""
        actions = [
            Action("delete", record_index(source, ledger), record_id(ledger, key), state=_state(each))
            for (source, key), each in docs.items()
        ]
        outcomes = run(self.cluster, actions)
        return {place for place, each in zip(docs, outcomes, strict=True) if each.status not in (CONFLICT, MISSING)}

    def _refresh(self, ledger: Ledger) -> None:
        """Make all records visible, including readable records under other names of the index."""
        home, *others = (record_index(source, ledger) for source in self.names.sources)
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
