"""Read an existing index in a cluster shard by shard, in the order of sequence numbers, and sign it again.

It is signed in its place, or into a new index, which is created with the same mapping, filled, and given the alias.

Signatures beside an index that must not be touched are in a second one, `.ibidem-NAME-signatures`: an entry a document,
under its index and id, with ibidem's fields and no text. Groups are settled there; records, such as manual decisions,
stay those of the first index, so that they outlive a change from one to the other.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from math import inf
from typing import Any

from ibidem_core.address import OURS, Fields, read_path, remove_path
from ibidem_core.errors import Permanent
from ibidem_engines import engine as protocol
from ibidem_engines.cluster import client, records, source
from ibidem_engines.cluster import index as layouts
from ibidem_engines.cluster.dsl import ALL, PACKED, STATES, Clause, all_of, hits_of, ids_query, state_of, total_of
from ibidem_engines.cluster.lookup import read_binary
from ibidem_engines.cluster.records import LedgerStore
from ibidem_engines.cluster.write import ROUNDS, get_many, read_versions, refused_field
from ibidem_engines.engine import Destination, FieldCounts, Outcome, Record, Signed, SourceDocument
from ibidem_engines.ledger import LookupValues, prepare_each
from ibidem_engines.requests import ApiRequest, Json, quote_index
from ibidem_engines.stored_groups import Ledger, Marks, Name, SeqNoRange, ShardRef, own_group
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.lookup_keys import stored_keys

SLICE = 1_000

# Settings that belong to an index itself and cannot be given to another.
ITS_OWN = ("uuid", "creation_date", "provided_name", "version", "resize", "routing", "history", "blocks", "shard_limit")

# Settings that a copy gets when it is full: what its documents went through once, they do not go through again.
DELAYED_SETTINGS = ("default_pipeline", "final_pipeline", "refresh_interval")

COPY_OF = "copy_of"  # in the metadata of a copy's mapping: the index that it is made of, from its very creation on


class ClusterReindexTarget(layouts.ClusterParts, protocol.ReindexTarget):
    """The copy of one index; see `ReindexTarget`."""

    def __init__(self, cluster: client.ClusterClient, source: str, name: str) -> None:
        super().__init__(cluster, name)
        self._source, self._kind = source, cluster.address.layout

    def exists(self) -> bool:
        return bool(layouts.read(self.cluster, self.index).indices)

    def is_unfilled(self) -> bool:
        (metadata,) = self.cluster.ask("GET", f"/{self.index}/_mapping").values()
        made_as = metadata["mappings"].get("_meta", {}).get(OURS, {}).get(COPY_OF)
        return made_as == self._source and not any(self.newest().values())

    def create(self, *, with_fields: bool = True) -> None:
        """Create the index with fields, analyzers and settings of the old one, with or without `ibidem`."""
        settings, mappings = self._read_source()
        if not with_fields:
            body = {"settings": {"index": _early(settings)}, "mappings": _strip_mapping(mappings)}
            self.cluster.ask("PUT", f"/{self.index}", body)
            return
        template, own = layouts.template(self._kind), layouts.own_fields(self._kind)
        meta = mappings.get("_meta", {}) | {OURS: own["_meta"][OURS] | {COPY_OF: self._source}}
        mapping = mappings | {"_meta": meta, "properties": mappings.get("properties", {}) | own["properties"]}
        # A part left out of `_source` makes the server write the rest in another order: documents of others stay as
        # they are, unless the lean layout is asked for.
        if mapping.pop("_source", None) or self._kind == "lean":
            mapping["_source"] = template["mappings"]["_source"]
        codec = {name: value for name, value in template["settings"]["index"].items() if name == "codec"}
        if not self.exists():
            body = {"settings": {"index": codec | _early(settings)}, "mappings": mapping}
            self.cluster.ask("PUT", f"/{self.index}", body)
        records.make_missing(self.cluster, self.index)

    def count_fields(self) -> FieldCounts:
        return source.count_fields(self.cluster, self.index)

    def prune(self, end: Marks) -> int:
        removed_count = 0
        for part, max_seq_no in end.items():
            position = layouts.NONE
            while batch := self.states(SeqNoRange(part, position, max_seq_no), SLICE):
                position = batch[-1][0].order
                docs = [{**_document(name), "_index": self._source} for name, _ in batch]
                answer = self.cluster.hold(client.read_docs(docs, {"_source": "false"}))
                gone = {each["_id"] for each in answer["docs"] if not each.get("found")}
                actions = [
                    client.Action("delete", self.index, name.id, None, state, name.routing)
                    for name, state in batch
                    if name.id in gone
                ]
                outcomes = client.run(self.cluster, actions)
                removed_count += sum(each.status not in (client.CONFLICT, client.NOT_FOUND) for each in outcomes)
        return removed_count

    def check_alias(self, alias: str) -> None:
        if alias in layouts.read(self.cluster, alias).indices:
            raise UsageError(f"{alias!r} is an index, so it cannot be an alias", "name another with --alias")

    def finish(self, alias: str) -> None:
        """Move the alias unchanged and in one step, so that every search finds one of the two indexes."""
        settings, _ = self._read_source()
        late_settings: dict[str, Any] = {name: settings.get(name) for name in DELAYED_SETTINGS}
        self.cluster.ask("PUT", f"/{self.index}/_settings", {"index": late_settings})
        if not alias:
            return
        request = ApiRequest("GET", f"/_alias/{quote_index(alias)}", ok_statuses=(client.NOT_FOUND,))
        definition: Json = self.cluster.send(request)
        properties: Json = next((metadata["aliases"][alias] for metadata in definition.values()), {})
        actions = [{"remove": {"index": index, "alias": alias}} for index in definition if index != self.index]
        actions.append({"add": {"index": self.index, "alias": alias, **properties}})
        self.cluster.ask("POST", "/_aliases", {"actions": actions})

    def take_late(self, documents: Sequence[Signed], end: Marks) -> list[Outcome]:
        places = {document.name.id: at for at, (document, _) in enumerate(documents)}
        states = {
            name.id: state
            for part, last in end.items()
            for name, state in self.states(SeqNoRange(part, layouts.NONE, last), max(1, len(places)), list(places))
        }
        outcomes = self.take(documents, states)
        for _ in range(ROUNDS):  # over older versions; documents of other programs have none and are kept
            kept = (id_ for id_, at in places.items() if outcomes[at].status is protocol.WriteStatus.STALE)
            versions = {id_: version for id_ in kept if (version := documents[places[id_]][0].version)}
            stored = read_versions(self.cluster, (self.index,), list(versions))
            older = [id_ for id_, each in stored.items() if (each.version or inf) < versions[id_]]
            if not older:
                break
            states = {id_: stored[id_].state for id_ in older}
            replaced = self.take([documents[places[id_]] for id_ in older], states)
            for id_, outcome in zip(older, replaced, strict=True):
                outcomes[places[id_]] = outcome
        return outcomes

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
            actions.append(client.Action(verb, self.index, name.id, body, state, name.routing, version))
        outcomes: list[Outcome] = []
        for position, outcome in enumerate(client.run(self.cluster, actions)):
            document = documents[position][0]
            older = Outcome(document.name.id, protocol.WriteStatus.STALE, why="a newer one exists")
            outcomes.append(unfit.get(position) or read_outcome(document, outcome) or older)
        return outcomes

    def _read_source(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Read the settings and the mapping of the index that is copied."""
        (metadata,) = self.cluster.ask("GET", f"/{quote_index(self._source)}").values()
        settings = {name: value for name, value in metadata["settings"]["index"].items() if name not in ITS_OWN}
        (effective,) = source.effective_settings(self.cluster, self._source).values()
        settings |= {name.removeprefix("index."): effective[name] for name in source.BY_VERSION if name in effective}
        return settings, metadata["mappings"]


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


