"""Read an existing index in a cluster, shard by shard in the order of sequence numbers."""

import dataclasses
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from typing_extensions import override
from xxhash import xxh3_64_hexdigest

from ibidem_core.address import OURS, Fields, read_path, remove_path
from ibidem_core.errors import NoIndex
from ibidem_engines.cluster import index as layout
from ibidem_engines.cluster import record_index
from ibidem_engines.cluster.bulk import CONFLICT, Action, ActionOutcome, run
from ibidem_engines.cluster.client import ClusterClient, build_failure, to_engine_error
from ibidem_engines.cluster.dsl import Clause
from ibidem_engines.cluster.index import refresh_index
from ibidem_engines.cluster.ranking import fill_packed
from ibidem_engines.cluster.records import LedgerStore
from ibidem_engines.cluster.reindex_target import ClusterReindexTarget, old_trials
from ibidem_engines.cluster.sequence_numbers import count, deletions, identities, newest, shards, states, write_order
from ibidem_engines.cluster.source import (
    Values,
    signed_part,
    with_signatures,
)
from ibidem_engines.cluster.source_documents import read_documents
from ibidem_engines.cluster.source_storage import WITH_VECTORS, SourceStorage, read_storages
from ibidem_engines.cluster.source_values import remove_member
from ibidem_engines.cluster.whole_documents import check_whole, count_fields
from ibidem_engines.cluster.write import refused_field
from ibidem_engines.engine import (
    FieldCounts,
    Outcome,
    Record,
    ReindexSource,
    ReindexTarget,
    Signed,
    SourceDocument,
    Target,
    TrialIndex,
    WriteStatus,
)
from ibidem_engines.records import UnstorableRecord, values_of_records
from ibidem_engines.requests import WHOLE, quote_index
from ibidem_engines.stored_groups import IndexNames, Ledger, Marks, Name, SeqNoRange, ShardRef, own_group
from ibidem_ingest.errors import UsageError

SAMPLE = 20  # documents that are looked into for a field that no mapping names

# Initial and maximum batch size, and target size in bytes.
FIRST_READ, MAX_READ, READ_BYTES = 20, 500, 4_000_000


