"""Records next to the index, one small index for each ledger."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from xxhash import xxh3_128_hexdigest

from ibidem_core.errors import NoIndex
from ibidem_engines.cluster.bulk import MISSING, Action, get_many, run
from ibidem_engines.cluster.client import ClusterClient, build_failure
from ibidem_engines.cluster.dsl import ids_query
from ibidem_engines.cluster.index import ledger_name, refresh_index
from ibidem_engines.cursor import KEY, new_key, read_key
from ibidem_engines.engine import Ledger
from ibidem_engines.requests import WHOLE, ApiRequest, RequestFlow
from ibidem_ingest.document import MAX_ID_BYTES

SLICE = 1_000
MAYBE = {"ignore_unavailable": "true"}
THERE = {**WHOLE, **MAYBE}

READ_OFTEN: frozenset[Ledger] = frozenset(("overrides", "presets"))
"""Ledgers that searches read and people write: made visible as they are written, the others as they are read."""


def put_records(
    cluster: ClusterClient, index: str, ledger: Ledger, entries: Mapping[str, Mapping[str, object]]
) -> None:
    """Keep records; see `Engine.put_records`."""
    name = f"{index}-{ledger_name(ledger)}"
    bodies = {key: orjson.dumps({"key": key, "entry": entry}) for key, entry in entries.items()}
    run(cluster, [Action("index", name, _id(key), body) for key, body in bodies.items()])
    if ledger in READ_OFTEN:
        refresh_index(cluster, name, **MAYBE)


def get_records(
    cluster: ClusterClient, index: str, ledger: Ledger, prefix: str
) -> Iterator[tuple[str, dict[str, object]]]:
    """Read records in slices; see `Engine.get_records`. Next to an index of others there are none."""
    name = f"{index}-{ledger_name(ledger)}"
    if ledger not in READ_OFTEN:
        refresh_index(cluster, name, **MAYBE)
    body = _slice({"prefix": {"key": prefix}} if prefix else {"match_all": {}})
    while True:
        hits = cluster.ask("POST", f"/{name}/_search", body, **THERE)["hits"]["hits"]
        yield from ((hit["_source"]["key"], hit["_source"]["entry"]) for hit in hits)
        if len(hits) < SLICE:
            return
        body["search_after"] = hits[-1]["sort"]


def make_cursor_key(cluster: ClusterClient, index: str) -> None:
    """Keep a key of cursors, unless a sound one is there; of several processes the first one writes it."""
    name = f"{index}-{ledger_name('runs')}"
    stored = read(cluster, index, "runs", [KEY])
    if not read_key(stored.get(KEY)):
        body = orjson.dumps({"key": KEY, "entry": new_key()})
        run(cluster, [Action("index" if stored else "create", name, _id(KEY), body)])
        refresh_index(cluster, name)


def first_cursor_key(records: Iterable[Mapping[str, object]]) -> bytes:
    """Return the first sound key among records of several indexes; empty where there is none."""
    return next((key for record in records if (key := read_key(record))), b"")


def read_record(indices: Sequence[str], ledger: Ledger, key: str) -> RequestFlow[list[dict[str, Any]]]:
    """Read the record of one key of each of several indexes, as far as it is there and may be read, as it is now."""
    docs = [{"_index": f"{index}-{ledger_name(ledger)}", "_id": _id(key)} for index in indices]
    answer = yield ApiRequest("POST", "/_mget", body={"docs": docs})
    return [each["_source"]["entry"] for each in answer["docs"] if each.get("found")]


@dataclass(frozen=True, slots=True)
class LedgerQuery:
    """The records of a ledger that are read next to several indexes.

    Args:
        ledger: The ledger.
        key: Key of the only record of each index; empty for all records.
    """

    ledger: Ledger
    key: str = ""

    def lines(self, indices: Sequence[str], search_after: Sequence[object] = ()) -> list[dict[str, Any]]:
        """Write head and body of the search for one slice."""
        head = {"index": [f"{index}-{ledger_name(self.ledger)}" for index in indices], **THERE}
        if self.key:
            by_index = {"sort": [{"_index": "asc"}], "track_total_hits": False}
            return [head, {"query": ids_query([_id(self.key)]), "size": SLICE, **by_index}]
        return [head, _slice({"match_all": {}}) | ({"search_after": search_after} if search_after else {})]


def read_records(indices: Sequence[str], *queries: LedgerQuery) -> RequestFlow[list[list[dict[str, Any]]]]:
    """Read records next to several indexes, as far as they are there and may be read, as they were last visible.

    Args:
        indices: Names of indexes.
        queries: Which records; the first slice of all is read by one request.

    Returns:
        The records of each query, in the order of keys; those of one key in the order of indexes.
    """
    entries: list[list[dict[str, Any]]] = [[] for _ in queries]
    waiting: dict[int, Sequence[object]] = dict.fromkeys(range(len(queries)), ())
    while waiting:
        lines = [line for at, after in waiting.items() for line in queries[at].lines(indices, after)]
        answers = (yield ApiRequest("POST", "/_msearch", lines=lines))["responses"]
        for at, answer in zip(list(waiting), answers, strict=True):
            hits = _read_slice(answer)
            entries[at] += [hit["_source"]["entry"] for hit in hits]
            waiting[at] = hits[-1]["sort"] if len(hits) == SLICE and not queries[at].key else ()
        waiting = {at: after for at, after in waiting.items() if after}
    return entries


def _read_slice(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Read the hits of one search; none where the caller may not read, or nothing is there."""
    if answer.get("status") in (403, MISSING):
        return []
    if "error" in answer:
        raise build_failure(int(answer["status"]), answer)
    hits: list[Mapping[str, Any]] = answer["hits"]["hits"]
    return hits


