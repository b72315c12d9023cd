"""Records next to the index, one small index for each ledger."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import orjson
from xxhash import xxh3_128_hexdigest

from ibidem_core.errors import Permanent
from ibidem_engines.cluster.bulk import CONFLICT, MISSING, Action, ActionOutcome, run
from ibidem_engines.cluster.client import ClusterClient, build_failure
from ibidem_engines.cluster.dsl import ALL, ids_query
from ibidem_engines.cluster.index import is_failure, refresh_index
from ibidem_engines.cluster.ledger_index import LEDGERS, ledger_index, make_missing, mapping_error, repair, source_of
from ibidem_engines.cursor import KEY, new_key, read_key
from ibidem_engines.engine import HealthIssue, Ledger
from ibidem_engines.index_names import IndexNames, StoredRecord
from ibidem_engines.requests import WHOLE, ApiRequest, RequestFlow
from ibidem_engines.ttl_cache import TtlCache
from ibidem_ingest.document import MAX_ID_BYTES

SLICE = 1_000
FORBIDDEN = 403
MAYBE = {"ignore_unavailable": "true"}
THERE = {**WHOLE, **MAYBE}
NAMES_AT_ONCE = 25
"""Indexes in the path of one request."""

READ_OFTEN: frozenset[Ledger] = frozenset(("overrides", "presets"))
"""Ledgers that searches read and people write: made visible as they are written, the others as they are read."""

PASSED_OVER = frozenset(("index_not_found_exception", "security_exception"))
"""Types of errors of a ledger that is not there, or may not be read."""

UNORDERED = ("Text fields are not optimised", "No mapping found for [key]", "Fielddata is disabled on")
"""How servers refuse to sort by a key that is no keyword."""


@dataclass(frozen=True, slots=True)
class LedgerStore:
    """The records next to an index; see `Engine` for what each method promises.

    Args:
        cluster: The cluster.
        names: The index's names.
        made: Indexes of ledgers that were found with their mapping of late.
    """

    cluster: ClusterClient
    names: IndexNames
    made: TtlCache[str, bool] = field(default_factory=TtlCache)

    def create(self) -> None:
        """Make all ledgers."""
        make_missing(self.cluster, [ledger_index(self.names.home, ledger) for ledger in LEDGERS])

    def make_cursor_key(self) -> None:
        """Keep a key of cursors, unless a sound one is there; of several processes the first one writes it."""
        stored = self.get_key("runs", KEY)
        if not first_cursor_key([stored]):
            name = ledger_index(self.names.home, "runs")
            make_missing(self.cluster, [name])
            body = orjson.dumps({"key": KEY, "entry": new_key()})
            run(self.cluster, [Action("create" if stored is None else "index", name, _id(KEY), body)])
            refresh_index(self.cluster, name)

    def put(self, ledger: Ledger, entries: Mapping[str, Mapping[str, object]]) -> None:
        """Keep records.

        Raises:
            Permanent: The ledger has another mapping, or does not take a record.
        """
        replaced = self._replaced(ledger, entries)
        name = ledger_index(self.names.home, ledger)
        actions = [Action("index", name, _id(key), _as_body(key, entry)) for key, entry in entries.items()]
        self._write(ledger, [*actions, *replaced])
        if ledger in READ_OFTEN:
            for each in {name, *(action.index for action in replaced)}:
                refresh_index(self.cluster, each, **MAYBE)

    def states(self, ledger: Ledger, keys: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Read sequence number and primary term of the records of some keys; where there is none, it is left out."""
        docs = self.cluster.hold(_get_docs([self.names.home], ledger, keys, "key")) if keys else []
        return {
            key: (each["_seq_no"], each["_primary_term"])
            for key, each in zip(keys, docs, strict=True)
            if each.get("found")
        }

    def put_onto(
        self,
        ledger: Ledger,
        entries: Mapping[str, Mapping[str, object]],
        states: Mapping[str, tuple[int, int]],
    ) -> list[str]:
        """Store records whose stored state has not changed since it was read.

        Args:
            ledger: Their ledger.
            entries: The records by key.
            states: What `states` read.

        Returns:
            The keys of those that others have written since.

        Raises:
            Permanent: As in `put`.
        """
        name = ledger_index(self.names.home, ledger)
        actions = [
            Action("index" if key in states else "create", name, _id(key), _as_body(key, entry), states.get(key))
            for key, entry in entries.items()
        ]
        outcomes = self._write(ledger, actions)
        return [key for key, outcome in zip(entries, outcomes, strict=True) if outcome.status == CONFLICT]

    def _write(self, ledger: Ledger, actions: Sequence[Action]) -> list[ActionOutcome]:
        """Write records to a ledger, which is made where it is missing."""
        name = ledger_index(self.names.home, ledger)
        if self.made.get(name) is None:
            make_missing(self.cluster, [name])
            self.made.put(name, value=True)
        outcomes = run(self.cluster, actions)
        if refused := [outcome.reason for outcome in outcomes if outcome.reason and outcome.status != CONFLICT]:
            raise Permanent(f"{self.cluster.label}: index {name!r} does not take a record: {refused[0]}")
        if any(outcome.place == 0 for outcome in outcomes):  # the first write: others may have removed the ledger since
            repair(self.cluster, [self.names.home])
        return outcomes

    def _replaced(self, ledger: Ledger, keys: Iterable[str]) -> list[Action]:
        """Remove decisions on the same pairs that are stored under other names of the index."""
        if ledger != "overrides":
            return []
        wanted = set(keys)
        home = self.names.home
        return [
            self._deletion(ledger, each)
            for each in self._stored(ledger, "")
            if self.names.raw_keys(ledger, wanted, [each]) and not (each.source == home and each.key in wanted)
        ]

    def get(self, ledger: Ledger, prefix: str) -> Iterator[tuple[str, Any]]:
        """Read records in slices. Next to an index of others there are none."""
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
                hits = self.cluster.hold(_read_slice(sources, ledger, prefix, after))
            except Permanent as error:
                readable = self._readable(sources, ledger) if is_failure(error, FORBIDDEN) else sources
                if self.names.home not in readable or readable == sources:
                    raise
                sources = readable
                continue
            yield from (_stored_record(hit, ledger) for hit in hits)
            if len(hits) < SLICE:
                return
            after = hits[-1]["sort"]

    def _readable(self, sources: Sequence[str], ledger: Ledger) -> list[str]:
        return self.cluster.hold(_readable_sources(sources, ledger))

    def get_key(self, ledger: Ledger, key: str) -> Any:
        """Read the record of one key; None where there is none. No search is brought up to date for it."""
        return self.get_keys(ledger, [key]).get(key)

    def get_keys(self, ledger: Ledger, keys: Sequence[str]) -> dict[str, Any]:
        """Read records by key, as they are now."""
        records = self.cluster.hold(_read_keys(self.names.sources, ledger, keys)) if keys else []
        return self.names.own_records(ledger, records)

    def stored(self, ledger: Ledger, keys: Sequence[str]) -> list[StoredRecord]:
        """Read the records of some keys next to each name, as they are now."""
        return self.cluster.hold(_read_keys(self.names.sources, ledger, keys))

    def remove(self, ledger: Ledger, records: Sequence[StoredRecord]) -> None:
        """Remove records next to the names that they are stored under; those that are not there are passed over."""
        run(self.cluster, [self._deletion(ledger, each) for each in records])

    def issues(self) -> Iterator[HealthIssue]:
        """Yield what is wrong with the names in records."""
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
        """Store manual decisions under the own names of indexes; returns their keys."""
        misnamed = self._misnamed()
        if misnamed:
            self.put("overrides", misnamed)
        return sorted(misnamed)

    def _misnamed(self) -> dict[str, Any]:
        keys = {each.key for each in self._stored("overrides", "")}
        return {key: entry for key, entry in self.get("overrides", "") if key not in keys}

    def count(self, ledger: Ledger) -> int:
        """Count records, as they were last visible."""
        head = {"index": [ledger_index(source, ledger) for source in self.names.sources], **THERE}
        body = {"size": 0, "track_total_hits": True}
        answer = self.cluster.hold(_search(head, body))
        return int(answer["hits"]["total"]["value"]) if answer else 0

    def delete(self, ledger: Ledger, keys: Iterable[str]) -> int:
        """Remove records under every name of the index; returns how many were there."""
        wanted = list(dict.fromkeys(keys))
        if ledger == "overrides":
            stored = [each for each in self._stored(ledger, "") if self.names.raw_keys(ledger, wanted, [each])]
        else:
            parts = [wanted[start : start + SLICE] for start in range(0, len(wanted), SLICE)]
            flows = (_read_keys(self.names.sources, ledger, part, only_keys=True) for part in parts)
            stored = [each for flow in flows for each in self.cluster.hold(flow)]
        outcomes = run(self.cluster, [self._deletion(ledger, each) for each in stored])
        if ledger in READ_OFTEN:
            for source in {each.source for each in stored}:
                refresh_index(self.cluster, ledger_index(source, ledger), **MAYBE)
        return len({each.key for each, outcome in zip(stored, outcomes, strict=True) if outcome.status != MISSING})

    def _deletion(self, ledger: Ledger, record: StoredRecord) -> Action:
        return Action("delete", ledger_index(record.source, ledger), _id(record.key))

    def _refresh(self, ledger: Ledger) -> None:
        """Make all records visible, as far as the user may read those under other names of the index."""
        home, *others = (ledger_index(source, ledger) for source in self.names.sources)
        refresh_index(self.cluster, home, **MAYBE)
        for start in range(0, len(others), NAMES_AT_ONCE):
            try:
                refresh_index(self.cluster, ",".join(others[start : start + NAMES_AT_ONCE]), **MAYBE)
            except Permanent as error:
                if not is_failure(error, FORBIDDEN):
                    raise


