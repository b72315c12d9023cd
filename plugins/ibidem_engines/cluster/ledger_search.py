"""Search of ledgers: request flows that read records next to one or several indexes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xxhash import xxh3_128_hexdigest

from ibidem_engines.cluster.bulk import MISSING
from ibidem_engines.cluster.client import build_failure
from ibidem_engines.cluster.dsl import ALL, ids_query
from ibidem_engines.cluster.ledger_index import ledger_index, mapping_error, source_of
from ibidem_engines.cursor import read_key
from ibidem_engines.engine import Ledger
from ibidem_engines.index_names import IndexNames, StoredRecord
from ibidem_engines.requests import WHOLE, ApiRequest, RequestFlow
from ibidem_ingest.document import MAX_ID_BYTES

SLICE = 1_000  # records in the answer to one search

FORBIDDEN = 403
MAYBE = {"ignore_unavailable": "true"}
THERE = {**WHOLE, **MAYBE}
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

    def lines(self, sources: Sequence[str], after: Sequence[object] | None) -> list[dict[str, Any]]:
        """Return header and body of the search for one slice."""
        return _slice_lines(sources, self.ledger, ids_query([record_id(self.key)]) if self.key else ALL, after)


@dataclass(slots=True)
class _Reading:
    """The state of a query that is read in slices."""

    query: LedgerQuery
    sources: Sequence[str]  # the names next to which it looks
    records: list[StoredRecord] = field(default_factory=list)  # what was read
    after: Sequence[object] | None = None  # sort values of the last record; None before the first slice
    has_ended: bool = False  # whether all was read

    def take(self, answer: Mapping[str, Any]) -> RequestFlow[None]:
        """Process the response for the next slice; names that may not be read are skipped."""
        if answer.get("status") == FORBIDDEN:
            several = len(self.sources) > 1
            readable = (yield from readable_sources(self.sources, self.query.ledger)) if several else []
            self.has_ended = not readable or readable == self.sources
            self.sources = readable
            return
        hits = _hits(answer)
        self.records += [stored_record(hit, self.query.ledger) for hit in hits]
        self.has_ended = len(hits) < SLICE
        self.after = hits[-1]["sort"] if hits else None


def read_records(names: IndexNames, *queries: LedgerQuery) -> RequestFlow[list[dict[str, Any]]]:
    """Read all readable records next to several indexes, as of the last refresh."""
    readings = [_Reading(query, list(names.sources)) for query in queries]
    while waiting := [each for each in readings if not each.has_ended]:
        lines = [line for each in waiting for line in each.query.lines(each.sources, each.after)]
        answers = (yield ApiRequest("POST", "/_msearch", lines=lines))["responses"]
        for each, answer in zip(waiting, answers, strict=True):
            yield from each.take(answer)
    return [names.own_records(each.query.ledger, each.records) for each in readings]


def first_cursor_key(entries: Iterable[Any]) -> bytes:
    """Return the first valid key among records; empty if there is none."""
    return next((key for each in entries if isinstance(each, dict) and (key := read_key(each))), b"")


def read_slice(
    sources: Sequence[str], ledger: Ledger, prefix: str, after: Sequence[object] | None
) -> RequestFlow[list[Mapping[str, Any]]]:
    """Read the next records in key order."""
    query = {"prefix": {"key": prefix}} if prefix else ALL
    (answer,) = (yield ApiRequest("POST", "/_msearch", lines=_slice_lines(sources, ledger, query, after)))["responses"]
    return _hits(answer)


def _slice_lines(
    sources: Sequence[str], ledger: Ledger, query: Mapping[str, Any], after: Sequence[object] | None
) -> list[dict[str, Any]]:
    """Build header and body of the search for the next records in key order."""
    head = {"index": [ledger_index(source, ledger) for source in sources], **THERE}
    order = [{"key": "asc"}, {"_index": "asc"}]
    body: dict[str, Any] = {"query": query, "size": SLICE, "sort": order, "track_total_hits": False}
    return [head, body if after is None else body | {"search_after": after}]


def _hits(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Read the hits of one search; none if no ledger exists."""
    if answer.get("status") == MISSING:
        return []
    if "error" in answer:
        raise _search_error(answer)
    hits: list[Mapping[str, Any]] = answer["hits"]["hits"]
    return hits


def readable_sources(sources: Sequence[str], ledger: Ledger) -> RequestFlow[list[str]]:
    """Return the names whose records the user may read, if some may not be read."""
    lines = [line for source in sources for line in ({"index": ledger_index(source, ledger), **THERE}, {"size": 0})]
    answers = (yield ApiRequest("POST", "/_msearch", lines=lines))["responses"]
    return [source for source, each in zip(sources, answers, strict=True) if each.get("status") != FORBIDDEN]


def search_ledger(head: Mapping[str, Any], body: Mapping[str, Any]) -> RequestFlow[Mapping[str, Any] | None]:
    """Search the indexes of a ledger; None if none exists.

    The names are in the body, since an alias may stand for more of them than a path can hold.
    """
    (answer,) = (yield ApiRequest("POST", "/_msearch", lines=[head, body]))["responses"]
    if answer.get("status") == MISSING:
        return None
    if "error" in answer:
        raise _search_error(answer)
    response: Mapping[str, Any] = answer
    return response


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
    docs = [{"_index": ledger_index(source, ledger), "_id": record_id(key)} for key in keys for source in sources]
    params = {"_source_includes": field_name} if field_name else {}
    answer = (yield ApiRequest("POST", "/_mget", params, {"docs": docs}))["docs"]
    for each in answer:
        failure = build_failure(503, each) if "error" in each else None
        if failure is not None and failure.kind not in ABSENT_KINDS:
            raise failure
    found: list[Mapping[str, Any]] = answer
    return found


def stored_record(hit: Mapping[str, Any], ledger: Ledger) -> StoredRecord:
    """Parse a hit; the key of a document written by another program is its id."""
    source = hit.get("_source")
    document = source if isinstance(source, dict) else {}
    key = document.get("key")
    return StoredRecord(
        source_of(hit["_index"], ledger), key if isinstance(key, str) else hit["_id"], document.get("entry")
    )


def record_id(key: str) -> str:
    """Return the id under which a record is stored: its key, or the hash of a key that is too long."""
    return key if 0 < len(key.encode()) <= MAX_ID_BYTES else f"x:{xxh3_128_hexdigest(key.encode())}"