def get_record(cluster: ClusterClient, index: str, ledger: Ledger, key: str) -> dict[str, object] | None:
    """Read the record of one key; see `Engine.get_record`. No search is brought up to date for it."""
    try:
        return read(cluster, index, ledger, [key]).get(key)
    except NoIndex:  # next to an index of others
        return None


def count(cluster: ClusterClient, index: str, ledger: Ledger) -> int:
    """Count records; see `Engine.count`. Next to an index of others there are none."""
    body = {"size": 0, "track_total_hits": True}
    answer = cluster.ask("POST", f"/{index}-{ledger_name(ledger)}/_search", body, **THERE)
    return int(answer["hits"]["total"]["value"])


def delete_records(cluster: ClusterClient, index: str, ledger: Ledger, keys: Iterable[str]) -> int:
    """Remove records; see `Engine.delete_records`."""
    name = f"{index}-{ledger_name(ledger)}"
    outcomes = run(cluster, [Action("delete", name, _id(key)) for key in dict.fromkeys(keys)])
    if ledger in READ_OFTEN:
        refresh_index(cluster, name, **MAYBE)
    return sum(each.status != MISSING for each in outcomes)


def read(cluster: ClusterClient, index: str, ledger: Ledger, keys: Sequence[str]) -> dict[str, dict[str, object]]:
    """Read records by key, as they are now."""
    documents = get_many(cluster, f"{index}-{ledger_name(ledger)}", [_id(key) for key in keys], "key,entry")
    return {each["_source"]["key"]: each["_source"]["entry"] for each in documents.values()}


def _slice(query: dict[str, Any]) -> dict[str, Any]:
    """Ask for records in the order of keys."""
    return {"query": query, "size": SLICE, "sort": [{"key": "asc"}], "track_total_hits": False}


def _id(key: str) -> str:
    """Return the id under which a record is stored: its key, or the hash of one that is too long for an id."""
    return key if 0 < len(key.encode()) <= MAX_ID_BYTES else f"x:{xxh3_128_hexdigest(key.encode())}"
