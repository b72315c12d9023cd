"""Records next to an index, in two hidden indexes that every index has, out of reach of the templates of others.

`.ibidem-NAME` holds what searches read, `.ibidem-NAME-work` the rest. A template for `*` is not applied to a hidden
index. A template for `.*` or `*-news` would be, so one of ibidem's own has a higher priority for `.ibidem-*`; it also
gives the mapping to an index that a server creates for a late write. Without the right to store templates, what others
gave to a new index is removed, or the index is refused.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from typing import Any

import orjson
from xxhash import xxh3_128_hexdigest

from ibidem_core.errors import Permanent
from ibidem_engines.cluster import client
from ibidem_engines.cluster.client import CONFLICT, FORBIDDEN, NOT_FOUND, Action, ClusterClient, unless_failure
from ibidem_engines.cluster.dsl import COUNTED, Clause, all_of, hits_of, state_of, total_of
from ibidem_engines.cluster.index import MAX_SOURCES, make, refresh_index
from ibidem_engines.engine import HealthIssue
from ibidem_engines.ledger import ATTEMPTS, contention_error
from ibidem_engines.requests import ALL_SHARDS, ApiRequest, Json, RequestFlow, TtlCache, in_slices, quote_index
from ibidem_engines.stored_groups import MANUAL_LEDGERS, Entry, IndexNames, Ledger, RecordState, StoredRecord
from ibidem_ingest.document import MAX_ID_BYTES
from ibidem_ingest.errors import UsageError
from ibidem_mappings import load

VERSION = "1"
SHARED: frozenset[Ledger] = MANUAL_LEDGERS | {"groups"}  # ledgers that every searcher reads
PREFIX, WORK = ".ibidem-", "-work"
TEMPLATE = "ibidem-records"
PRIORITY = 1 << 62  # of ibidem's template: above those of users
FOREIGN = (  # settings that a template may give
    "index.default_pipeline",
    "index.final_pipeline",
    "index.search.default_pipeline",
    "index.lifecycle.name",
    "index.plugins.index_state_management.policy_id",
    "index.opendistro.index_state_management.policy_id",
)
REPAIR = "remove it with: ibidem doctor --repair"
EXCLUDE = (
    f"exclude {PREFIX}* from the template, or run the command once with the right to manage index templates, "
    f"so that it stores its own ({TEMPLATE})"
)


def record_index(source: str, ledger: Ledger) -> str:
    return f"{PREFIX}{source}" if ledger in SHARED else f"{PREFIX}{source}{WORK}"


def record_indices(sources: Iterable[str]) -> list[str]:
    return [index for source in sources for index in (f"{PREFIX}{source}", f"{PREFIX}{source}{WORK}")]


def mapping_error(index: str) -> Permanent:
    """Return the error of an index whose records cannot be read in order."""
    return Permanent(
        f"index {index!r}, which holds records of ibidem, has another mapping than ibidem's",
        f"delete it with its records (DELETE /{index}): the server created it for a late write, without {TEMPLATE}",
    )


def template() -> dict[str, Any]:
    body: dict[str, Any] = orjson.loads(load(f"records.v{VERSION}.json"))
    return body


def make_missing(cluster: ClusterClient, source: str) -> None:
    """Create the missing record indexes of a name, and check all that may be read."""
    names = record_indices([source])
    found = _read(cluster, names)
    if missing := [] if found is None else [name for name in names if name not in found]:
        if source.endswith(WORK):
            problem = f"records of {source!r} would be mixed with those of {source.removesuffix(WORK)!r}"
            raise UsageError(problem, f"choose a name that does not end in {WORK}")
        body = {"index_patterns": [f"{PREFIX}*"], "priority": PRIORITY, "template": template()}
        # An account may lack the right for these; the write that needs it says so.
        with unless_failure(FORBIDDEN):
            cluster.ask("PUT", f"/_index_template/{TEMPLATE}", body)
        for name in missing:
            with unless_failure(FORBIDDEN):
                try:
                    make(cluster, name, template())
                except Permanent as error:
                    if "creates data streams only" not in error.what:
                        raise
                    raise Permanent(error.what, EXCLUDE) from error
        repair(cluster, missing)
        found = _read(cluster, names)
    for name, index in (found or {}).items():
        if fault := fault_of(name, index):
            raise fault


def _read(cluster: ClusterClient, names: Sequence[str]) -> dict[str, Any] | None:
    """Read the metadata of existing indexes; None if the user may not read it."""
    params = {"ignore_unavailable": "true", "expand_wildcards": "all", "flat_settings": "true"}
    request = ApiRequest("GET", f"/{quote_index(','.join(names))}", params, ok_statuses=(NOT_FOUND,))
    with unless_failure(FORBIDDEN):
        return dict(cluster.send(request))
    return None


def fault_of(name: str, index: Json) -> Permanent | None:
    """Return the error of a record index that has another mapping, or what a template of others gives."""
    if not is_sound(index.get("mappings", {})):
        return mapping_error(name)
    settings = index.get("settings", {})
    given = [f"the alias {each!r}" for each in index.get("aliases", ())]
    given += [f"{each}={settings[each]}" for each in FOREIGN if settings.get(each) not in (None, "", "_none")]
    given += [] if settings.get("index.hidden") == "true" else ["no index.hidden"]
    what = f"index {name!r}, which holds records of ibidem, has {', '.join(given)}"
    return Permanent(what, REPAIR) if given else None


def is_sound(mapping: Json) -> bool:
    """Return whether records can be written, and read in key order, whatever they contain."""
    properties = mapping.get("properties", {})
    keywords = [properties.get(name, {}) for name in ("ledger", "key")]
    return (
        all(each.get("type") == "keyword" and "ignore_above" not in each for each in keywords)
        and properties.get("entry", {}).get("enabled") is False
        and str(mapping.get("dynamic")).lower() == "false"
        and not {"_source", "_routing"} & mapping.keys()
    )


def issues(cluster: ClusterClient, sources: Sequence[str]) -> Iterator[HealthIssue]:
    for name, index in sorted((_read(cluster, record_indices(sources)) or {}).items()):
        if fault := fault_of(name, index):
            yield HealthIssue("records", fault.what, fault.remedy, stops=True)


def repair(cluster: ClusterClient, names: Sequence[str]) -> list[str]:
    """Remove the aliases, pipelines and policies that others gave to record indexes; returns the repaired ones."""
    found = _read(cluster, names) or {}
    faulty = [name for name, index in found.items() if (fault := fault_of(name, index)) and fault.remedy == REPAIR]
    for name in faulty:
        if found[name].get("aliases"):
            cluster.ask("DELETE", f"/{quote_index(name)}/_alias/*")
        foreign = {each: None for each in FOREIGN if each in found[name]["settings"]}
        cluster.ask("PUT", f"/{quote_index(name)}/_settings", {**foreign, "index.hidden": True})
    return faulty


SLICE = 1_000  # records in the answer to one search

IF_AVAILABLE = {"ignore_unavailable": "true"}
# Types of errors of a ledger that is not there, or may not be read.
ABSENT_KINDS = frozenset(("index_not_found_exception", "security_exception"))

Place = tuple[str, str]  # the name next to which a record is stored, and its key

# How servers refuse to sort by a key that is no keyword.
SORT_ERRORS = ("Text fields are not optimised", "No mapping found for [key]", "Fielddata is disabled on")


def read_record(names: IndexNames, ledger: Ledger, key: str) -> RequestFlow[list[Any]]:
    """Read the record with a key next to several indexes; for each index the nearest readable one."""
    docs = yield from find_docs(names.sources, ledger, [key])
    records = {source: stored_record(each, ledger).entry for (source, _), each in docs.items()}
    nearest = {
        next((source for source in names.sources if source in records and names.covers(source, index)), "")
        for index in names.indices or names.asked
    }
    return [records[source] for source in names.sources if source in nearest]


def _search(ledger: Ledger, *searches: tuple[Sequence[str], Clause]) -> RequestFlow[Any]:
    """Search for records next to the names of each; heads name the indexes, for a path may be too short for them."""
    lines: list[Clause] = []
    for sources, body in searches:
        lines += [{"index": [record_index(each, ledger) for each in sources], **ALL_SHARDS, **IF_AVAILABLE}, body]
    return (yield ApiRequest("POST", "/_msearch", lines=lines))["responses"]


def count_records(ledger: Ledger, sources: Sequence[str]) -> RequestFlow[int]:
    (answer,) = yield from _search(ledger, (sources, {"query": all_of({"term": {"ledger": ledger}}), **COUNTED}))
    return total_of(_found(answer))


@dataclass(slots=True)
class Reading:
    """A ledger next to several names that is read in slices, in key order."""

    ledger: Ledger
    sources: Sequence[str]  # the names next to which it looks
    prefix: str = ""  # of the keys
    needed: str = ""  # the name whose records must be readable; others that may not be read are skipped
    after: Sequence[object] | None = None  # sort values of the last record; None before the first slice
    has_ended: bool = False  # whether all was read

    def read(self) -> RequestFlow[list[StoredRecord]]:
        """Read the next slice, as of the last refresh; none where it turns out which names may be read."""
        prefix = [{"prefix": {"key": self.prefix}}] if self.prefix else []
        query = all_of({"term": {"ledger": self.ledger}}, *prefix)
        order = [{"key": "asc"}, {"_index": "asc"}]
        body: Clause = {"query": query, "size": SLICE, "sort": order, "track_total_hits": False}
        body |= {} if self.after is None else {"search_after": self.after}
        (answer,) = yield from _search(self.ledger, (self.sources, body))
        if answer.get("status") != FORBIDDEN:
            hits = hits_of(_found(answer))
            self.has_ended = len(hits) < SLICE
            self.after = hits[-1]["sort"] if hits else None
            return [stored_record(hit, self.ledger) for hit in hits]
        readable: list[str] = []
        if len(self.sources) > 1:
            answers = yield from _search(self.ledger, *(([source], {"size": 0}) for source in self.sources))
            pairs = zip(self.sources, answers, strict=True)
            readable = [source for source, each in pairs if each.get("status") != FORBIDDEN]
        if self.needed and (self.needed not in readable or readable == self.sources):
            raise client.build_failure(FORBIDDEN, answer)
        self.has_ended = not readable or readable == self.sources
        self.sources = readable
        return []


def read_records(names: IndexNames, ledger: Ledger) -> RequestFlow[dict[str, Any]]:
    """Read all readable records next to several indexes, as of the last refresh."""
    reading, records = Reading(ledger, list(names.sources)), list[StoredRecord]()
    while not reading.has_ended:
        records += yield from reading.read()
    return names.own_records(ledger, records)


def _found(answer: Json) -> Json:
    """Return the answer to one search; where the mapping is wrong, the error names the index and the remedy."""
    if answer.get("status") == NOT_FOUND:  # no record index exists
        return {"hits": {"hits": [], "total": {"value": 0}}}
    if "error" not in answer:
        return answer
    failure = client.build_failure(int(answer["status"]), answer)
    error = answer["error"]
    shards = error.get("failed_shards", []) if isinstance(error, Mapping) else []
    if failure.reason.startswith(SORT_ERRORS) and shards:
        raise mapping_error(str(shards[0].get("index", "")))
    raise failure


def find_docs(
    sources: Sequence[str], ledger: Ledger, keys: Collection[str], field_name: str = ""
) -> RequestFlow[dict[Place, Json]]:
    """Read the current documents of some keys, or one of their fields, by place; what cannot be read is omitted."""
    params = {"_source_includes": field_name} if field_name else {}
    found: dict[Place, Json] = {}
    for places in in_slices([(source, key) for key in keys for source in sources], SLICE):
        docs = [{"_index": record_index(source, ledger), "_id": record_id(ledger, key)} for source, key in places]
        answer = yield from client.read_docs(docs, params, ABSENT_KINDS)
        found |= {place: each for place, each in zip(places, answer["docs"], strict=True) if each.get("found")}
    return found


def stored_record(hit: Json, ledger: Ledger) -> StoredRecord:
    """Parse a hit; the key of a document written by another program is that of its id."""
    source = hit.get("_source")
    document = source if isinstance(source, dict) else {}
    key = document.get("key")
    written = key if isinstance(key, str) else hit["_id"].removeprefix(f"{ledger}/")
    return StoredRecord(
        hit["_index"].removeprefix(PREFIX).removesuffix("" if ledger in SHARED else WORK),
        written,
        document.get("entry"),
    )


def record_id(ledger: Ledger, key: str) -> str:
    """Return the id under which a record is stored: ledger and key, or the hash of those that are too long."""
    id_ = f"{ledger}/{key}"
    return id_ if len(id_.encode()) <= MAX_ID_BYTES else f"x:{xxh3_128_hexdigest(id_.encode())}"


def put_in_place(store: "LedgerStore", label: str, ledger: Ledger, entries: Mapping[str, Entry]) -> None:
    """Replace the stored records, so that a delayed request cannot undo a later one."""
    keys = list(entries)
    for _ in range(ATTEMPTS):
        _, states = store.read_states(ledger, keys)
        keys = store.put_onto(ledger, {key: entries[key] for key in keys}, states)
        if not keys:
            return
    raise contention_error(ledger, keys[0], f"{label}: ")


@dataclass(frozen=True, slots=True)
class LedgerStore:
    """The records next to an index; see `Engine` for its methods."""

    cluster: ClusterClient
    names: IndexNames  # the index's names
    made: TtlCache[str, bool] = field(default_factory=TtlCache)  # names whose record indexes were checked of late

    def put(self, ledger: Ledger, entries: Mapping[str, Entry]) -> None:
        # Decisions on the same pairs may be stored under other names of the index.
        replaced = self._places(ledger, entries) if ledger == "overrides" else set[Place]()
        replaced -= set(product([self.names.home], entries))
        if ledger in MANUAL_LEDGERS:
            put_in_place(self, self.cluster.label, ledger, entries)
        else:
            self._write(ledger, [self._action(ledger, key, entry, None, "index") for key, entry in entries.items()])
        self.delete_places(ledger, replaced)
        self._show(ledger, {self.names.home, *(source for source, _ in replaced)})

    def _show(self, ledger: Ledger, sources: Iterable[str]) -> None:
        """Make manual records visible as they are written; others are as they are read."""
        for source in sources if ledger in MANUAL_LEDGERS else ():
            refresh_index(self.cluster, record_index(source, ledger), **IF_AVAILABLE)

    def read_states(self, ledger: Ledger, keys: Sequence[str]) -> tuple[dict[str, Any], dict[str, RecordState]]:
        """Read current records by key, with sequence number and primary term of those that a write replaces."""
        docs = self._find(ledger, keys)
        found = [stored_record(each, ledger) for each in docs.values()]
        states = {key: state_of(each) for (source, key), each in docs.items() if source == self.names.home}
        return self.names.own_records(ledger, found), states

    def put_onto(self, ledger: Ledger, entries: Mapping[str, Entry], states: Mapping[str, RecordState]) -> list[str]:
        """Store records whose stored version has not changed since it was read; returns the keys of the others."""
        actions = [self._action(ledger, key, entry, states.get(key)) for key, entry in entries.items()]
        outcomes = self._write(ledger, actions)
        return [key for key, outcome in zip(entries, outcomes, strict=True) if outcome.status == CONFLICT]

    def replace(self, ledger: Ledger, key: str, entry: Entry, state: RecordState | None) -> RecordState | None:
        """Store one record in place of an earlier state; see `Engine.replace_record`."""
        (outcome,) = self._write(ledger, [self._action(ledger, key, entry, state)])
        if outcome.status != CONFLICT:
            return outcome.place, outcome.term
        entries, states = self.read_states(ledger, [key])  # a write whose answer was lost may have been sent again
        return states.get(key) if entries.get(key) == orjson.loads(orjson.dumps(entry)) else None

    def _action(self, ledger: Ledger, key: str, entry: Entry, state: RecordState | None, verb: str = "") -> Action:
        """Build the action that writes a record in place of a state, by default only there."""
        body = orjson.dumps({"ledger": ledger, "key": key, "entry": entry})
        verb = verb or ("create" if state is None else "index")
        return Action(verb, record_index(self.names.home, ledger), record_id(ledger, key), body, state)

    def _write(self, ledger: Ledger, actions: Sequence[Action]) -> list[client.ActionOutcome]:
        """Write records to a ledger, whose index is created if missing."""
        home = self.names.home
        if self.made.get(home) is None:
            make_missing(self.cluster, home)
            self.made.put(home, value=True)
        outcomes = client.run(self.cluster, actions)
        if refused := [outcome.reason for outcome in outcomes if outcome.reason and outcome.status != CONFLICT]:
            name = record_index(home, ledger)
            what = f"{self.cluster.label}: index {name!r} rejects a record: {refused[0]}"
            raise Permanent(what, "see what is wrong: ibidem doctor")
        return outcomes

    def _places(self, ledger: Ledger, keys: Iterable[str]) -> set[Place]:
        """Find where the records with some keys are stored; keys of decisions contain index names, which may vary."""
        if ledger != "overrides":
            return set(product(self.names.sources, keys))
        wanted = set(keys)
        return {
            (each.source, each.key)
            for each in self._stored(ledger, "")
            if any(key in wanted for key, _ in self.names.own_entries(ledger, each))
        }

    def get(self, ledger: Ledger, prefix: str) -> Iterator[tuple[str, Any]]:
        """Read records in slices; a foreign index without ledgers has none."""
        if ledger not in MANUAL_LEDGERS:  # those are visible as they are written
            home, *others = (record_index(source, ledger) for source in self.names.sources)
            refresh_index(self.cluster, home, **IF_AVAILABLE)
            for batch in in_slices(others, MAX_SOURCES):
                with unless_failure(FORBIDDEN):
                    refresh_index(self.cluster, ",".join(batch), **IF_AVAILABLE)
        records = self._stored(ledger, prefix)
        if ledger == "overrides":  # their keys name indexes, which may change their order
            yield from self.names.own_records(ledger, records).items()
            return
        for _, same in groupby(records, lambda record: record.key):
            yield from self.names.own_records(ledger, same).items()

    def _stored(self, ledger: Ledger, prefix: str) -> Iterator[StoredRecord]:
        reading = Reading(ledger, list(self.names.sources), prefix, self.names.home)
        while not reading.has_ended:
            yield from self.cluster.hold(reading.read())

    def stored(self, ledger: Ledger, keys: Sequence[str]) -> list[StoredRecord]:
        """Read the current records with some keys next to each name."""
        return [stored_record(each, ledger) for each in self._find(ledger, keys).values()]

    def issues(self) -> Iterator[HealthIssue]:
        with unless_failure(FORBIDDEN):
            if count := len(self.misnamed()):
                message = (
                    f"{count} manual {'decision names' if count == 1 else 'decisions name'} an alias, not an index"
                )
                yield HealthIssue("records", f"{message}: the plugin does not follow it", "ibidem doctor --repair")

    def misnamed(self) -> dict[str, Any]:
        """Return the manual decisions that are stored under other names than those of indexes, by their right keys."""
        keys = {each.key for each in self._stored("overrides", "")}
        return {key: entry for key, entry in self.get("overrides", "") if key not in keys}

    def count(self, ledger: Ledger) -> int:
        """Count records, as last made visible by a refresh."""
        return self.cluster.hold(count_records(ledger, self.names.sources))

    def delete(self, ledger: Ledger, keys: Iterable[str]) -> int:
        """Remove records under every name of the index; returns how many existed."""
        deleted = self.delete_places(ledger, self._places(ledger, list(keys)))
        self._show(ledger, {source for source, _ in deleted})
        return len({key for _, key in deleted})

    def delete_places(self, ledger: Ledger, places: Collection[Place]) -> set[Place]:
        """Remove records, as far as they are there, in their current state: no delayed request removes a later one."""
        remaining, deleted = set(places), set[Place]()
        for _ in range(ATTEMPTS):
            found = self._find(ledger, sorted({key for _, key in remaining}), "key")
            docs = {place: each for place, each in found.items() if place in remaining}
            deleted |= self._delete_as_read(ledger, docs)
            remaining = docs.keys() - deleted
            if not remaining:
                return deleted
        raise contention_error(ledger, min(remaining)[1], f"{self.cluster.label}: ")

    def delete_unchanged(self, ledger: Ledger, entries: Mapping[str, Any]) -> int:
        """Remove records that have not changed since they were read, under every index name; returns how many."""
        docs = self._find(ledger, entries)
        same = {place: each for place, each in docs.items() if stored_record(each, ledger).entry == entries[place[1]]}
        return len({key for _, key in self._delete_as_read(ledger, same)})

    def _find(self, ledger: Ledger, keys: Collection[str], field_name: str = "") -> dict[Place, Json]:
        return self.cluster.hold(find_docs(self.names.sources, ledger, keys, field_name))

    def _delete_as_read(self, ledger: Ledger, docs: Mapping[Place, Json]) -> set[Place]:
        """Remove records that have not changed since they were read; returns where they were."""
        actions = [
            Action("delete", record_index(source, ledger), record_id(ledger, key), state=state_of(each))
            for (source, key), each in docs.items()
        ]
        outcomes = client.run(self.cluster, actions)
        return {place for place, each in zip(docs, outcomes, strict=True) if each.status not in (CONFLICT, NOT_FOUND)}
