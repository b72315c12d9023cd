"""The two hidden indexes of records that every index has, out of reach of the templates of others.

`.ibidem-NAME` holds what searches read, `.ibidem-NAME-work` the rest. A template for `*` is not applied to a hidden
index. A template for `.*` or `*-news` would be, so one of ibidem's own has a higher priority for `.ibidem-*`; it also
gives the mapping to an index that a server creates for a late write. Without the right to store templates, what others
gave to a new index is removed, or the index is refused.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from ibidem_core.errors import Permanent
from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.cluster.index import is_failure, make
from ibidem_engines.engine import HealthIssue
from ibidem_engines.requests import quote_index
from ibidem_engines.stored_groups import MANUAL_LEDGERS, Ledger
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
    """Return the index of a ledger, next to an index or alias."""
    return f"{PREFIX}{source}" if ledger in SHARED else f"{PREFIX}{source}{WORK}"


def record_indices(sources: Iterable[str]) -> list[str]:
    """Return both record indexes of each name."""
    return [index for source in sources for index in (f"{PREFIX}{source}", f"{PREFIX}{source}{WORK}")]


def source_of(index: str, ledger: Ledger) -> str:
    """Return the index or alias of a record index."""
    return index.removeprefix(PREFIX).removesuffix("" if ledger in SHARED else WORK)


def mapping_error(index: str) -> Permanent:
    """Return the error of an index whose records cannot be read in order."""
    return Permanent(
        f"index {index!r}, which holds records of ibidem, has another mapping than ibidem's",
        f"delete it with its records (DELETE /{index}): the server created it for a late write, without {TEMPLATE}",
    )


def template() -> dict[str, Any]:
    """Load settings and mapping of a record index."""
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
        _unless_forbidden(lambda: cluster.ask("PUT", f"/_index_template/{TEMPLATE}", body))
        for name in missing:
            _unless_forbidden(lambda name=name: _make(cluster, name))  # type: ignore[misc]
        repair(cluster, missing)
        found = _read(cluster, names)
    for name in found or {}:
        if fault := fault_of(name, (found or {})[name]):
            raise fault


def _unless_forbidden(ask: Callable[[], object]) -> None:
    """Do what an account may lack the right for; the write that needs it says so."""
    try:
        ask()
    except Permanent as error:
        if not is_failure(error, 403):
            raise


def _make(cluster: ClusterClient, name: str) -> None:
    try:
        make(cluster, name, template())
    except Permanent as error:
        if "creates data streams only" not in error.what:
            raise
        raise Permanent(error.what, EXCLUDE) from error


def _read(cluster: ClusterClient, names: Sequence[str]) -> dict[str, Any] | None:
    """Read the metadata of existing indexes; None if the user may not read it."""
    params = {"ignore_unavailable": "true", "expand_wildcards": "all", "flat_settings": "true"}
    try:
        return dict(cluster.ask("GET", f"/{quote_index(','.join(names))}", **params))
    except Permanent as error:
        if is_failure(error, 404):
            return {}
        if is_failure(error, 403):
            return None
        raise


def fault_of(name: str, index: Mapping[str, Any]) -> Permanent | None:
    """Return the error of a record index that has another mapping, or what a template of others gives."""
    if not is_sound(index.get("mappings", {})):
        return mapping_error(name)
    settings = index.get("settings", {})
    given = [f"the alias {each!r}" for each in index.get("aliases", ())]
    given += [f"{each}={settings[each]}" for each in FOREIGN if settings.get(each) not in (None, "", "_none")]
    given += [] if settings.get("index.hidden") == "true" else ["no index.hidden"]
    what = f"index {name!r}, which holds records of ibidem, has {', '.join(given)}"
    return Permanent(what, REPAIR) if given else None


def is_sound(mapping: Mapping[str, Any]) -> bool:
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
    """Yield the faults of record indexes."""
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


def drop(cluster: ClusterClient, sources: Iterable[str]) -> None:
    """Remove the record indexes of names."""
    for name in record_indices(sources):
        cluster.ask("DELETE", f"/{quote_index(name)}", ignore_unavailable="true")
