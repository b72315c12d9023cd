"""Index of a ledger: created with its mapping before the first record, checked, and rebuilt if its mapping is wrong."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

import orjson

from ibidem_core.errors import Permanent
from ibidem_engines.cluster.bulk import CONFLICT, Action, run
from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.cluster.index import is_failure, make, refresh_index
from ibidem_engines.engine import HealthIssue, Ledger
from ibidem_engines.requests import WHOLE, quote_index
from ibidem_mappings import load

VERSION = "1"
LEDGERS: tuple[Ledger, ...] = get_args(Ledger)
REMEDY = "rebuild it, with its records, by: ibidem doctor --repair"
AWAY = {"ignore_unavailable": "true", "expand_wildcards": "all"}
SLICE = 100
KEEP_ALIVE = "5m"
KEPT = "nothing was removed; move that record elsewhere, and repair again"
COPY = "-copy"  # behind the name of a ledger's index: its records while it is rebuilt


def ledger_index(source: str, ledger: str) -> str:
    """Return the index of a ledger."""
    return f"{source}-ibidem-{ledger}"


def source_of(index: str, ledger: Ledger) -> str:
    """Return the index or alias of a ledger's index."""
    return index.removesuffix(ledger_index("", ledger))


def mapping_error(index: str) -> Permanent:
    """Return the error of a ledger whose records cannot be read in order."""
    return Permanent(f"index {index!r}, which holds records of ibidem, has another mapping than ibidem's", REMEDY)


def make_missing(cluster: ClusterClient, indices: Iterable[str]) -> None:
    """Create the missing indexes of ledgers."""
    names = list(indices)
    mappings = read_mappings(cluster, names)
    for name in names:
        if mappings is not None and name not in mappings:
            make(cluster, name, template())
        elif mappings is not None and not is_sound(mappings[name]):
            raise mapping_error(name)


def read_mappings(cluster: ClusterClient, indices: Iterable[str]) -> dict[str, Mapping[str, Any]] | None:
    """Read the mappings of existing ledgers; None if the user may not read them."""
    path = f"/{quote_index(','.join(indices))}/_mapping"
    try:
        answer = cluster.ask("GET", path, None, **AWAY)
    except Permanent as error:
        if is_failure(error, 404):
            return {}
        if is_failure(error, 403):
            return None
        raise
    return {name: each.get("mappings", {}) for name, each in answer.items()}


def is_sound(mapping: Mapping[str, Any]) -> bool:
    """Return whether a ledger's records can be read in key order, whatever they contain."""
    properties = mapping.get("properties", {})
    key, entry = properties.get("key", {}), properties.get("entry", {})
    return (
        key.get("type") == "keyword"
        and "ignore_above" not in key
        and entry.get("enabled") is False
        and str(mapping.get("dynamic")).lower() == "false"
    )


def template() -> dict[str, Any]:
    """Load settings and mapping of a ledger's index."""
    body: dict[str, Any] = orjson.loads(load(f"ledger.v{VERSION}.json"))
    return body


def issues(cluster: ClusterClient, sources: Iterable[str]) -> Iterator[HealthIssue]:
    """Yield the ledgers whose records cannot be read in order."""
    for name in wrong_indices(cluster, sources):
        error = mapping_error(name)
        yield HealthIssue("records", error.what, error.remedy, stops=True)


def wrong_indices(cluster: ClusterClient, sources: Iterable[str]) -> list[str]:
    """List the ledgers with a wrong mapping, and those whose rebuild was interrupted."""
    names = [ledger_index(source, ledger) for source in sources for ledger in LEDGERS]
    mappings = read_mappings(cluster, [*names, *(f"{name}{COPY}" for name in names)]) or {}
    return [
        name for name in names if f"{name}{COPY}" in mappings or (name in mappings and not is_sound(mappings[name]))
    ]


def repair(cluster: ClusterClient, sources: Iterable[str]) -> list[str]:
    """Rebuild the ledgers that have another mapping, with their records; returns their names.

    Each is copied, made again and filled from the copy, while nobody can write to the first one; where that was
    interrupted, the next call goes on.
    """
    wrong = wrong_indices(cluster, sources)
    for name in wrong:
        mappings = read_mappings(cluster, [name]) or {}
        if name in mappings and not is_sound(mappings[name]):
            _copy_away(cluster, name)
        make_missing(cluster, [name])
        _copy(cluster, f"{name}{COPY}", name)
        cluster.ask("DELETE", f"/{quote_index(name + COPY)}")
    return wrong


def _copy_away(cluster: ClusterClient, name: str) -> None:
    """Copy a ledger, and delete it once the copy is complete."""
    cluster.ask("PUT", f"/{quote_index(name)}/_settings", {"index.blocks.write": True})
    try:
        make_missing(cluster, [f"{name}{COPY}"])
        _copy(cluster, name, f"{name}{COPY}")
    except BaseException:
        cluster.ask("PUT", f"/{quote_index(name)}/_settings", {"index.blocks.write": None})
        raise
    cluster.ask("DELETE", f"/{quote_index(name)}")


def _copy(cluster: ClusterClient, source: str, target: str) -> None:
    """Copy the records of an index into another; existing records are newer and are kept."""
    refresh_index(cluster, source)
    for hits in _slices(cluster, source):
        actions = [Action("create", target, hit["_id"], orjson.dumps(hit["_source"])) for hit in hits]
        for action, outcome in zip(actions, run(cluster, actions), strict=True):
            if outcome.reason and outcome.status != CONFLICT:
                raise Permanent(f"record {action.id!r} of {source!r} cannot be copied: {outcome.reason}", KEPT)
    refresh_index(cluster, target)


def _slices(cluster: ClusterClient, index: str) -> Iterator[list[Mapping[str, Any]]]:
    """Read all documents of an index, whatever its mapping."""
    answer = cluster.ask("POST", f"/{quote_index(index)}/_search", {"size": SLICE}, scroll=KEEP_ALIVE, **WHOLE)
    while hits := answer["hits"]["hits"]:
        yield hits
        answer = cluster.ask("POST", "/_search/scroll", {"scroll": KEEP_ALIVE, "scroll_id": answer["_scroll_id"]})
    cluster.ask("DELETE", "/_search/scroll", {"scroll_id": [answer["_scroll_id"]]})


def drop(cluster: ClusterClient, sources: Iterable[str]) -> None:
    """Remove the ledgers next to indexes and aliases."""
    for source in sources:
        for ledger in LEDGERS:
            cluster.ask("DELETE", f"/{quote_index(ledger_index(source, ledger))}", ignore_unavailable="true")
