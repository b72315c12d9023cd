"""Search of ledgers: request flows that read records next to one or several indexes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xxhash import xxh3_128_hexdigest

from ibidem_engines.cluster.bulk import MISSING
from ibidem_engines.cluster.client import build_failure
from ibidem_engines.cluster.dsl import Clause, ids_query
from ibidem_engines.cluster.record_index import mapping_error, record_index, source_of
from ibidem_engines.cursor import read_key
from ibidem_engines.requests import WHOLE, ApiRequest, RequestFlow
from ibidem_engines.stored_groups import IndexNames, Ledger, StoredRecord
from ibidem_ingest.document import MAX_ID_BYTES

SLICE = 1_000  # records in the answer to one search

FORBIDDEN = 403
MAYBE = {"ignore_unavailable": "true"}
THERE = {**WHOLE, **MAYBE}
NOTHING: Mapping[str, Any] = {"hits": {"hits": [], "total": {"value": 0}}}
# Types of errors of a ledger that is not there, or may not be read.
ABSENT_KINDS = frozenset(("index_not_found_exception", "security_exception"))

# How servers refuse to sort by a key that is no keyword.
UNORDERED = ("Text fields are not optimised", "No mapping found for [key]", "Fielddata is disabled on")


def read_record(names: IndexNames, ledger: Ledger, key: str) -> RequestFlow[list[Any]]:
    """Read the record with a key next to several indexes; for each index the nearest readable one."""
    records = {each.source: each.entry for each in (yield from read_keys(names.sources, ledger, [key]))}
    nearest = {
        next((source for source in names.sources if source in records and names.covers(source, index)), "")
        for index in names.indices or names.asked
    }
    return [records[source] for source in names.sources if source in nearest]


@dataclass(frozen=True, slots=True)
class LedgerQuery:
    """A query for the records of a ledger next to several indexes."""

    ledger: Ledger
    key: str = ""  # key of the only record of each index; empty for all records
    prefix: str = ""  # of the keys

    def clause(self) -> Clause:
        """Return the query that finds the records."""
        prefix = [{"prefix": {"key": self.prefix}}] if self.prefix else []
        ids = [ids_query([record_id(self.ledger, self.key)])] if self.key else []
        return {"bool": {"filter": [{"term": {"ledger": self.ledger}}, *prefix, *ids]}}

    def head(self, sources: Sequence[str]) -> dict[str, Any]:
        """Return the head of a search, which names the indexes: a path may be too short for those of an alias."""
        return {"index": [record_index(source, self.ledger) for source in sources], **THERE}

    def count(self, sources: Sequence[str]) -> RequestFlow[int]:
        """Count records, as last made visible by a refresh."""
        body = {"query": self.clause(), "size": 0, "track_total_hits": True}
        (answer,) = (yield ApiRequest("POST", "/_msearch", lines=[self.head(sources), body]))["responses"]
        return int((_found(answer) or NOTHING)["hits"]["total"]["value"])


@dataclass(slots=True)
class Reading:
    """The state of a query that is read in slices."""

    query: LedgerQuery
    sources: Sequence[str]  # the names next to which it looks
    needed: str = ""  # the name whose records must be readable; others that may not be read are skipped
    records: list[StoredRecord] = field(default_factory=list)  # what was read
    after: Sequence[object] | None = None  # sort values of the last record; None before the first slice
    has_ended: bool = False  # whether all was read

    def lines(self) -> list[Mapping[str, Any]]:
        """Return head and body of the search for the next records in key order."""
        order = [{"key": "asc"}, {"_index": "asc"}]
        body = {"query": self.query.clause(), "size": SLICE, "sort": order, "track_total_hits": False}
        return [self.query.head(self.sources), body if self.after is None else body | {"search_after": self.after}]

    def take(self, answer: Mapping[str, Any]) -> RequestFlow[None]:
        """Process the response for the next slice."""
        if answer.get("status") == FORBIDDEN:
            several = len(self.sources) > 1
            readable = (yield from _readable_sources(self.sources, self.query.ledger)) if several else []
            if self.needed and (self.needed not in readable or readable == self.sources):
                raise build_failure(FORBIDDEN, answer)
            self.has_ended = not readable or readable == self.sources
            self.sources = readable
            return
        hits = (_found(answer) or NOTHING)["hits"]["hits"]
        self.records += [stored_record(hit, self.query.ledger) for hit in hits]
        self.has_ended = len(hits) < SLICE
        self.after = hits[-1]["sort"] if hits else None


def read_slices(readings: Sequence[Reading]) -> RequestFlow[None]:
    """Read the next slice of each query, in one request."""
    lines = [line for each in readings for line in each.lines()]
    answers = (yield ApiRequest("POST", "/_msearch", lines=lines))["responses"]
    for each, answer in zip(readings, answers, strict=True):
        yield from each.take(answer)


def read_records(names: IndexNames, *queries: LedgerQuery) -> RequestFlow[list[dict[str, Any]]]:
    """Read all readable records next to several indexes, as of the last refresh."""
    readings = [Reading(query, list(names.sources)) for query in queries]
    while waiting := [each for each in readings if not each.has_ended]:
        yield from read_slices(waiting)
    return [names.own_records(each.query.ledger, each.records) for each in readings]


def first_cursor_key(entries: Iterable[Any]) -> bytes:
    """Return the first valid key among records; empty if there is none."""
    return next((key for each in entries if isinstance(each, dict) and (key := read_key(each))), b"")


def _readable_sources(sources: Sequence[str], ledger: Ledger) -> RequestFlow[list[str]]:
    """Return the names whose records the user may read, if some may not be read."""
    lines = [line for source in sources for line in (LedgerQuery(ledger).head([source]), {"size": 0})]
    answers = (yield ApiRequest("POST", "/_msearch", lines=lines))["responses"]
    return [source for source, each in zip(sources, answers, strict=True) if each.get("status") != FORBIDDEN]


def _found(answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the answer to one search; None if no record index exists."""
    if answer.get("status") == MISSING:
        return None
    if "error" in answer:
        raise _search_error(answer)
    return answer