class ClusterReindexSource(layouts.ClusterParts, protocol.ReindexSource):
    """Documents of an index, or of the indexes behind an alias; see `ReindexSource`."""

    def __init__(self, cluster: client.ClusterClient, index: str) -> None:
        super().__init__(cluster, index)
        self._fields, self._kind, self._at_once = cluster.address.fields, cluster.address.layout, FIRST_READ
        self.text_field = self._fields.text

    @property
    def alias(self) -> str:
        return "" if self.index in self.layout.indices else self.index

    @property
    def updates_in_part(self) -> bool:
        return bool(self._final_pipelines) or any(each.updates_in_part for each in self._storages.values())

    def check(self, target: Destination) -> None:
        self._check_numbers()
        if target == "place":
            layouts.check_readable(self.layout, self.index, self.cluster)
            if self.layout.beside:
                raise UsageError(
                    f"the signatures of {self.index!r} are beside it, in {', '.join(self.layout.beside)}",
                    "keep them there: ibidem backfill --beside; or drop them first: ibidem strip",
                )
        elif target == "copy" and self.layout.streams:
            raise UsageError(
                f"{self.index!r} is a data stream, which cannot be replaced by an alias", "sign it in place"
            )
        elif target == "copy" and len(self.layout.indices) > 1:
            raise UsageError(
                f"{self.index!r} points to several indexes: {', '.join(self.layout.indices)}",
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
            layouts.create(self.cluster, self.index)
        except Permanent as error:
            if not client.is_failure(error, 403):
                raise
            raise Permanent(error.what, "ask for the right to write; or leave it as it is: --beside") from error
        self.layout = layouts.read(self.cluster, self.index)
        records.make_missing(self.cluster, self.layout.names(self.index).home)

    def missing_fields(self) -> list[str]:
        named = {each.name for each in fields(Fields) if getattr(self._fields, each.name) != each.default} | {"text"}
        paths = {getattr(self._fields, name) for name in named - {"stemmed", "text_format"}}
        paths = {*paths, *self._fields.stemmed} - {""}
        mappings = self.cluster.ask("GET", f"/{quote_index(self.index)}/_mapping").values()
        paths -= {each.path for mapping in mappings for each in layouts.mapped_fields(mapping["mappings"])}
        if not paths:
            return []
        layouts.refresh_index(self.cluster, self.index)
        hits = hits_of(self.cluster.search(self.index, {"size": SAMPLE, "query": ALL}))
        sources = [hit.get("_source", {}) for hit in hits]
        return sorted(path for path in paths if sources and all(read_path(each, path) is None for each in sources))

    def uuids(self) -> Mapping[str, str]:
        return layouts.ClusterParts(self.cluster, self.index).uuids()

    def count(self, seq_range: SeqNoRange) -> int:
        return self.count_in(seq_range.part, layouts.in_range(seq_range))

    def names(self, seq_range: SeqNoRange, size: int) -> list[Name]:
        return [name for name, _ in self.states(seq_range, size)]

    def read(self, names: Sequence[Name], *, raw: bool = False) -> list[SourceDocument]:
        """Read as many documents at once as fit a few megabytes; with raw JSON, vectors are requested and verified."""
        documents: list[SourceDocument] = []
        position = 0
        params = source.WITH_VECTORS if raw and any(each.excludes_vectors for each in self._storages.values()) else {}
        while position < len(names):
            batch = names[position : position + self._at_once]
            position += len(batch)
            answer = self.cluster.hold(client.read_docs(map(_document, batch), params))
            for index, storage in self._storages.items() if raw else ():
                storage.check("strip")
                found = [each for each in answer["docs"] if each["_index"] == index and each.get("found")]
                source.check_whole(self.cluster, storage, found if storage.unsure else ())
            self._at_once = max(1, min(MAX_READ, READ_BYTES * len(batch) // max(1, len(answer.text))))
            names_by_place = {(name.index, name.id): name for name in batch}
            texts = source.iter_raw_sources(answer.text) if raw else [b""] * len(batch)
            for each, text in zip(answer["docs"], texts, strict=True):
                if not each.get("found"):
                    continue
                for field in self._storages[each["_index"]].vectors:  # signatures do not depend on what was requested
                    each["_source"] = remove_path(each["_source"], field.path)
                name = names_by_place[each["_index"], each["_id"]]
                documents.append(source.source_document(each, name, self._fields, text))
        # What the mapping leaves out of `_source` is read from the index. A document that another writer changes at the
        # same time stays without: it counts as unsigned, and is signed again.
        keys = [(each.name.index, each.name.id, each.name.routing, each.state) for each in documents]
        incomplete = [key for key, each in zip(keys, documents, strict=True) if each.schema and not each.packed]
        hits = layouts.search_states(self.cluster, self.index, incomplete, {"docvalue_fields": [PACKED]})
        packed = {key: read_binary(hit, PACKED) or b"" for key, hit in hits.items()}
        pairs = zip(keys, documents, strict=True)
        return [replace(each, packed=each.packed or packed.get(key, b"")) for key, each in pairs]

    def count_fields(self) -> FieldCounts:
        return source.count_fields(self.cluster, self.index)

    def sign(self, documents: Sequence[Signed]) -> list[Outcome | None]:
        """Write whole documents, bypassing the default pipeline, or partial updates if `updates_in_part` is set.

        A partial update takes a server a third more: it reads and parses the document again.
        """
        signed = {at: record for at, (_, record) in enumerate(documents) if record is not None}
        actions, unfit = prepare_each(signed, lambda at, values: self._signing(documents[at][0], signed[at], values))
        outcomes: dict[int, Outcome | None] = {**unfit}
        for position, outcome in zip(actions, client.run(self.cluster, list(actions.values())), strict=True):
            outcomes[position] = read_outcome(documents[position][0], outcome)
        return [outcomes.get(position) for position in range(len(documents))]

    def _signing(self, document: SourceDocument, record: Record, values: LookupValues) -> client.Action:
        """Build the action that adds signatures to a document: a whole write if its JSON was read."""
        name, kind = document.name, self.layout.kind
        group = document.group or own_group(name)
        if not document.raw or self.updates_in_part:
            body = source.signed_part(record, kind, document.own_fields, values, group=group)
            return client.Action("update", name.index, name.id, body, document.state, name.routing)
        return _whole(document, source.with_signatures(document.raw, record, kind, values, group=group))

    def strip_document(self, document: SourceDocument) -> SourceDocument:
        return replace(document, raw=source.remove_member(document.raw, OURS))

    def strip(self, documents: Sequence[SourceDocument]) -> list[Outcome | None]:
        """Write whole documents without the object `ibidem`, bypassing the default pipeline."""
        outcomes = client.run(self.cluster, [_whole(each, self.strip_document(each).raw) for each in documents])
        return [read_outcome(document, each) for document, each in zip(documents, outcomes, strict=True)]

    def unmark(self) -> None:
        """Remove ibidem's entry from `_meta`; a server cannot remove a field from a mapping."""
        for index in self.layout.indices:
            (current,) = self.cluster.ask("GET", f"/{index}/_mapping").values()
            meta = current["mappings"].get("_meta", {})
            if OURS in meta:
                remaining = {name: value for name, value in meta.items() if name != OURS}
                self.cluster.ask("PUT", f"/{index}/_mapping", {"_meta": remaining})
        self.layout = layouts.read(self.cluster, self.index)

    def drop_beside(self, *, dry: bool) -> tuple[int, int] | None:
        if not (names := self.layout.beside):
            return None
        path = f"/{quote_index(','.join(names))}"
        body = {"size": 0, "aggs": {"of": {"terms": {"field": f"{OURS}.index", "size": MAX_INDICES}}}}
        signed = self.cluster.search(",".join(names), body)["aggregations"]["of"]["buckets"]
        others = sorted({each["key"] for each in signed} - {*self.layout.indices})
        home = layouts.source_of(names[0])
        if others and self.index != home:  # by its own name those of deleted indexes go, too
            raise UsageError(
                f"{', '.join(names)} also holds the signatures of {', '.join(map(repr, others))}",
                f"strip all of them by the name that they were signed by: IBIDEM_INDEX={home}",
            )
        parts = "_all.primaries.docs.count,_all.total.store.size_in_bytes"
        counts = self.cluster.ask("GET", f"{path}/_stats/docs,store", filter_path=parts)["_all"]
        if not dry:
            self.cluster.ask("DELETE", path)
        return int(counts["primaries"]["docs"]["count"]), int(counts["total"]["store"]["size_in_bytes"])

    def drop_records(self) -> None:
        for name in records.record_indices({self.layout.names(self.index).home, self.index}):
            self.cluster.ask("DELETE", f"/{quote_index(name)}", ignore_unavailable="true")

    def size(self) -> int:
        answer = self.cluster.ask("GET", f"/{quote_index(self.index)}/_stats/store", filter_path="_all.total.store")
        return int(answer["_all"]["total"]["store"]["size_in_bytes"])

    def added_bytes(self, record: Record) -> int:
        (values,) = stored_keys([(record.packed, record.long)])
        return len(source.with_signatures(b"{}", record, self._kind, values))

    def get_records(self, ledger: Ledger) -> Iterator[tuple[str, Any]]:
        return LedgerStore(self.cluster, self.layout.names(self.index)).get(ledger, "")

    def copy_to(self, name: str) -> protocol.ReindexTarget:
        (index,) = {part.index for part in self.parts()}
        return ClusterReindexTarget(self.cluster, index, name)

    def close(self) -> None:
        self.cluster.close()

    def _check_numbers(self) -> None:
        """Refuse an index whose sequence numbers cannot be searched."""
        if names := ", ".join(map(repr, self.layout.unnumbered)):
            raise UsageError(
                f"the sequence numbers of {names} cannot be searched (index.disable_sequence_numbers)",
                "add changed=FIELD to IBIDEM_FIELDS, the date of its last change, and use: ibidem backfill --beside",
            )

    @cached_property
    def _final_pipelines(self) -> Mapping[str, str]:
        """The final pipeline of each index that has one; it changes every document that is written whole."""
        path, parts = f"/{quote_index(self.index)}/_settings", "*.settings.index.final_pipeline"
        answer = self.cluster.ask("GET", path, filter_path=parts)
        pipelines = {index: str(each["settings"]["index"]["final_pipeline"]) for index, each in answer.items()}
        return {index: pipeline for index, pipeline in pipelines.items() if pipeline != "_none"}

    @cached_property
    def _storages(self) -> Mapping[str, source.SourceStorage]:
        return source.read_storages(self.cluster, self.index)


def _document(name: Name) -> Json:
    return {"_index": name.index, "_id": name.id, **({"routing": name.routing} if name.routing else {})}


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
    return Outcome(name, protocol.WriteStatus.INDEXED, layouts.write_order(outcome.place), document.version)


MAX_LOOKUP = 200_000_000  # documents that an index of one shard takes, as a look-up join needs it
NO_STATE = 0, 0  # state of an entry that is not there: no primary term is 0
AGAIN_MS = 60_000  # each look reads again from a minute before the last date


class BesideSource(ClusterReindexSource):
    """Documents of an index, whose signatures are written into another one."""

    def __init__(self, cluster: client.ClusterClient, index: str, *, lookup: bool) -> None:
        super().__init__(cluster, index)
        self._kind, self._lookup = "lean", lookup

    @property
    def updates_in_part(self) -> bool:
        return True  # documents are read without their JSON, which nobody writes again

    @property
    def beside(self) -> str:
        return next(iter(layouts.read(self.cluster, self._held).uuids.values()), "")

    @cached_property
    def _held(self) -> str:
        return layouts.signature_index(self.layout.names(self.index).home)

    def check(self, target: Destination) -> None:
        del target
        layouts.check_readable(self.layout, self.index, self.cluster)
        if self.layout.kinds:
            raise UsageError(
                f"{self.index!r} holds its signatures itself",
                "sign it in place: ibidem backfill; or take them out first: ibidem strip",
            )
        super().check("memory")

    def prepare(self) -> None:
        """Create the index of signatures, with as many shards as the first one has."""
        home = self.layout.names(self.index).home
        records.make_missing(self.cluster, home)
        found = layouts.read(self.cluster, self._held)
        if found.bare:
            records_of = f"{home}{layouts.SIGNATURES}"
            problem = f"index {self._held!r} is not one of signatures: {records_of!r} keeps records there"
            raise UsageError(problem, "sign in place; or give one of the two indexes another name")
        if found.indices:
            return
        settings: Clause = {"number_of_shards": self.layout.shards, "auto_expand_replicas": "0-1", "hidden": True}
        if self._lookup:
            if (documents := layouts.count(self.cluster, self.index)) > MAX_LOOKUP:
                problem = f"{self.index!r} has {documents:,} documents, and an index for look-ups has one shard"
                raise UsageError(problem, f"leave out --lookup: it is for at most {MAX_LOOKUP:,}")
            settings |= {"number_of_shards": 1, "mode": "lookup"}
        try:
            layouts.make(self.cluster, self._held, {"settings": {"index": settings}, "mappings": mappings()})
        except Permanent as error:
            if not self._lookup or not client.is_failure(error, client.BAD_REQUEST):
                raise
            remedy = "leave out --lookup: it is for the LOOKUP JOIN of Elasticsearch 8.18 and later"
            raise UsageError(f"{error.what}: this server has no index for look-ups", remedy) from error

    def newest(self, marks: Marks | None = None) -> dict[ShardRef, int]:
        """Return the last write of each part; by a search where the account may not see statistics."""
        with client.unless_failure(client.FORBIDDEN):
            return super().newest(marks)
        return {part: self._last_write(part) for part in self.parts()}

    def _last_write(self, part: ShardRef) -> int:
        body: Clause = {"size": 0, "aggs": {"last": {"max": {"field": self._fields.changed or "_seq_no"}}}}
        answer = self.search(part, body)
        value = answer["aggregations"]["last"]["value"]
        is_empty = value is None and not total_of(answer)
        return layouts.NONE if is_empty else layouts.write_order(max(0, int(value or 0)))

    def uuids(self) -> Mapping[str, str]:
        with client.unless_failure(client.FORBIDDEN):
            return super().uuids()
        return self.layout.uuids

    def count_fields(self) -> FieldCounts:
        return FieldCounts()  # no document is written, so none can lose a field

    def read(self, names: Sequence[Name], *, raw: bool = False) -> list[SourceDocument]:
        del raw
        originals = super().read(names)
        keys = [layouts.beside_key(each.name.index, each.name.id) for each in originals]
        entries = {each["_id"]: each for each in get_many(self.cluster, [self._held], keys, OURS)}
        return [self._with_entry(each, key, entries.get(key)) for each, key in zip(originals, keys, strict=True)]

    def _with_entry(self, original: SourceDocument, key: str, entry: Json | None) -> SourceDocument:
        """Return a document with what its entry says of it; of an older state its signatures are not current."""
        original = replace(original, document=replace(original.document, id=key), state=NO_STATE, own_fields=())
        if entry is None:
            return original
        held = source.source_document({**entry, "_version": 0}, original.name, self._fields, b"")
        held = replace(held, document=original.document, fault=original.fault, order=original.order, own_fields=())
        is_current = entry["_source"].get(OURS, {}).get("order") == original.order
        return held if is_current else replace(held, digest="")

    def sign(self, documents: Sequence[Signed]) -> list[Outcome | None]:
        return [each and replace(each, order=0) for each in super().sign(documents)]

    def _signing(self, document: SourceDocument, record: Record, values: LookupValues) -> client.Action:
        name, is_new = document.name, document.state == NO_STATE
        body = source.signature_entry(record, name.index, document.order, document.group or own_group(name), values)
        verb, state = ("create", None) if is_new else ("index", document.state)
        return client.Action(verb, self._held, record.document.id, body, state)

    def prune(self) -> int:
        """Delete the entries of documents that are gone; they are looked for where the two indexes' counts differ."""
        layouts.refresh_index(self.cluster, self._held)
        ends: dict[str, int] = {}
        for part, end in self.newest().items():
            ends[part.index] = max(end, ends.get(part.index, 0))
        gone: list[Clause] = [{"bool": {"must_not": {"terms": {f"{OURS}.index": list(ends)}}}}]
        ranges = [(index, 0, end) for index, end in ends.items()]
        slices = layouts.count(self.cluster, self._held, gone[0]) // SLICE + 1
        removed = sum(self._delete(gone, ()) for _ in range(slices))
        while ranges:
            index, after, end = ranges.pop()
            inside: list[Clause] = [{"term": {f"{OURS}.index": index}}, _orders(f"{OURS}.order", after + 1, end + 1)]
            held = layouts.count(self.cluster, self._held, all_of(*inside))
            if held <= layouts.count(self.cluster, index, self._written(after, end)):
                continue
            if held > SLICE and end - after > 1:
                middle = (after + end) // 2
                ranges += [(index, after, middle), (index, middle, end)]
            else:
                removed += self._delete(inside, self._present(index, inside))
        return removed

    def _written(self, after: int, end: int) -> Clause:
        return _orders("_seq_no", after, end)

    def _entries(self, conditions: Sequence[Clause]) -> list[dict[str, Any]]:
        return hits_of(self.cluster.search(self._held, {"query": all_of(*conditions), "size": SLICE, **STATES}))

    def _present(self, index: str, conditions: Sequence[Clause]) -> set[str]:
        """Return the keys of entries whose documents are there, by a search, which finds them under any routing."""
        ids = [each["_id"].partition("/")[2] for each in self._entries(conditions)]
        body: Clause = {"query": ids_query(ids), "size": len(ids), "_source": False, "track_total_hits": False}
        hits = hits_of(self.cluster.search(index, body)) if ids else []
        return {layouts.beside_key(index, each["_id"]) for each in hits}

    def _delete(self, conditions: Sequence[Clause], present: Sequence[str] | set[str]) -> int:
        """Delete entries whose documents are not present, unless they were written meanwhile."""
        actions = [
            client.Action("delete", self._held, each["_id"], None, state_of(each))
            for each in self._entries(conditions)
            if each["_id"] not in present
        ]
        return sum(outcome.status < 300 for outcome in client.run(self.cluster, actions))


class DatedSource(BesideSource):
    """The same for an index that says in a field when a document was last changed, by milliseconds in place of numbers.

    Documents without a date count as the first. Several may have one date, so a run that was stopped begins anew: it
    reads all, and signs what has changed. The last minute is read again with each look, since a write is found some
    time after its date.
    """

    def __init__(self, cluster: client.ClusterClient, index: str, *, lookup: bool) -> None:
        super().__init__(cluster, index, lookup=lookup)
        self._run = secrets.token_hex(4)
        self._next: dict[ShardRef, tuple[int, int]] = {}  # range that the next page of a part begins with

    def _check_numbers(self) -> None:
        """Allow an index without them: dates take their place."""

    def uuids(self) -> Mapping[str, str]:
        return {index: f"{uuid}/{self._run}" for index, uuid in layouts.read(self.cluster, self.index).uuids.items()}

    def newest(self, marks: Marks | None = None) -> dict[ShardRef, int]:
        del marks
        return {part: self._last_write(part) for part in self.parts()}

    def count(self, seq_range: SeqNoRange) -> int:
        return self.count_in(seq_range.part, self._since(seq_range))

    def names(self, seq_range: SeqNoRange, size: int) -> list[Name]:
        """Return the first documents of a range, and all others that have the date of the last one."""
        found = self._names(seq_range.part, self._since(seq_range), size)
        if len(found) < size:
            return found
        last = found[-1].order
        self._next[seq_range.part] = last, seq_range.end
        equal = self._names(seq_range.part, self._written(last - 1, last), self.layout.max_hits)
        if len(equal) == self.layout.max_hits:
            problem = f"{len(equal):,} documents or more of {seq_range.part.index!r} have one {self._fields.changed!r}"
            raise UsageError(problem, "name a field with the time of a change in IBIDEM_FIELDS=changed=…")
        return [each for each in found if each.order < last] + equal

    def _names(self, part: ShardRef, query: Clause, size: int) -> list[Name]:
        sort = {self._fields.changed: {"order": "asc", "missing": "_first", "unmapped_type": "date"}}
        body: Clause = {"query": query, "sort": [sort], "size": size, "_source": False, "track_total_hits": False}
        return [
            Name(hit["_index"], hit["_id"], layouts.write_order(max(0, int(hit["sort"][0]))), hit.get("_routing", ""))
            for hit in hits_of(self.search(part, body))
        ]

    def _since(self, seq_range: SeqNoRange) -> Clause:
        """Build a clause for a range and the minute before, which each page but the first leaves out."""
        is_next = self._next.get(seq_range.part) == (seq_range.after, seq_range.end)
        return self._written(seq_range.after if is_next else max(0, seq_range.after - AGAIN_MS), seq_range.end)

    def _written(self, after: int, end: int) -> Clause:
        field = self._fields.changed
        written = _orders(field, after or None, end)
        written["range"][field]["format"] = "epoch_millis"
        undated = {"bool": {"must_not": {"exists": {"field": field}}}}
        return written if after else {"bool": {"should": [written, undated]}}


def _orders(field: str, first: int | None, end: int) -> Clause:
    return {"range": {field: {"gte": first, "lt": end}}}


def mappings() -> dict[str, Any]:
    """Return the mapping of an index of signatures: ibidem's fields, and where the document is."""
    own: dict[str, Any] = layouts.template("lean")["mappings"]
    fields = own["properties"][OURS]
    fields["properties"] |= {"index": {"type": "keyword"}, "order": {"type": "long"}}
    excludes = [name for name in own["_source"]["excludes"] if name != f"{OURS}.packed"]  # which a backfill compares
    return own | {"_source": {"excludes": excludes}, "properties": {"key": {"type": "keyword"}, OURS: fields}}