def read_record(names: IndexNames, ledger: Ledger, key: str) -> RequestFlow[list[Any]]:
    """Read the record of one key next to several indexes, as far as it may be read: for each index the nearest one."""
    records = {each.source: each.entry for each in (yield from _read_keys(names.sources, ledger, [key]))}
    nearest = {
        next((source for source in names.sources if source in records and names.covers(source, index)), "")
        for index in names.indices or names.asked
    }
    return [records[source] for source in names.sources if source in nearest]


@dataclass(frozen=True, slots=True)
class LedgerQuery:
    """The records of a ledger that are read next to several indexes.

    Args:
        ledger: The ledger.
        key: Key of the only record of each index; empty for all records.
    """

    ledger: Ledger
    key: str = ""

    def lines(self, sources: Sequence[str], after: Sequence[object] | None) -> list[dict[str, Any]]:
        """Write head and body of the search for one slice."""
        return _slice_lines(sources, self.ledger, ids_query([_id(self.key)]) if self.key else ALL, after)


@dataclass(slots=True)
class _Reading:
    """A query that is read slice by slice.

    Args:
        query: The query.
        sources: The names next to which it looks.
        records: What was read.
        after: Sort values of the last record; None before the first slice.
        has_ended: Whether all was read.
    """

    query: LedgerQuery
    sources: Sequence[str]
    records: list[StoredRecord] = field(default_factory=list)
    after: Sequence[object] | None = None
    has_ended: bool = False

    def take(self, answer: Mapping[str, Any]) -> RequestFlow[None]:
        """Take the answer to the next slice; names that may not be read are left out."""
        if answer.get("status") == FORBIDDEN:
            several = len(self.sources) > 1
            readable = (yield from _readable_sources(self.sources, self.query.ledger)) if several else []
            self.has_ended = not readable or readable == self.sources
            self.sources = readable
            return
        hits = _hits(answer)
        self.records += [_stored_record(hit, self.query.ledger) for hit in hits]
        self.has_ended = len(hits) < SLICE
        self.after = hits[-1]["sort"] if hits else None


