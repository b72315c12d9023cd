"""Stored memberships in a cluster: fields of each document, written by conditional partial updates."""

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import override

from ibidem_core.address import OURS
from ibidem_dedupe.overrides import DocumentRef
from ibidem_engines.cluster import dsl
from ibidem_engines.cluster.groups import WRITE, ClusterGroups
from ibidem_engines.cluster.index import template
from ibidem_engines.requests import RequestFlow, Target, answer_to, quote_index
from ibidem_engines.stored_groups import FIELDS, MembershipChange, MembershipStore, Values, hash_packed

AT_ONCE = 1_000
_TYPE = f"*.mappings.properties.{OURS}.properties.{FIELDS[0]}.type"
_THREAD = f"{OURS}.{FIELDS[0]}"


class ClusterMemberships(MembershipStore):
    """The memberships of an index, or of the indexes behind an alias; see `MembershipStore`."""

    def __init__(self, groups: ClusterGroups) -> None:
        self._groups = groups
        self._cluster, self._index = groups.cluster, groups.index

    @override
    def prepare(self) -> None:
        answer = self._cluster.ask("GET", f"/{quote_index(self._index)}/_mapping", filter_path=_TYPE)
        own_types = template("full")["mappings"]["properties"][OURS]["properties"]
        fields = {"properties": {OURS: {"properties": {name: own_types[name] for name in FIELDS}}}}
        for index in self._groups.layout.indices:
            if index not in answer:
                self._cluster.ask("PUT", f"/{quote_index(index)}/_mapping", fields)

    @override
    def has_threads(self) -> bool:
        body: dsl.Clause = {
            "query": {"exists": {"field": _THREAD}},
            "size": 0,
            "track_total_hits": 1,
            "terminate_after": 1,
        }
        answer = self._cluster.hold(answer_to(Target(self._index).search(body)))
        return bool(answer["hits"]["total"]["value"])

    @override
    def read(self, names: Sequence[DocumentRef]) -> RequestFlow[dict[DocumentRef, Values]]:
        return read_memberships(Target(self._index), names)

    @override
    def write(self, changes: Sequence[MembershipChange]) -> int:
        written = 0
        for start in range(0, len(changes), WRITE):
            by_name = {each.name: each for each in changes[start : start + WRITE]}
            documents = self._groups.read(list(by_name))
            pairs = [(each, by_name[each.name.index, each.name.id]) for each in documents]
            same = [(each, change.values) for each, change in pairs if hash_packed(each.packed) == change.text_hash]
            written += sum(self._groups.update(same))
        return written


def read_memberships(target: Target, names: Sequence[DocumentRef]) -> RequestFlow[dict[DocumentRef, Values]]:
    """Read the memberships of documents by index and id."""
    memberships: dict[DocumentRef, Values] = {}
    for start in range(0, len(names), AT_ONCE):
        batch = names[start : start + AT_ONCE]
        answer = yield target.search(
            dsl.fetch_by_name(batch) | {"_source": False, "docvalue_fields": [f"{OURS}.{name}" for name in FIELDS]}
        )
        memberships |= {(hit["_index"], hit["_id"]): read_hit(hit) for hit in answer["hits"]["hits"]}
    return memberships


def read_hit(hit: Mapping[str, Any]) -> Values:
    """Read the memberships of a hit."""
    fields = hit.get("fields", {})
    return {name: fields.get(f"{OURS}.{name}", [None])[0] for name in FIELDS}
