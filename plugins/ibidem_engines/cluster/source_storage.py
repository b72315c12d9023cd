"""Documents of an index as stored, and how indexes store `_source`: which fields a response may leave out of it.

- Elasticsearch 9.2 and later leave vectors out of answers, unless a request asks for them
  (`index.mapping.exclude_source_vectors`), and keep the embeddings of `semantic_text` elsewhere (`_inference_fields`).
- With `index.mapping.source.mode: synthetic` (Elasticsearch) and `index.derived_source.enabled` (OpenSearch) none is
  stored: the server builds it from stored fields and doc values, in another order and without repeated values.
- The k-NN module of OpenSearch stores `_source` without vectors and puts them back into answers
  (`index.knn.derived_source.enabled`).

An answer shows what a server chooses to show. Whether a document has a field is known to its index too, so that the two
can be compared: for each document before it is written from what was read, and for whole indexes before and after.
"""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ibidem_core.address import OURS, Fields
from ibidem_core.errors import Permanent
from ibidem_engines.cluster.client import ClusterClient, build_failure, to_engine_error
from ibidem_engines.cluster.dsl import ALL, COUNTED, STATES, hits_of, ids_query, total_of
from ibidem_engines.cluster.index import refresh_index, write_order
from ibidem_engines.cluster.source import (
    as_document,
    led_group,
    objects,
    own_fields,
    read_version,
    text_fault,
)
from ibidem_engines.engine import Destination, FieldCounts, SourceDocument
from ibidem_engines.requests import JsonAnswer, Target, in_slices, quote_index
from ibidem_engines.stored_groups import Name
from ibidem_ingest.language import add_languages

KNN_VECTOR = "knn_vector"  # type of the vectors of OpenSearch's k-NN module

VECTORS = frozenset(("dense_vector", "rank_vectors", "sparse_vector", KNN_VECTOR))  # types of fields that hold vectors

# Types of fields whose embeddings the server computes: again for a whole write, not for a partial update.
INFERENCE_FIELDS = frozenset(("semantic_text", "semantic"))

EXCLUDE_VECTORS = "index.mapping.exclude_source_vectors"
SOURCE_MODE = "index.mapping.source.mode"
DERIVED_SOURCE = "index.derived_source.enabled"
KNN_DERIVED = "index.knn.derived_source.enabled"

# Settings whose default depends on the version that made an index; a copy gets the value that the first index has.
BY_VERSION = (EXCLUDE_VECTORS, KNN_DERIVED)

# Parameter that asks an index with `EXCLUDE_VECTORS` for the whole `_source`.
WITH_VECTORS = {"_source_exclude_vectors": "false"}

REINDEX = "the server's own _reindex"


@dataclass(frozen=True, slots=True)
class MappedField:
    name: str  # its full name
    type: str  # as the mapping has it
    path: str  # where `_source` has its value: the field that it is a part of (`fields`), or the same as `name`
    nested: str = ""  # the nested object that holds it; empty when it is in the document itself

    @property
    def exists(self) -> dict[str, Any]:
        """The query for documents that have the field."""
        query: dict[str, Any] = {"exists": {"field": self.name}}
        return {"nested": {"path": self.nested, "query": query}} if self.nested else query


NO_SOURCE = "`_source` is disabled in its mapping"


@dataclass(frozen=True, slots=True)
class SourceStorage:
    """The `_source` of one index."""

    index: str
    fields: tuple[MappedField, ...] = ()  # the fields of its documents, without ibidem's
    filtered: str = ""  # the part of its mapping or settings by which fields are stored nowhere; empty for none
    rebuilt: str = ""  # the setting by which no `_source` is stored and the server builds one; empty for none
    excludes_vectors: bool = False  # whether answers leave vectors out unless they are asked for

    @property
    def vectors(self) -> tuple[MappedField, ...]:
        return tuple(field for field in self.fields if field.type in VECTORS)

    @property
    def inferred(self) -> tuple[MappedField, ...]:
        """The fields with embeddings computed by the server."""
        return tuple(field for field in self.fields if field.type in INFERENCE_FIELDS)

    @property
    def at_risk(self) -> tuple[MappedField, ...]:
        """The fields that a response of this or another server version may leave out."""
        return self.fields if self.rebuilt else self.vectors + self.inferred

    @property
    def unsure(self) -> tuple[MappedField, ...]:
        """The vectors missing in the stored `_source`; each response is checked for them."""
        return tuple(field for field in self.vectors if self.excludes_vectors or field.type == KNN_VECTOR)

    @property
    def updates_in_part(self) -> bool:
        """Whether signatures are added by partial updates, since documents are not stored as sent."""
        return bool(self.rebuilt or self.inferred or self.unsure)

    def check(self, target: Destination) -> None:
        """Refuse to write documents from a response that may be incomplete."""
        if self.filtered == NO_SOURCE:
            raise Permanent(
                f"index {self.index!r} does not keep its documents ({self.filtered}), so none can be read",
                "they can only be indexed again from where they came, with: ibidem ingest PATH",
            )
        if self.filtered and target != "memory":
            raise Permanent(
                f"index {self.index!r} does not keep its documents whole ({self.filtered})",
                "leave them as they are, with signatures in an index beside theirs: ibidem backfill --beside",
            )
        if target == "place" and self.rebuilt.startswith(DERIVED_SOURCE):
            raise Permanent(
                f"index {self.index!r} stores no `_source` ({self.rebuilt}), so it takes no fields of ibidem",
                f"copy it by {REINDEX} into an index without this setting, and sign that one",
            )
        if target in ("copy", "strip"):
            self._check_copyable(target)

    def _check_copyable(self, target: Destination) -> None:
        if self.rebuilt:
            reason = f"index {self.index!r} stores no `_source` ({self.rebuilt})"
        elif self.inferred:
            field = self.inferred[0]
            reason = (
                f"index {self.index!r} keeps the embeddings of field {field.name!r} ({field.type}) outside `_source`"
            )
        else:
            return
        reason += ", so no copy of its documents is sure to be whole"
        if target == "strip":
            raise Permanent(reason, f"copy it by {REINDEX} with the script: ctx._source.remove('{OURS}')")
        raise Permanent(reason, f"sign it in place (ibidem backfill), or copy it by {REINDEX}")


