"""Records next to the index, one small index for each ledger."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from xxhash import xxh3_128_hexdigest

from ibidem_core.errors import NoIndex
from ibidem_engines.cluster.bulk import MISSING, Action, get_many, run
from ibidem_engines.cluster.client import ClusterClient, build_failure
from ibidem_engines.cluster.index import ledger_name, refresh_index
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


def read_record(indices: Sequence[str], ledger: Ledger, key: str) -> RequestFlow[list[dict[str, Any]]]:
    """Read the record of one key of each of several indexes, as far as it is there and may be read, as it is now."""
    docs = [{"_index": f"{index}-{ledger_name(ledger)}", "_id": _id(key)} for index in indices]
    answer = yield ApiRequest("POST", "/_mget", body={"docs": docs})
    return [each["_source"]["entry"] for each in answer["docs"] if each.get("found")]


def read_records(indices: Sequence[str], ledger: Ledger) -> RequestFlow[list[dict[str, Any]]]:
    """Read the records next to several indexes, as far as they are there and may be read, as they were last visible."""
    head = {"index": [f"{index}-{ledger_name(ledger)}" for index in indices], **THERE}
    body = _slice({"match_all": {}})
    entries: list[dict[str, Any]] = []
    while True:
        (answer,) = (yield ApiRequest("POST", "/_msearch", lines=[head, body]))["responses"]
        if answer.get("status") in (403, MISSING):
            return entries
        if "error" in answer:
            raise build_failure(int(answer["status"]), answer)
        hits = answer["hits"]["hits"]
        entries += [hit["_source"]["entry"] for hit in hits]
        if len(hits) < SLICE:
            return entries
        body = {**body, "search_after": hits[-1]["sort"]}


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
