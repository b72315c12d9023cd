"""Stored versions: the version and sequence number of a document, on which a conditional write depends."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ibidem_engines.cluster.client import ClusterClient, build_failure, to_engine_error
from ibidem_engines.cluster.source import led_group
from ibidem_engines.requests import quote_index


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """The stored version of a document, for a conditional write."""

    version: int | None  # its version; None when ibidem never wrote it
    digest: str  # of its record
    state: tuple[int, int]  # sequence number and primary term
    origin: str = ""  # the file or place that it was read from; empty if unknown
    index: str = ""  # the index that holds it
    group: str = ""  # name of the group that it leads; empty if it leads none
    others: tuple[str, ...] = ()  # other indexes that hold a document with its id


def read_versions(cluster: ClusterClient, indices: Sequence[str], ids: Sequence[str]) -> dict[str, StoredVersion]:
    """Read the current versions of some ids, whether or not visible to searches."""
    stored_versions: dict[str, StoredVersion] = {}
    parts = "ibidem.version,ibidem.record,ibidem.origin,ibidem.group,ibidem.lead"
    for each in get_many(cluster, indices, ids, parts):
        known = stored_versions.setdefault(each["_id"], _stored_version(each))
        if known.index != each["_index"]:
            stored_versions[each["_id"]] = replace(known, others=(*known.others, each["_index"]))
    return stored_versions


def get_many(cluster: ClusterClient, indices: Sequence[str], ids: Sequence[str], parts: str) -> list[Mapping[str, Any]]:
    """Read parts of documents by id, index by index; missing documents are omitted."""
    docs: list[Mapping[str, Any]] = []
    for index in indices if ids else ():
        answer = cluster.ask("POST", f"/{quote_index(index)}/_mget", {"ids": list(ids)}, _source_includes=parts)
        check_each(answer["docs"], cluster.label)
        docs += [each for each in answer["docs"] if each.get("found")]
    return docs


def check_each(docs: Iterable[Mapping[str, Any]], location: str) -> None:
    """Refuse a response in which a document is neither found nor missing."""
    for each in docs:
        if "error" in each:
            raise to_engine_error(build_failure(503, each), location)


def _stored_version(document: Mapping[str, Any]) -> StoredVersion:
    own_fields = document.get("_source", {}).get("ibidem", {})
    state = document["_seq_no"], document["_primary_term"]
    return StoredVersion(
        own_fields.get("version"),
        own_fields.get("record", ""),
        state,
        own_fields.get("origin", ""),
        document["_index"],
        led_group(own_fields),
    )