def read_storages(cluster: ClusterClient, index: str) -> dict[str, SourceStorage]:
    """Read how each index behind a name stores `_source`."""
    settings = effective_settings(cluster, index)
    mappings = cluster.ask("GET", f"/{quote_index(index)}/_mapping")
    return {name: read_storage(name, each["mappings"], settings.get(name, {})) for name, each in mappings.items()}


def effective_settings(cluster: ClusterClient, index: str) -> dict[str, dict[str, str]]:
    """Read the settings for `_source`, including defaults; unknown ones are missing in the response."""
    names = ",".join((EXCLUDE_VECTORS, SOURCE_MODE, DERIVED_SOURCE, KNN_DERIVED))
    path = f"/{quote_index(index)}/_settings/{names}"
    answer = cluster.ask("GET", path, include_defaults="true", flat_settings="true")
    return {name: {**each.get("defaults", {}), **each.get("settings", {})} for name, each in answer.items()}


def read_storage(index: str, mapping: Mapping[str, Any], settings: Mapping[str, str]) -> SourceStorage:
    source = mapping.get("_source", {})
    mode = str(settings.get(SOURCE_MODE, "stored")).lower()
    return SourceStorage(
        index,
        tuple(mapped_fields(mapping)),
        _filtered(source, mode),
        _rebuilt(source, mode, settings),
        excludes_vectors=str(settings.get(EXCLUDE_VECTORS, "")).lower() == "true",
    )


def _filtered(source: Mapping[str, Any], mode: str) -> str:
    """Return the setting that excludes fields from the stored `_source`, except ibidem's own."""
    if source.get("enabled") is False or "disabled" in (mode, source.get("mode")):
        return NO_SOURCE
    if source.get("includes"):
        return f"`_source` in its mapping includes only: {', '.join(source['includes'])}"
    excludes = [str(field) for field in source.get("excludes", ()) if not str(field).startswith(f"{OURS}.")]
    return f"`_source` in its mapping excludes: {', '.join(excludes)}" if excludes else ""


def _rebuilt(source: Mapping[str, Any], mode: str, settings: Mapping[str, str]) -> str:
    """Return the setting by which the server rebuilds `_source`; an unknown mode counts as such a setting."""
    if mode not in ("stored", "disabled"):
        return f"{SOURCE_MODE}: {mode}"
    if source.get("mode") == "synthetic":
        return "`_source` in its mapping: mode synthetic"
    return f"{DERIVED_SOURCE}: true" if str(settings.get(DERIVED_SOURCE, "")).lower() == "true" else ""


def mapped_fields(mapping: Mapping[str, Any], prefix: str = "", nested: str = "") -> Iterator[MappedField]:
    """Yield the fields of a mapping, including nested ones, except ibidem's."""
    for short, definition in mapping.get("properties", {}).items():
        name, kind = f"{prefix}{short}", definition.get("type", "object")
        if name == OURS or kind == "alias":
            continue
        if "properties" in definition or kind in ("object", "nested"):
            yield from mapped_fields(definition, f"{name}.", name if kind == "nested" else nested)
            continue
        yield MappedField(name, kind, name, nested)
        for part, inner in definition.get("fields", {}).items():
            yield MappedField(f"{name}.{part}", inner.get("type", ""), name, nested)


MAX_SEARCHES = 100  # searches in one request

BAD_REQUEST = 400


def check_whole(
    cluster: ClusterClient, storage: SourceStorage, documents: Iterable[Mapping[str, Any]], max_hits: int
) -> None:
    """Compare the vectors of the documents that were read with those in the index.

    A document that was changed since it was read is not found in that state; no write onto the state can succeed.
    """
    remaining = {_state(document): document for document in documents}
    named = [{"bool": {"filter": [field.exists], "_name": field.name}} for field in storage.unsure]
    for turn in range(2):
        if not remaining:
            return
        if turn:
            refresh_index(cluster, storage.index)
        body = {
            "query": {"bool": {"filter": [ids_query([id_ for id_, *_ in remaining])], "should": named}},
            "size": max_hits,
            **STATES,
        }
        for hit in hits_of(cluster.search(storage.index, body)):
            document = remaining.pop(_state(hit), None)
            if document is not None:
                _check_document(storage, document, hit.get("matched_queries", ()))