def read_records(names: IndexNames, *queries: LedgerQuery) -> RequestFlow[list[dict[str, Any]]]:
    """Read records next to several indexes, as far as they may be read, as they were last visible.

    Args:
        names: The names of the indexes.
        queries: Which records; the first slice of all is read by one request.

    Returns:
        The records of each query, by key.
    """
    readings = [_Reading(query, list(names.sources)) for query in queries]
    while waiting := [each for each in readings if not each.has_ended]:
        lines = [line for each in waiting for line in each.query.lines(each.sources, each.after)]
        answers = (yield ApiRequest("POST", "/_msearch", lines=lines))["responses"]
        for each, answer in zip(waiting, answers, strict=True):
            yield from each.take(answer)
    return [names.own_records(each.query.ledger, each.records) for each in readings]


def first_cursor_key(entries: Iterable[Any]) -> bytes:
    """Return the first sound key among records; empty where there is none."""
    return next((key for each in entries if isinstance(each, dict) and (key := read_key(each))), b"")


def _read_slice(
    sources: Sequence[str], ledger: Ledger, prefix: str, after: Sequence[object] | None
) -> RequestFlow[list[Mapping[str, Any]]]:
    """Read the next records in the order of keys."""
    query = {"prefix": {"key": prefix}} if prefix else ALL
    (answer,) = (yield ApiRequest("POST", "/_msearch", lines=_slice_lines(sources, ledger, query, after)))["responses"]
    return _hits(answer)


