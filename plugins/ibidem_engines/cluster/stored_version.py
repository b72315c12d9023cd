"""Stored versions: version, digest and sequence number, read before a conditional write and after a conflict."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.cluster.errors import failure_of, to_engine_error


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A document as far as a write needs it.

    Args:
        version: Its version; None when ibidem never wrote it.
        digest: Of its record.
        origin: Where it was read; empty when that is not known.
        seen: Sequence number and primary term.
    """

    version: int | None
    digest: str
    seen: tuple[int, int]
    origin: str = ""


def read_versions(cluster: ClusterClient, index: str, ids: Sequence[str]) -> dict[str, StoredVersion]:
    """Read the present state of these ids, visible to searches or not."""
    documents = get_many(cluster, index, ids, "ibidem.version,ibidem.record,ibidem.origin")
    return {id_: _standing(each) for id_, each in documents.items()}


def get_many(cluster: ClusterClient, index: str, ids: Sequence[str], parts: str) -> dict[str, Mapping[str, Any]]:
    """Read parts of documents by id; those that are not there are left out."""
    if not ids:
        return {}
    answer = cluster.ask("POST", f"/{index}/_mget", {"ids": list(ids)}, _source_includes=parts)
    check_each(answer["docs"], cluster.shown)
    return {each["_id"]: each for each in answer["docs"] if each.get("found")}


def check_each(docs: Iterable[Mapping[str, Any]], where: str) -> None:
    """Refuse an answer in which documents are neither there nor missing.

    Args:
        docs: Of an answer to `_mget`.
        where: The cluster's address without secrets.
    """
    for each in docs:
        if "error" in each:
            raise to_engine_error(failure_of(503, each), where)


def _standing(document: Mapping[str, Any]) -> StoredVersion:
    ours = document.get("_source", {}).get("ibidem", {})
    seen = document["_seq_no"], document["_primary_term"]
    return StoredVersion(ours.get("version"), ours.get("record", ""), seen, ours.get("origin", ""))
