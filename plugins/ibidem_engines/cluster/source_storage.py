"""How indexes store `_source`, and which fields a response may leave out of it.

- Elasticsearch 9.2 and later leave vectors out of answers, unless a request asks for them
  (`index.mapping.exclude_source_vectors`), and keep the embeddings of `semantic_text` elsewhere (`_inference_fields`).
- With `index.mapping.source.mode: synthetic` (Elasticsearch) and `index.derived_source.enabled` (OpenSearch) none is
  stored: the server builds it from stored fields and doc values, in another order and without repeated values.
- The k-NN module of OpenSearch stores `_source` without vectors and puts them back into answers
  (`index.knn.derived_source.enabled`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ibidem_core.address import OURS
from ibidem_core.errors import Permanent
from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.engine import Target
from ibidem_engines.requests import quote_index

KNN_VECTOR = "knn_vector"  # type of the vectors of OpenSearch's k-NN module

VECTORS = frozenset(("dense_vector", "rank_vectors", "sparse_vector", KNN_VECTOR))  # types of fields that hold vectors

# Types of fields whose embeddings the server computes: again for a whole write, not for a partial update.
INFERRED = frozenset(("semantic_text", "semantic"))

EXCLUDE_VECTORS = "index.mapping.exclude_source_vectors"
SOURCE_MODE = "index.mapping.source.mode"
DERIVED = "index.derived_source.enabled"
KNN_DERIVED = "index.knn.derived_source.enabled"

# Settings whose default depends on the version that made an index; a copy gets the value that the first index has.
BY_VERSION = (EXCLUDE_VECTORS, KNN_DERIVED)

# Parameter that asks an index with `EXCLUDE_VECTORS` for the whole `_source`.
WITH_VECTORS = {"_source_exclude_vectors": "false"}

REINDEX = "the server's own _reindex"


@dataclass(frozen=True, slots=True)
class MappedField:
    """A field of a mapping."""

    name: str  # its full name
    type: str  # as the mapping has it
    path: str  # where `_source` has its value: the field that it is a part of (`fields`), or the same as `name`
    nested: str = ""  # the nested object that holds it; empty when it is in the document itself

    @property
    def exists(self) -> dict[str, Any]:
        """The query for documents that have the field."""
        query: dict[str, Any] = {"exists": {"field": self.name}}
        return {"nested": {"path": self.nested, "query": query}} if self.nested else query


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
        """The vector fields."""
        return tuple(field for field in self.fields if field.type in VECTORS)

    @property
    def inferred(self) -> tuple[MappedField, ...]:
        """The fields with embeddings computed by the server."""
        return tuple(field for field in self.fields if field.type in INFERRED)

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

    def check(self, target: Target) -> None:
        """Refuse to write documents from a response that may be incomplete."""
        if self.filtered:
            raise Permanent(
                f"index {self.index!r} does not keep its documents whole ({self.filtered})",
                "they can only be indexed again from where they came, with: ibidem ingest PATH",
            )
        if target == "place" and self.rebuilt.startswith(DERIVED):
            raise Permanent(
                f"index {self.index!r} stores no `_source` ({self.rebuilt}), so it takes no fields of ibidem",
                f"copy it by {REINDEX} into an index without this setting, and sign that one",
            )
        if target in ("copy", "strip"):
            self._check_copyable(target)

    def _check_copyable(self, target: Target) -> None:
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
    names = ",".join((EXCLUDE_VECTORS, SOURCE_MODE, DERIVED, KNN_DERIVED))
    path = f"/{quote_index(index)}/_settings/{names}"
    answer = cluster.ask("GET", path, include_defaults="true", flat_settings="true")
    return {name: {**each.get("defaults", {}), **each.get("settings", {})} for name, each in answer.items()}


def read_storage(index: str, mapping: Mapping[str, Any], settings: Mapping[str, str]) -> SourceStorage:
    """Read how an index stores `_source`."""
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
        return "`_source` is disabled in its mapping"
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
    return f"{DERIVED}: true" if str(settings.get(DERIVED, "")).lower() == "true" else ""


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
