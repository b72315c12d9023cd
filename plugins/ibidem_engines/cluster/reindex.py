"""Read an existing index in a cluster shard by shard, in the order of sequence numbers, and sign it again.

It is signed in its place, or into a new index, which is created with the same mapping, filled, and given the alias.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import inf
from typing import Any

from ibidem_core.address import OURS, Fields, read_path, remove_path
from ibidem_core.errors import NoIndex, Permanent
from ibidem_engines import engine as protocol
from ibidem_engines.cluster import client, records, source
from ibidem_engines.cluster import index as layout
from ibidem_engines.cluster.dsl import ALL, hits_of
from ibidem_engines.cluster.lookup import fill_packed
from ibidem_engines.cluster.records import LedgerStore
from ibidem_engines.cluster.write import ROUNDS, read_versions, refused_field
from ibidem_engines.engine import Destination, FieldCounts, Outcome, Record, Signed, SourceDocument
from ibidem_engines.ledger import LookupValues, prepare_each, values_of_records
from ibidem_engines.requests import ApiRequest, Json, quote_index
from ibidem_engines.stored_groups import Ledger, Marks, Name, SeqNoRange, ShardRef, own_group
from ibidem_ingest.errors import UsageError

SLICE = 1_000

# Settings that belong to an index itself and cannot be given to another.
ITS_OWN = ("uuid", "creation_date", "provided_name", "version", "resize", "routing", "history", "blocks", "shard_limit")

# Settings that a copy gets when it is full: what its documents went through once, they do not go through again.
DELAYED_SETTINGS = ("default_pipeline", "final_pipeline", "refresh_interval")

# Options that an alias keeps when it moves.
OF_AN_ALIAS = ("filter", "index_routing", "search_routing", "is_write_index", "is_hidden")

COPY_OF = "copy_of"  # in the metadata of a copy's mapping: the index that it is made of, from its very creation on


class ClusterReindexTarget(protocol.ReindexTarget):
    """The copy of one index; see `Copy`."""

    def __init__(self, cluster: client.ClusterClient, source: str, name: str, kind: str) -> None:
        self.name = name
        self._cluster, self._source, self._kind = cluster, source, kind

    def exists(self) -> bool:
        return bool(layout.read(self._cluster, self.name).indices)

    def is_unfilled(self) -> bool:
        (metadata,) = self._cluster.ask("GET", f"/{self.name}/_mapping").values()
        made_as = metadata["mappings"].get("_meta", {}).get(OURS, {}).get(COPY_OF)
        return made_as == self._source and not any(self.newest().values())

    def create(self, *, with_fields: bool = True) -> None:
        """Create the index with fields, analyzers and settings of the old one, with or without `ibidem`."""
        settings, mappings = self._read_source()
        if not with_fields:
            body = {"settings": {"index": _early(settings)}, "mappings": _strip_mapping(mappings)}
            self._cluster.ask("PUT", f"/{self.name}", body)
            return
        own_mappings = layout.template(self._kind)
        own_meta = {OURS: own_mappings["mappings"]["_meta"][OURS] | {COPY_OF: self._source}}
        mapping = mappings | {"_meta": mappings.get("_meta", {}) | own_meta}
        own_properties = own_mappings["mappings"]["properties"]
        mapping["properties"] = mappings.get("properties", {}) | {OURS: own_properties[OURS]}
        # A part left out of `_source` makes the server write the rest in another order: documents of others stay as
        # they are, unless the lean layout is asked for.
        if mapping.pop("_source", None) or self._kind == "lean":
            mapping["_source"] = own_mappings["mappings"]["_source"]
        codec = {name: value for name, value in own_mappings["settings"]["index"].items() if name == "codec"}
        if not self.exists():
            body = {"settings": {"index": codec | _early(settings)}, "mappings": mapping}
            self._cluster.ask("PUT", f"/{self.name}", body)
        records.make_missing(self._cluster, self.name)

    def newest(self) -> dict[ShardRef, int]:
        return layout.newest(self._cluster, layout.shards(self._layout))

    def count_fields(self) -> FieldCounts:
        return source.count_fields(self._cluster, self.name)

    def prune(self, end: Marks) -> int:
        removed_count = 0
        for part, max_seq_no in end.items():
            position = layout.NONE
            while batch := layout.states(self._cluster, SeqNoRange(part, position, max_seq_no), SLICE):
                position = batch[-1][0].order
                docs = [{"_id": name.id} | ({"routing": name.routing} if name.routing else {}) for name, _ in batch]
                path, params = f"/{quote_index(self._source)}/_mget", {"_source": "false"}
                answer = self._cluster.hold(client.read_docs(ApiRequest("POST", path, params, {"docs": docs})))
                gone = {each["_id"] for each in answer["docs"] if not each.get("found")}
                actions = [
                    client.Action("delete", self.name, name.id, None, state, name.routing)
                    for name, state in batch
                    if name.id in gone
                ]
                outcomes = client.run(self._cluster, actions)
                removed_count += sum(each.status not in (client.CONFLICT, client.NOT_FOUND) for each in outcomes)
        return removed_count

    def check_alias(self, alias: str) -> None:
        if alias in layout.read(self._cluster, alias).indices:
            raise UsageError(f"{alias!r} is an index, so it cannot be an alias", "name another with --alias")

    def finish(self, alias: str) -> None:
        """Move the alias unchanged and in one step, so that every search finds one of the two indexes."""
        settings, _ = self._read_source()
        late_settings: dict[str, Any] = {name: settings.get(name) for name in DELAYED_SETTINGS}
        self._cluster.ask("PUT", f"/{self.name}/_settings", {"index": late_settings})
        if not alias:
            return
        request = ApiRequest("GET", f"/_alias/{quote_index(alias)}", ok_statuses=(client.NOT_FOUND,))
        definition: Json = self._cluster.send(request)
        was = [metadata["aliases"][alias] for metadata in definition.values()]
        properties = {name: value for name, value in (was[0] if was else {}).items() if name in OF_AN_ALIAS}
        actions = [{"remove": {"index": index, "alias": alias}} for index in definition if index != self.name]
        actions.append({"add": {"index": self.name, "alias": alias, **properties}})
        self._cluster.ask("POST", "/_aliases", {"actions": actions})

    def take_late(self, documents: Sequence[Signed], end: Marks) -> list[Outcome]:
        ids = [document.name.id for document, _ in documents]
        states: dict[str, tuple[int, int]] = {}
        for part, max_seq_no in end.items():
            found = layout.states(self._cluster, SeqNoRange(part, layout.NONE, max_seq_no), max(1, len(ids)), ids)
            states |= {name.id: state for name, state in found}
        return self._replace_older(documents, self.take(documents, states))

    def _replace_older(self, documents: Sequence[Signed], outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Write copies over older versions; documents of other programs have no version and are kept."""
        found = list(outcomes)
        for _ in range(ROUNDS):
            stale = {
                document.name.id: position
                for position, (document, _) in enumerate(documents)
                if found[position].status is protocol.WriteStatus.STALE and document.version
            }
            stored = read_versions(self._cluster, (self.name,), list(stale)) if stale else {}
            older = [
                position
                for id_, position in stale.items()
                if id_ in stored and (stored[id_].version or inf) < documents[position][0].version
            ]
            if not older:
                break
            states = {id_: each.state for id_, each in stored.items()}
            replaced = self.take([documents[position] for position in older], states)
            for position, outcome in zip(older, replaced, strict=True):
                found[position] = outcome
        return found

    def take(self, documents: Sequence[Signed], states: Mapping[str, tuple[int, int]] | None = None) -> list[Outcome]:
        """Write copies onto known states, where others must not be there yet.

        Without states by the engine's own version of each, so that an older version never wins.
        """
        signed = {at: record for at, (_, record) in enumerate(documents) if record is not None}
        bodies, unfit = prepare_each(
            signed, lambda at, values: source.with_signatures(documents[at][0].raw, signed[at], self._kind, values)
        )
        actions: list[client.Action] = []
        for position, (document, _) in enumerate(documents):
            name, body = document.name, bodies.get(position, document.raw)
            state, version = (None, document.engine_version) if states is None else (states.get(name.id), None)
            verb = "index" if states is None or state else "create"
            actions.append(client.Action(verb, self.name, name.id, body, state, name.routing, version))
        outcomes: list[Outcome] = []
        for position, outcome in enumerate(client.run(self._cluster, actions)):
            document = documents[position][0]
            written = (
                unfit[position].outcome(document.name.id) if position in unfit else read_outcome(document, outcome)
            )
            outcomes.append(written or Outcome(document.name.id, protocol.WriteStatus.STALE, why="a newer one exists"))
        return outcomes

    def _read_source(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Read the settings and the mapping of the index that is copied."""
        (metadata,) = self._cluster.ask("GET", f"/{quote_index(self._source)}").values()
        settings = {name: value for name, value in metadata["settings"]["index"].items() if name not in ITS_OWN}
        (effective,) = source.effective_settings(self._cluster, self._source).values()
        settings |= {name.removeprefix("index."): effective[name] for name in source.BY_VERSION if name in effective}
        return settings, metadata["mappings"]

    @cached_property
    def _layout(self) -> layout.Layout:
        return layout.read(self._cluster, self.name)


def _early(settings: Json) -> dict[str, Any]:
    """Return the settings of a copy while it is filled; pipelines are set, since a template may add some."""
    early = {name: value for name, value in settings.items() if name not in DELAYED_SETTINGS}
    return early | dict.fromkeys(("default_pipeline", "final_pipeline"), "_none")


def _strip_mapping(mappings: Json) -> dict[str, Any]:
    """Remove ibidem's fields from a mapping."""
    source = mappings.get("_source", {})
    excludes = [field for field in source.get("excludes", []) if not field.startswith(f"{OURS}.")]
    remaining = {name: value for name, value in source.items() if name != "excludes"}
    return dict(mappings) | {
        "_meta": {name: value for name, value in mappings.get("_meta", {}).items() if name != OURS},
        "_source": remaining | ({"excludes": excludes} if excludes else {}),
        "properties": {name: value for name, value in mappings.get("properties", {}).items() if name != OURS},
    }


MAX_INDICES = 1_000  # behind one name, as far as they are listed
SAMPLE = 20  # documents that are looked into for a field that no mapping names

# Initial and maximum batch size, and target size in bytes.
FIRST_READ, MAX_READ, READ_BYTES = 20, 500, 4_000_000


class ClusterReindexSource(protocol.ReindexSource):
    """Documents of an index, or of the indexes behind an alias; see `ReindexSource`."""

    def __init__(self, cluster: client.ClusterClient, index: str, fields: Fields, kind: str) -> None:
        self.index = index
        self._cluster, self._fields, self._kind = cluster, fields, kind
        self._layout_cache: layout.Layout | None = None
        self._parts: list[ShardRef] = []
        self._at_once = FIRST_READ

    @property
    def alias(self) -> str:
        return "" if self.index in self._layout.indices else self.index

    @property
    def text_field(self) -> str:
        return self._fields.text

    @property
    def updates_in_part(self) -> bool:
        return bool(self._final_pipelines) or any(each.updates_in_part for each in self._storages.values())

    def check(self, target: Destination) -> None:
        index_layout = self._layout
        self._check_numbers()
        if target == "place":
            layout.check_readable(index_layout, self.index, self._cluster)
            if index_layout.beside:
                raise UsageError(
                    f"the signatures of {self.index!r} are beside it, in {', '.join(index_layout.beside)}",
                    "keep them there: ibidem backfill --beside; or drop them first: ibidem strip",
                )
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
            for index, pipeline in self._final_pipelines.items():
                raise UsageError(
                    f"index {index!r} has the final pipeline {pipeline!r}, which would change its documents again",
                    "strip it into a new index: ibidem strip --into NAME",
                )
        for storage in self._storages.values():
            storage.check(target)

    def prepare(self) -> None:
        try:
            layout.create(self._cluster, self.index, self._kind)
        except Permanent as error:
            if not client.is_failure(error, 403):
                raise
            raise Permanent(error.what, "ask for the right to write; or leave it as it is: --beside") from error
        self._layout_cache = None
        records.make_missing(self._cluster, self._layout.names(self.index).home)

    def missing_fields(self) -> list[str]:
        default_names, names = Fields(), {each.name for each in dataclasses.fields(Fields)} - {"stemmed", "text_format"}
        named = [name for name in names if getattr(self._fields, name) != getattr(default_names, name)]
        paths = {*self._fields.stemmed, *(getattr(self._fields, name) for name in {*named, "text"})} - {""}
        mappings = self._cluster.ask("GET", f"/{quote_index(self.index)}/_mapping").values()
        paths -= {path for path in paths for mapping in mappings if _has_field(mapping["mappings"], path.split("."))}
        if paths:
            layout.refresh_index(self._cluster, self.index)
            hits = hits_of(self._cluster.search(self.index, {"size": SAMPLE, "query": ALL}))
            paths -= {
                path
                for path in paths
                if not hits or any(read_path(hit.get("_source", {}), path) is not None for hit in hits)
            }
        return sorted(paths)

    def parts(self) -> list[ShardRef]:
        if not self._parts:
            self._parts = layout.shards(self._layout)
        return self._parts

    def uuids(self) -> Mapping[str, str]:
        return layout.identities(self._cluster, layout.read(self._cluster, self.index))

    def newest(self, marks: Marks | None = None) -> dict[ShardRef, int]:
        return layout.newest(self._cluster, self.parts(), marks)

    def count(self, seq_range: SeqNoRange) -> int:
        return layout.count_shard(self._cluster, seq_range.part, layout.in_range(seq_range))

    def names(self, seq_range: SeqNoRange, size: int) -> list[Name]:
        return [name for name, _ in layout.states(self._cluster, seq_range, size)]

    def read(self, names: Sequence[Name], *, raw: bool = False) -> list[SourceDocument]:
        """Read as many documents at once as fit a few megabytes; with raw JSON, vectors are requested and verified."""
        documents: list[SourceDocument] = []
        position = 0
        params = source.WITH_VECTORS if raw and any(each.excludes_vectors for each in self._storages.values()) else {}
        while position < len(names):
            batch = names[position : position + self._at_once]
            position += len(batch)
            items = [
                {"_index": each.index, "_id": each.id, **({"routing": each.routing} if each.routing else {})}
                for each in batch
            ]
            answer = self._cluster.hold(client.read_docs(ApiRequest("POST", "/_mget", params, {"docs": items})))
            if raw:
                self._check_whole(answer["docs"])
            for each in answer["docs"]:  # so that signatures do not depend on whether vectors were requested
                for field in self._storages[each["_index"]].vectors if each.get("found") else ():
                    each["_source"] = remove_path(each["_source"], field.path)
            self._at_once = max(1, min(MAX_READ, READ_BYTES * len(batch) // max(1, len(answer.text))))
            names_by_place = {(name.index, name.id): name for name in batch}
            documents += source.read_documents(answer, names_by_place, self._fields, raw=raw)
        return fill_packed(self._cluster, self.index, documents)

    def _check_whole(self, docs: Sequence[Json]) -> None:
        """Refuse documents whose JSON may be incomplete."""
        for index, storage in self._storages.items():
            storage.check("strip")
            if storage.unsure:
                found = [each for each in docs if each["_index"] == index and each.get("found")]
                source.check_whole(self._cluster, storage, found, self._layout.max_hits)

    def count_fields(self) -> FieldCounts:
        return source.count_fields(self._cluster, self.index)

    def sign(self, documents: Sequence[Signed]) -> list[Outcome | None]:
        """Write whole documents, bypassing the default pipeline, or partial updates if `updates_in_part` is set.

        A partial update takes a server a third more: it reads and parses the document again.
        """
        signed = {at: record for at, (_, record) in enumerate(documents) if record is not None}
        actions, unfit = prepare_each(signed, lambda at, values: self._signing(documents[at][0], signed[at], values))
        outcomes: dict[int, Outcome | None] = {at: each.outcome(documents[at][0].name.id) for at, each in unfit.items()}
        for position, outcome in zip(actions, client.run(self._cluster, list(actions.values())), strict=True):
            outcomes[position] = read_outcome(documents[position][0], outcome)
        return [outcomes.get(position) for position in range(len(documents))]

    def _signing(self, document: SourceDocument, record: Record, values: LookupValues) -> client.Action:
        """Build the action that adds signatures to a document: a whole write if its JSON was read."""
        name, kind = document.name, self._layout.kind
        group = document.group or own_group(name)
        if not document.raw or self.updates_in_part:
            body = source.signed_part(record, kind, document.own_fields, values, group=group)
            return client.Action("update", name.index, name.id, body, document.state, name.routing)
        return _whole(document, source.with_signatures(document.raw, record, kind, values, group=group))

    def strip_document(self, document: SourceDocument) -> SourceDocument:
        return dataclasses.replace(document, raw=source.remove_member(document.raw, OURS))

    def strip(self, documents: Sequence[SourceDocument]) -> list[Outcome | None]:
        """Write whole documents without the object `ibidem`, bypassing the default pipeline."""
        outcomes = client.run(self._cluster, [_whole(each, self.strip_document(each).raw) for each in documents])
        return [read_outcome(document, each) for document, each in zip(documents, outcomes, strict=True)]

    def unmark(self) -> None:
        """Remove ibidem's entry from `_meta`; a server cannot remove a field from a mapping."""
        for index in self._layout.indices:
            (current,) = self._cluster.ask("GET", f"/{index}/_mapping").values()
            meta = current["mappings"].get("_meta", {})
            if OURS in meta:
                remaining = {name: value for name, value in meta.items() if name != OURS}
                self._cluster.ask("PUT", f"/{index}/_mapping", {"_meta": remaining})
        self._layout_cache = None

    def drop_beside(self, *, dry: bool) -> tuple[int, int] | None:
        if not (names := self._layout.beside):
            return None
        path = f"/{quote_index(','.join(names))}"
        body = {"size": 0, "aggs": {"of": {"terms": {"field": f"{OURS}.index", "size": MAX_INDICES}}}}
        signed = self._cluster.search(",".join(names), body)["aggregations"]["of"]["buckets"]
        others = sorted({each["key"] for each in signed} - {*self._layout.indices})
        home = layout.source_of(names[0])
        if others and self.index != home:  # by its own name those of deleted indexes go, too
            raise UsageError(
                f"{', '.join(names)} also holds the signatures of {', '.join(map(repr, others))}",
                f"strip all of them by the name that they were signed by: IBIDEM_INDEX={home}",
            )
        parts = "_all.primaries.docs.count,_all.total.store.size_in_bytes"
        counts = self._cluster.ask("GET", f"{path}/_stats/docs,store", filter_path=parts)["_all"]
        if not dry:
            self._cluster.ask("DELETE", path)
        return int(counts["primaries"]["docs"]["count"]), int(counts["total"]["store"]["size_in_bytes"])

    def drop_records(self) -> None:
        records.drop(self._cluster, {self._layout.names(self.index).home, self.index})

    def size(self) -> int:
        answer = self._cluster.ask("GET", f"/{quote_index(self.index)}/_stats/store", filter_path="_all.total.store")
        return int(answer["_all"]["total"]["store"]["size_in_bytes"])

    def added_bytes(self, record: Record) -> int:
        return len(source.with_signatures(b"{}", record, self._kind, values_of_records([record])[0]))

    def deletions(self) -> int:
        return layout.deletions(self._cluster, self.parts())

    def get_records(self, ledger: Ledger) -> Iterator[tuple[str, Any]]:
        return LedgerStore(self._cluster, self._layout.names(self.index)).get(ledger, "")

    def copy_to(self, name: str) -> protocol.ReindexTarget:
        (index,) = {part.index for part in self.parts()}
        return ClusterReindexTarget(self._cluster, index, name, self._kind)

    def close(self) -> None:
        self._cluster.close()

    def _check_numbers(self) -> None:
        """Refuse an index whose sequence numbers cannot be searched."""
        if names := ", ".join(map(repr, self._layout.unnumbered)):
            raise UsageError(
                f"the sequence numbers of {names} cannot be searched (index.disable_sequence_numbers)",
                "add changed=FIELD to IBIDEM_FIELDS, the date of its last change, and use: ibidem backfill --beside",
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
    def _storages(self) -> Mapping[str, source.SourceStorage]:
        return source.read_storages(self._cluster, self.index)

    @property
    def _layout(self) -> layout.Layout:
        if self._layout_cache is None:
            self._layout_cache = layout.read(self._cluster, self.index)
            if not self._layout_cache.indices:
                raise NoIndex(f"no index {self.index!r} in {self._cluster.label}", "name one in IBIDEM_INDEX")
        return self._layout_cache


def _whole(document: SourceDocument, body: bytes) -> client.Action:
    """Build the action that writes a whole document, bypassing the default pipeline."""
    name = document.name
    return client.Action("index", name.index, name.id, body, document.state, name.routing, skips_pipeline=True)


def read_outcome(document: SourceDocument, outcome: client.ActionOutcome) -> Outcome | None:
    """Return the outcome of a conditional write; None for a conflict."""
    name, reason = document.name.id, outcome.reason
    if outcome.status == client.CONFLICT:
        return None
    if reason:
        return Outcome(name, protocol.WriteStatus.REFUSED, 0, document.version, field=refused_field(reason), why=reason)
    return Outcome(name, protocol.WriteStatus.INDEXED, layout.write_order(outcome.place), document.version)


def _has_field(mapping: Json, path: Sequence[str]) -> bool:
    properties = mapping.get("properties", {})
    if ".".join(path) in properties:
        return True
    return path[0] in properties and (len(path) == 1 or _has_field(properties[path[0]], path[1:]))