def _slice_lines(
    sources: Sequence[str], ledger: Ledger, query: Mapping[str, Any], after: Sequence[object] | None
) -> list[dict[str, Any]]:
    """Write head and body of the search for the next records in the order of keys."""
    head = {"index": [ledger_index(source, ledger) for source in sources], **THERE}
    order = [{"key": "asc"}, {"_index": "asc"}]
    body: dict[str, Any] = {"query": query, "size": SLICE, "sort": order, "track_total_hits": False}
    return [head, body if after is None else body | {"search_after": after}]


def _hits(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Read the hits of one search; none where no ledger is there."""
    if answer.get("status") == MISSING:
        return []
    if "error" in answer:
        raise _search_error(answer)
    hits: list[Mapping[str, Any]] = answer["hits"]["hits"]
    return hits


def _readable_sources(sources: Sequence[str], ledger: Ledger) -> RequestFlow[list[str]]:
    """Return the names whose records the user may read, where one of several may not be read."""
    lines = [line for source in sources for line in ({"index": ledger_index(source, ledger), **THERE}, {"size": 0})]
    answers = (yield ApiRequest("POST", "/_msearch", lines=lines))["responses"]
    return [source for source, each in zip(sources, answers, strict=True) if each.get("status") != FORBIDDEN]


def _search(head: Mapping[str, Any], body: Mapping[str, Any]) -> RequestFlow[Mapping[str, Any] | None]:
    """Search the indexes of a ledger; None where none is there.

    The names are in the body, since an alias may stand for more of them than a path can hold.
    """
    (answer,) = (yield ApiRequest("POST", "/_msearch", lines=[head, body]))["responses"]
    if answer.get("status") == MISSING:
        return None
    if "error" in answer:
        raise _search_error(answer)
    found: Mapping[str, Any] = answer
    return found


def _search_error(answer: Mapping[str, Any]) -> Exception:
    """Make the error of a search among records; one for a wrong mapping names the index and the remedy."""
    failure = build_failure(int(answer["status"]), answer)
    error = answer["error"]
    shards = error.get("failed_shards", []) if isinstance(error, Mapping) else []
    if failure.reason.startswith(UNORDERED) and shards:
        return mapping_error(str(shards[0].get("index", "")))
    return failure


def _read_keys(
    sources: Sequence[str], ledger: Ledger, keys: Sequence[str], *, only_keys: bool = False
) -> RequestFlow[list[StoredRecord]]:
    """Read the records of some keys under each name, as they are now, as far as they are there and may be read."""
    docs = yield from _get_docs(sources, ledger, keys, "key" if only_keys else "")
    return [_stored_record(each, ledger) for each in docs if each.get("found")]


def _get_docs(
    sources: Sequence[str], ledger: Ledger, keys: Sequence[str], field_name: str
) -> RequestFlow[list[Mapping[str, Any]]]:
    """Read the documents of some keys, or only a field of them, under each name; for each what is there or is not."""
    docs = [{"_index": ledger_index(source, ledger), "_id": _id(key)} for key in keys for source in sources]
    params = {"_source_includes": field_name} if field_name else {}
    answer = (yield ApiRequest("POST", "/_mget", params, {"docs": docs}))["docs"]
    for each in answer:
        failure = build_failure(503, each) if "error" in each else None
        if failure is not None and failure.kind not in PASSED_OVER:
            raise failure
    found: list[Mapping[str, Any]] = answer
    return found


def _stored_record(hit: Mapping[str, Any], ledger: Ledger) -> StoredRecord:
    """Read a hit; a document that another program has written has its id for a key."""
    source = hit.get("_source")
    document = source if isinstance(source, dict) else {}
    key = document.get("key")
    return StoredRecord(
        source_of(hit["_index"], ledger), key if isinstance(key, str) else hit["_id"], document.get("entry")
    )


def _as_body(key: str, entry: Mapping[str, object]) -> bytes:
    return orjson.dumps({"key": key, "entry": entry})


def _id(key: str) -> str:
    """Return the id under which a record is stored: its key, or the hash of one that is too long for an id."""
    return key if 0 < len(key.encode()) <= MAX_ID_BYTES else f"x:{xxh3_128_hexdigest(key.encode())}"