def _search_error(answer: Mapping[str, Any]) -> Exception:
    """Create the error of a search for records; for a wrong mapping it names the index and the remedy."""
    failure = build_failure(int(answer["status"]), answer)
    error = answer["error"]
    shards = error.get("failed_shards", []) if isinstance(error, Mapping) else []
    if failure.reason.startswith(UNORDERED) and shards:
        return mapping_error(str(shards[0].get("index", "")))
    return failure


def read_keys(sources: Sequence[str], ledger: Ledger, keys: Sequence[str]) -> RequestFlow[list[StoredRecord]]:
    """Read the current records of some keys under each name, if they exist and are readable."""
    docs = yield from get_docs(sources, ledger, keys, "")
    return [stored_record(each, ledger) for each in docs if each.get("found")]


def get_docs(
    sources: Sequence[str], ledger: Ledger, keys: Sequence[str], field_name: str
) -> RequestFlow[list[Mapping[str, Any]]]:
    """Read the documents of some keys, or one of their fields, under each name, including missing ones."""
    docs = [
        {"_index": record_index(source, ledger), "_id": record_id(ledger, key)} for key in keys for source in sources
    ]
    params = {"_source_includes": field_name} if field_name else {}
    answer = (yield ApiRequest("POST", "/_mget", params, {"docs": docs}))["docs"]
    for each in answer:
        failure = build_failure(503, each) if "error" in each else None
        if failure is not None and failure.kind not in ABSENT_KINDS:
            raise failure
    found: list[Mapping[str, Any]] = answer
    return found


def stored_record(hit: Mapping[str, Any], ledger: Ledger) -> StoredRecord:
    """Parse a hit; the key of a document written by another program is that of its id."""
    source = hit.get("_source")
    document = source if isinstance(source, dict) else {}
    key = document.get("key")
    written = key if isinstance(key, str) else hit["_id"].removeprefix(f"{ledger}/")
    return StoredRecord(source_of(hit["_index"], ledger), written, document.get("entry"))


def record_id(ledger: Ledger, key: str) -> str:
    """Return the id under which a record is stored: ledger and key, or the hash of those that are too long."""
    id_ = f"{ledger}/{key}"
    return id_ if len(id_.encode()) <= MAX_ID_BYTES else f"x:{xxh3_128_hexdigest(id_.encode())}"