class ClusterReindexSource(ReindexSource):
    """Documents of an index, or of the indexes behind an alias; see `ReindexSource`."""

    def __init__(self, cluster: ClusterClient, index: str, fields: Fields, kind: str) -> None:
        self.index = index
        self._cluster, self._fields, self._kind = cluster, fields, kind
        self._layout_cache: layout.Layout | None = None
        self._parts: list[ShardRef] = []
        self._at_once = FIRST_READ

    @property
    @override
    def alias(self) -> str:
        return "" if self.index in self._layout.indices else self.index

    @property
    @override
    def text_field(self) -> str:
        return self._fields.text

    @property
    @override
    def updates_in_part(self) -> bool:
        return bool(self._final_pipelines) or any(each.updates_in_part for each in self._storages.values())

    @override
    def check(self, target: Target) -> None:
        index_layout = self._layout
        if target == "place":
            layout.check_readable(index_layout, self.index, self._cluster)
        elif target == "copy" and index_layout.streams:
            raise UsageError(
                f"{self.index!r} is a data stream, which cannot be replaced by an alias", "sign it in place"
            )
        elif target == "copy" and len(index_layout.indices) > 1:
            raise UsageError(
                f"{self.index!r} points to several indexes: {', '.join(index_layout.indices)}",
                "copy them one by one, naming each in IBIDEM_INDEX",
            )
        elif target == "strip":
            self._check_pipelines()
        for storage in self._storages.values():
            storage.check(target)

    @override
    def prepare(self) -> None:
        layout.create(self._cluster, self.index, self._kind)
        self._layout_cache = None
        LedgerStore(self._cluster, self._layout.names(self.index)).create()

    @override
    def missing_fields(self) -> list[str]:
        default_names = Fields()
        names = [
            each.name
            for each in dataclasses.fields(Fields)
            if each.name != "stemmed" and getattr(self._fields, each.name) != getattr(default_names, each.name)
        ]
        paths = {*self._fields.stemmed, *(getattr(self._fields, name) for name in {*names, "text"})} - {""}
        mappings = self._cluster.ask("GET", f"/{quote_index(self.index)}/_mapping").values()
        paths -= {path for path in paths for mapping in mappings if _has_field(mapping["mappings"], path.split("."))}
        if paths:
            refresh_index(self._cluster, self.index)
            hits = self._search({"size": SAMPLE, "query": {"match_all": {}}})["hits"]["hits"]
            paths -= {
                path
                for path in paths
                if not hits or any(read_path(hit.get("_source", {}), path) is not None for hit in hits)
            }
        return sorted(paths)

    @override
    def parts(self) -> list[ShardRef]:
        if not self._parts:
            self._parts = shards(self._layout)
        return self._parts

    @override
    def uuids(self) -> Mapping[str, str]:
        return identities(self._cluster, layout.read(self._cluster, self.index))

    @override
    def newest(self, marks: Marks | None = None) -> dict[ShardRef, int]:
        return newest(self._cluster, self.parts(), marks)

    @override
    def count(self, seq_range: SeqNoRange) -> int:
        return count(self._cluster, seq_range)

    @override
    def names(self, seq_range: SeqNoRange, size: int) -> list[Name]:
        return [name for name, _ in states(self._cluster, seq_range, size)]

    @override
    def read(self, names: Sequence[Name], *, raw: bool = False) -> list[SourceDocument]:
        """Read as many documents at once as fit a few megabytes; with raw JSON, vectors are requested and verified."""
        documents: list[SourceDocument] = []
        position = 0
        params = WITH_VECTORS if raw and any(each.excludes_vectors for each in self._storages.values()) else {}
        while position < len(names):
            batch = names[position : position + self._at_once]
            position += len(batch)
            answer = self._cluster.ask("POST", "/_mget", {"docs": [_mget_item(name) for name in batch]}, **params)
            if raw:
                self._check_whole(answer["docs"])
            self._drop_vectors(answer["docs"])
            self._at_once = max(1, min(MAX_READ, READ_BYTES * len(batch) // max(1, len(answer.text))))
            documents += read_documents(
                answer, {(name.index, name.id): name for name in batch}, self._fields, self._to_error, raw=raw
            )
        return fill_packed(documents, self._search, lambda: refresh_index(self._cluster, self.index))

    def _check_whole(self, docs: Sequence[Mapping[str, Any]]) -> None:
        """Refuse documents whose JSON may be incomplete."""
        for index, storage in self._storages.items():
            storage.check("strip")
            if storage.unsure:
                found = [each for each in docs if each["_index"] == index and each.get("found")]
                check_whole(self._cluster, storage, found, self._layout.max_hits)

    def _drop_vectors(self, docs: Sequence[dict[str, Any]]) -> None:
        """Remove vectors from the signed fields, so that signatures do not depend on whether they were requested."""
        for each in docs:
            if each.get("found"):
                for field in self._storages[each["_index"]].vectors:
                    each["_source"] = remove_path(each["_source"], field.path)

    @override
    def count_fields(self) -> FieldCounts:
        return count_fields(self._cluster, self.index)

    @override
    def sign(self, documents: Sequence[Signed]) -> list[Outcome | None]:
        """Write whole documents, bypassing the default pipeline, or partial updates if `updates_in_part` is set.

        A partial update takes a server a third more: it reads and parses the document again.
        """
        outcomes: dict[int, Outcome | None] = {}
        actions: dict[int, Action] = {}
        for position, document, record, values in with_values(documents):
            try:
                actions[position] = self._signing(document, record, values)
            except UnstorableRecord as unfit:
                outcomes[position] = Outcome(document.name.id, WriteStatus.REFUSED, field=unfit.field, why=unfit.why)
        for position, outcome in zip(actions, run(self._cluster, list(actions.values())), strict=True):
            outcomes[position] = None if outcome.status == CONFLICT else to_outcome(documents[position][0], outcome)
        return [outcomes.get(position) for position in range(len(documents))]

    def _signing(self, document: SourceDocument, record: Record, values: Values) -> Action:
        """Build the action that adds signatures to a document: a whole write if its JSON was read."""
        name, kind = document.name, "full" if "full" in self._layout.kinds else "lean"
        group = document.group or (own_group(name.index, name.id) if self._layout.is_set else "")
        if not document.raw or self.updates_in_part:
            body = signed_part(record, kind, document.own_fields, values, group=group)
            return Action("update", name.index, name.id, body, document.state, name.routing)
        body = with_signatures(document.raw, record, kind, values, group=group)
        return Action("index", name.index, name.id, body, document.state, name.routing, skips_pipeline=True)

    @override
    def strip_document(self, document: SourceDocument) -> SourceDocument:
        return dataclasses.replace(document, raw=remove_member(document.raw, OURS))

    @override
    def strip(self, documents: Sequence[SourceDocument]) -> list[Outcome | None]:
        """Write whole documents without the object `ibidem`, bypassing the default pipeline."""
        actions = [
            Action(
                "index",
                each.name.index,
                each.name.id,
                self.strip_document(each).raw,
                each.state,
                each.name.routing,
                skips_pipeline=True,
            )
            for each in documents
        ]
        outcomes = run(self._cluster, actions)
        return [
            None if each.status == CONFLICT else to_outcome(document, each)
            for document, each in zip(documents, outcomes, strict=True)
        ]

    @override
    def unmark(self) -> bool:
        """Remove ibidem's entry from `_meta`; a server cannot remove a field from a mapping."""
        layout.remove_note(self._cluster, self._layout.indices)
        self._layout_cache = None
        return True

    @override
    def drop_records(self) -> None:
        record_index.drop(self._cluster, {self._layout.names(self.index).home, self.index})

    @override
    def size(self) -> int:
        answer = self._cluster.ask("GET", f"/{quote_index(self.index)}/_stats/store", filter_path="_all.total.store")
        return int(answer["_all"]["total"]["store"]["size_in_bytes"])

    @override
    def added_bytes(self, record: Record) -> int:
        return len(with_signatures(b"{}", record, self._kind))

    @override
    def deletions(self) -> int:
        return deletions(self._cluster, self.parts())

    @override
    def get_records(self, ledger: Ledger) -> Iterator[tuple[str, Any]]:
        return LedgerStore(self._cluster, self._layout.names(self.index)).get(ledger, "")

    @override
    def index_names(self) -> IndexNames:
        return self._layout.names(self.index)

    @override
    @contextmanager
    def open_trial(self, index: str) -> Iterator[TrialIndex]:
        """Create the trial index, hidden, under a name of its own."""
        prefix = f"{layout.TRIAL}{xxh3_64_hexdigest(self._layout.names(self.index).home.encode())}-"
        for each in old_trials(self._cluster, prefix):
            ClusterReindexTarget(self._cluster, index, each, self._kind).drop()
        name = f"{prefix}{secrets.token_hex(4)}"
        target = ClusterReindexTarget(self._cluster, index, name, self._kind)
        try:
            target.create_trial()
            yield TrialIndex(target, name)
        finally:
            target.drop()

    @override
    def copy_to(self, name: str) -> ReindexTarget:
        (index,) = {part.index for part in self.parts()}
        return ClusterReindexTarget(self._cluster, index, name, self._kind)

    @override
    def close(self) -> None:
        self._cluster.close()

    def _check_pipelines(self) -> None:
        """Refuse to write whole documents if a pipeline would change them."""
        for index, pipeline in self._final_pipelines.items():
            raise UsageError(
                f"index {index!r} has the final pipeline {pipeline!r}, which would change its documents again",
                "strip it into a new index: ibidem strip --into NAME",
            )

    @cached_property
    def _final_pipelines(self) -> Mapping[str, str]:
        """The final pipeline of each index that has one; it changes every document that is written whole."""
        answer = self._cluster.ask(
            "GET", f"/{quote_index(self.index)}/_settings", filter_path="*.settings.index.final_pipeline"
        )
        pipelines = {index: str(each["settings"]["index"]["final_pipeline"]) for index, each in answer.items()}
        return {index: pipeline for index, pipeline in pipelines.items() if pipeline != "_none"}

    @cached_property
    def _storages(self) -> Mapping[str, SourceStorage]:
        return read_storages(self._cluster, self.index)

    @property
    def _layout(self) -> layout.Layout:
        if self._layout_cache is None:
            self._layout_cache = layout.read(self._cluster, self.index)
            if not self._layout_cache.indices:
                raise NoIndex(f"no index {self.index!r} in {self._cluster.label}", "name one in IBIDEM_INDEX")
        return self._layout_cache

    def _search(self, body: Clause) -> Any:
        return self._cluster.ask("POST", f"/{quote_index(self.index)}/_search", body, **WHOLE)

    def _to_error(self, hit: Mapping[str, Any]) -> Exception:
        return to_engine_error(build_failure(503, hit), self._cluster.label)


def with_values(documents: Sequence[Signed]) -> Iterator[tuple[int, SourceDocument, Record, Values]]:
    """Yield the signed documents with their positions and look-up values."""
    records = [
        (position, document, record) for position, (document, record) in enumerate(documents) if record is not None
    ]
    for each, values in zip(records, values_of_records([record for _, _, record in records]), strict=True):
        yield *each, values


def to_outcome(document: SourceDocument, outcome: ActionOutcome) -> Outcome:
    """Return the outcome of a conditional write without a conflict."""
    name = document.name.id
    if outcome.reason:
        return Outcome(
            name,
            WriteStatus.REFUSED,
            previous_version=document.version,
            field=refused_field(outcome.reason),
            why=outcome.reason,
        )
    return Outcome(name, WriteStatus.INDEXED, write_order(outcome.place), document.version)


def _mget_item(name: Name) -> dict[str, str]:
    """Build the `_mget` item of one document."""
    document = {"_index": name.index, "_id": name.id}
    return document | {"routing": name.routing} if name.routing else document


def _has_field(mapping: Mapping[str, Any], path: Sequence[str]) -> bool:
    """Return whether a mapping names a field."""
    properties = mapping.get("properties", {})
    if ".".join(path) in properties:
        return True
    return path[0] in properties and (len(path) == 1 or _has_field(properties[path[0]], path[1:]))