def _check_document(storage: SourceStorage, document: Mapping[str, Any], names: Iterable[str]) -> None:
    fields = {field.name: field for field in storage.unsure}
    for name in names:
        if not holds(document["_source"], fields[name].path.split(".")):
            raise Permanent(
                f"index {storage.index!r}: document {document['_id']!r} has a value in field {name!r} "
                f"({fields[name].type}) that the server leaves out of `_source`, so it would be lost by a write",
                "nothing of it was written; copy the index by the server's own _reindex",
            )


def holds(source: object, names: Sequence[str]) -> bool:
    """Return whether `_source` has a value at a path; names may contain dots, and lists several objects.

    >>> holds({"a.b": [{"c": 1}]}, ["a", "b", "c"]), holds({"a": {"b": None}}, ["a", "b"])
    (True, False)
    """
    if isinstance(source, list):
        return any(holds(each, names) for each in source)
    if not names:
        return source is not None
    if not isinstance(source, Mapping):
        return False
    return any(
        holds(source[name], names[end:])
        for end in range(1, len(names) + 1)
        if (name := ".".join(names[:end])) in source
    )


def _state(document: Mapping[str, Any]) -> tuple[str, int, int]:
    return document["_id"], document["_seq_no"], document["_primary_term"]


def count_fields(cluster: ClusterClient, index: str) -> FieldCounts:
    """Count the documents with each field that a response may leave out, if the server can ask for it (`exists`)."""
    fields = {field.name: field for each in read_storages(cluster, index).values() for field in each.at_risk}
    if not fields:
        return FieldCounts()
    refresh_index(cluster, index)
    names = list(fields)
    queries = [ALL, *(fields[name].exists for name in names)]
    responses: list[Mapping[str, Any]] = []
    for batch in in_slices(queries, MAX_SEARCHES):
        bodies = [{"query": query, **COUNTED} for query in batch]
        responses += cluster.send(Target(index).searches(bodies))["responses"]
    total, *counts = (_count(each, cluster.label) for each in responses)
    by_field = {name: count for name, count in zip(names, counts, strict=True) if count is not None}
    return FieldCounts(total or 0, by_field)


def _count(response: Mapping[str, Any], location: str) -> int | None:
    """Read the count of one search; None if the server refuses the request."""
    if "error" not in response:
        return total_of(response)
    failure = build_failure(int(response.get("status", 0)), response)
    if failure.status != BAD_REQUEST:
        raise to_engine_error(failure, location)
    return None


def read_documents(
    answer: JsonAnswer, names: Mapping[tuple[str, str], Name], fields: Fields, *, raw: bool
) -> Iterator[SourceDocument]:
    texts: Iterator[bytes] = iter_raw_sources(answer.text) if raw else iter(())
    for each in answer["docs"]:
        text = next(texts, b"")
        if each.get("found"):
            yield source_document(each, names[each["_index"], each["_id"]], fields, text)


def iter_raw_sources(text: str | bytes) -> Iterator[bytes]:
    """Yield each document's `_source` as raw bytes of an `_mget` response; empty for missing documents.

    >>> list(iter_raw_sources('{"docs":[{"_id":"a","_source":{"price": 1.50}},{"_id":"b","found":false}]}'))
    [b'{"price": 1.50}', b'']
    """
    text = text.decode() if isinstance(text, bytes) else text
    for spans in objects(text, text.index("[")):
        yield text[slice(*spans.get("_source", (0, 0)))].encode()


def source_document(hit: Mapping[str, Any], name: Name, fields: Fields, raw: bytes) -> SourceDocument:
    source = hit["_source"]
    own_part = own_fields(source)
    (document,) = add_languages([as_document(name.id, source, fields)])  # like an ingested document
    return SourceDocument(
        name,
        document,
        fault=text_fault(source, fields),
        version=read_version(source),
        digest=_own_text(own_part, "record"),
        schema=_own_text(own_part, "schema"),
        idf=_own_text(own_part, "idf"),
        packed=_decode_packed(own_part),
        state=(hit.get("_seq_no", 0), hit.get("_primary_term", 0)),
        order=write_order(hit["_seq_no"]) if "_seq_no" in hit else name.order,
        engine_version=hit["_version"],
        own_fields=tuple(own_part),
        group=led_group(own_part),
        raw=raw,
    )


def _own_text(own_fields: Mapping[str, object], name: str) -> str:
    value = own_fields.get(name)
    return value if isinstance(value, str) else ""


def _decode_packed(own_fields: Mapping[str, object]) -> bytes:
    """Decode the packed value; None if another program has damaged it."""
    try:
        return base64.b64decode(_own_text(own_fields, "packed"))
    except ValueError:
        return b""
