"""Conversion between records and `_source`, whose other values stay as they are, byte for byte.

How indexes store `_source`, and which fields a response may leave out of it:

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
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

import orjson

from ibidem_core.address import OURS, Fields, read_path, remove_path, set_path
from ibidem_core.errors import Permanent
from ibidem_engines.cluster import index as layouts
from ibidem_engines.cluster.client import BAD_REQUEST, ClusterClient, build_failure, to_engine_error
from ibidem_engines.cluster.dsl import ALL, COUNTED, filter_value, total_of
from ibidem_engines.engine import Destination, FieldCounts, Record, SourceDocument, StoredDocument
from ibidem_engines.ledger import LookupValues, UnstorableRecord, check_storable
from ibidem_engines.query import HIGHLIGHT, Query, mark, passage, searched_phrases
from ibidem_engines.requests import Json, Target, in_slices, quote_index
from ibidem_engines.stored_groups import Name, new_group
from ibidem_ingest.dates import EPOCH, interval, iso_date, iso_day, time_of_day
from ibidem_ingest.document import Document
from ibidem_ingest.errors import kind, short_repr
from ibidem_ingest.language import add_languages
from ibidem_ingest.mail.head import with_hash
from ibidem_ingest.readers.text import strip_markup
from ibidem_ingest.signatures.lookup_keys import LookupField
from ibidem_ingest.signatures.schema import SCHEMA

# Numbers are passed over, whatever they are.
_DECODER = json.JSONDecoder(parse_float=len, parse_int=len, parse_constant=len)

_BLANKS = re.compile(r"[ \t\r\n]*")

ESCAPE = b"\\u"  # characters with which a name may be written otherwise than as it is

Span = tuple[int, int]


def members(text: str, start: int = 0) -> Iterator[tuple[str, Span]]:
    """Yield the names of an object's members, with the positions of their values.

    >>> [(name, '{"a": 1.50, "b": [2]}'[begin:end]) for name, (begin, end) in members('{"a": 1.50, "b": [2]}')]
    [('a', '1.50'), ('b', '[2]')]
    """
    start = _past_blanks(text, start + 1)
    while text[start] != "}":
        if text[start] == ",":
            start = _past_blanks(text, start + 1)
        name, start = _DECODER.raw_decode(text, start)
        begin = _past_blanks(text, _past_blanks(text, start) + 1)
        _, end = _DECODER.raw_decode(text, begin)
        yield name, (begin, end)
        start = _past_blanks(text, end)


def objects(text: str, position: int) -> Iterator[dict[str, Span]]:
    """Yield the positions of values by name for each object of an array, in one pass."""
    position = _past_blanks(text, position + 1)
    while text[position] != "]":
        spans = dict(members(text, position))
        yield spans
        _, end = max(spans.values())
        position = _past_blanks(text, text.index("}", end) + 1)
        if text[position] == ",":
            position = _past_blanks(text, position + 1)


def with_member(raw: bytes, name: str, value: bytes) -> bytes:
    """Add a member to an object, replacing one of the same name.

    >>> with_member(b'{"price": 1.50}', "ibidem", b'{}')
    b'{"price": 1.50,"ibidem":{}}'
    """
    raw, quoted = raw.strip(), json.dumps(name).encode()
    if quoted in raw or ESCAPE in raw:
        text = raw.decode()
        spans = dict(members(text))
        if name in spans:
            begin, end = spans[name]
            return f"{text[:begin]}{value.decode()}{text[end:]}".encode()
    comma = b"," if raw[1:-1].strip() else b""
    return b"".join((raw[:-1], comma, quoted, b":", value, b"}"))


def remove_member(raw: bytes, name: str) -> bytes:
    """Remove a member from an object, leaving every other byte unchanged.

    >>> remove_member(b'{"price": 1.50,"ibidem":{}}', "ibidem"), remove_member(b'{"ibidem":{}, "n": 1 }', "ibidem")
    (b'{"price": 1.50}', b'{"n": 1 }')
    """
    text = raw.decode()
    spans = list(members(text))
    position = next((at for at, (member, _) in enumerate(spans) if member == name), None)
    if position is None:
        return raw
    begin, end = (
        _past_blanks(text, spans[position - 1][1][1]) if position else _past_blanks(text, text.index("{") + 1),
        spans[position][1][1],
    )
    if position == 0 and len(spans) > 1:
        end = _past_blanks(text, text.index(",", end) + 1)
    return f"{text[:begin]}{text[end:]}".encode()


def _past_blanks(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return match.end() if match else position


# Hashes that have a field of their own in the layout `full`, and their schemes.
COLLAPSIBLE: tuple[tuple[LookupField, str], ...] = (("fingerprint", "fp1"), ("profile", "tp1"))

_NAMES = ("title", "text", "date", "source", "url", "language")


def as_source(record: Record, fields: Fields, layout: str, values: LookupValues, *, group: str = "") -> bytes:
    """Serialize a record as JSON: the document under the index's own field names, our fields under `ibidem`."""
    document = record.document
    if fields.text_format:
        raise UnstorableRecord(
            "text", f"texts of this index are {fields.text_format}; write it yourself, then sign it: ibidem backfill"
        )
    source: dict[str, object] = {}
    for name in _NAMES:
        if value := getattr(document, name):
            set_path(source, getattr(fields, name), value)
    if document.meta and fields.meta:
        set_path(source, fields.meta, dict(document.meta))
    elif clashes := sorted(document.meta.keys() & {*source, OURS}):
        raise UnstorableRecord("meta", f"this index already has a field {clashes[0]!r}; rename it")
    else:
        source |= document.meta
    source[OURS] = _own_part(record, layout, values, group)
    try:
        return orjson.dumps(source)
    except TypeError as error:
        raise UnstorableRecord("meta", f"JSON cannot hold it: {error}") from error


def signed_part(
    record: Record, layout: str, stored_names: Iterable[str], values: LookupValues, *, group: str = ""
) -> bytes:
    """Build the partial update that adds only a document's signatures."""
    return orjson.dumps({"doc": {OURS: dict.fromkeys(stored_names) | _own_part(record, layout, values, group)}})


def with_signatures(raw: bytes, record: Record, layout: str, values: LookupValues, *, group: str = "") -> bytes:
    """Add a document's signatures to its `_source`, leaving every other byte unchanged."""
    return with_member(raw, OURS, orjson.dumps(_own_part(record, layout, values, group)))


def signature_entry(record: Record, index: str, order: int, group: str, values: LookupValues) -> bytes:
    """Serialize the signatures of a document of an index that is left as it is, without its metadata."""
    own_part = _own_part(record, "lean", values, group) | {"index": index, "order": order}
    fields = {name: value for name, value in own_part.items() if name not in ("meta", "origin")}
    return orjson.dumps({"key": record.document.id, OURS: fields})


def version_update(record: Record, layout: str, values: LookupValues) -> bytes:
    """Build the partial update that raises a document's version.

    An update rebuilds the document from its `_source`, so fields not kept there are sent again.
    """
    own_part = signature_fields(record.document.id, record.packed, record.long, values, layout)
    return orjson.dumps({"doc": {OURS: {"version": record.version} | own_part}})


def as_document(id_: str, source: Mapping[str, object], fields: Fields) -> Document:
    """Build a document from `_source`; fields of a foreign index count only if they have the expected types."""
    own_part = own_fields(source)
    date = iso_date(read_path(source, fields.date))
    return Document(
        id_,
        strip_markup(_text(source, fields.text), fields.text_format),
        title=_text(source, fields.title),
        date=date,
        source=_text(source, fields.source),
        url=_text(source, fields.url),
        language=_language(_text(source, fields.language)),
        version=_number(own_part.get("version")) if own_part.get("given") else None,
        meta=_meta(source, fields, dated=bool(date)),
        origin=_text(own_part, "origin"),
    )


def text_fault(source: Mapping[str, object], fields: Fields) -> str:
    """Return why a document of a foreign index has no text; empty if it has one.

    A document of ours without words has no text either: it is not kept.
    """
    value = read_path(source, fields.text)
    if value is None:
        return "" if "record" in own_fields(source) else "it is missing"
    entries = value if isinstance(value, list) else [value]
    invalid = next((each for each in entries if not isinstance(each, str)), None)
    return "" if invalid is None else f"{short_repr(invalid)} is {kind(invalid)}"


def own_fields(source: Mapping[str, object]) -> Mapping[str, object]:
    """Read the object `ibidem`; empty if missing."""
    own_part = source.get(OURS)
    return own_part if isinstance(own_part, Mapping) else {}


def read_version(source: Mapping[str, object]) -> int:
    """Read the stored version; 0 if ibidem never wrote the document."""
    return _number(read_path(source, "ibidem.version")) or 0


def led_group(own_part: Mapping[str, object]) -> str:
    """Read the name of the group that a document leads; empty if it leads none."""
    return _text(own_part, "group") if own_part.get("lead") is True else ""


def _own_part(record: Record, layout: str, lookup_values: LookupValues, group: str = "") -> dict[str, object]:
    check_storable(record)
    document = record.document
    own_part: dict[str, object] = {"id": document.id, "version": record.version, "record": record.digest}
    own_part |= {"group": group or new_group(), "lead": True}
    if document.version is not None:
        own_part["given"] = True
    if document.origin:
        own_part["origin"] = document.origin
    if days := _days(document.date):
        own_part["date"] = days
    if values := sorted(set(_filter_values(with_hash(document.meta)))):
        own_part["meta"] = values
    if record.packed:
        own_part |= signature_fields(document.id, record.packed, record.long, lookup_values, layout)
        own_part |= {"schema": SCHEMA, "idf": record.signatures.idf, "length": record.signatures.length}
        if (pages := len(document.pages)) > 1 or layout == "full":
            own_part["pages"] = pages
    return own_part


def signature_fields(
    id_: str, packed: bytes, long_value: bytes, lookup_values: LookupValues, layout: str
) -> dict[str, object]:
    """Return the fields that are excluded from `_source`, since they can be computed from the text.

    The keys are one text, joined by spaces: 65 words of it cost a server a third less than as many values of a keyword
    field. A hash that is no evidence gets a value of its own, since a missing one would join all such documents.
    """
    own_fields: dict[str, object] = {
        name: base64.b64encode(value).decode() for name, value in (("packed", packed), ("long", long_value)) if value
    }
    if not lookup_values:
        return own_fields
    hashes = COLLAPSIBLE if layout == "full" else ()
    own_names = {"content", *(name for name, _ in hashes)}
    if keys := [value for name, values in lookup_values.items() if name not in own_names for value in values]:
        own_fields["keys"] = " ".join(keys)
    own_fields |= {name: lookup_values.get(name, [f"{scheme}:none:{id_}"])[0] for name, scheme in hashes}
    return own_fields | {"content": lookup_values["content"][0]}


def _days(text: str) -> list[str]:
    """Return a date's first and last day, or its time in UTC.

    A range that begins by one and ends by the other has a day in common.
    """
    try:
        days = interval(text)
    except ValueError as error:
        raise UnstorableRecord("date", str(error)) from error
    distinct_days = sorted({day for day in days if day is not None})
    if not (seconds := time_of_day(text)):
        return [iso_day(day) for day in distinct_days]
    midnights = [datetime.combine(EPOCH + timedelta(days=day), time.min, UTC) for day in distinct_days]
    return [(each + timedelta(seconds=seconds)).isoformat(timespec="milliseconds") for each in midnights]


def _filter_values(meta: Mapping[str, object]) -> Iterator[str]:
    """Return the values of `meta` that filters can match: plain values, and entries of lists."""
    for name, value in meta.items():
        for entry in value if isinstance(value, list | tuple) else (value,):
            if isinstance(entry, bool):
                yield filter_value(name, str(entry).lower())
            elif isinstance(entry, str | int | float):
                yield filter_value(name, str(entry))


def _meta(source: Mapping[str, object], fields: Fields, *, dated: bool) -> dict[str, object]:
    """Collect the fields that are not standard fields, including an invalid date."""
    inner = read_path(source, fields.meta) if fields.meta else None
    meta = dict(inner) if isinstance(inner, Mapping) else {}
    if fields.are_own:
        return meta
    other_fields = dict(source)
    paths = [getattr(fields, name) for name in _NAMES if dated or name != "date"]
    for path in (*paths, fields.search, fields.meta, OURS):
        other_fields = remove_path(other_fields, path) if path else other_fields
    return other_fields | meta


def _text(source: Mapping[str, object], path: str) -> str:
    """Read a string; entries of a list are joined by line breaks."""
    value = read_path(source, path)
    if isinstance(value, list):
        return "\n".join(str(entry) for entry in value if isinstance(entry, str | int | float))
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _language(text: str) -> str:
    """Read a language code without its region; empty if missing."""
    code = text.replace("_", "-").partition("-")[0].lower()
    return code if code.isalpha() and len(code) in (2, 3) else text


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


_NO_MARKS = str.maketrans(dict.fromkeys(HIGHLIGHT))


def to_stored_document(hit: Json, fields: Fields, query: Query | None) -> StoredDocument:
    source = hit["_source"]
    document = as_document(hit["_id"], source, fields)
    marks = hit.get("highlight", {})
    marked = next((marks[name] for name in (fields.searched, *fields.stemmed) if marks.get(name)), ())
    pieces = [join_lines(piece, document.text) for piece in marked]
    return StoredDocument(
        hit["_index"],
        document,
        read_version(source),
        snippets=pieces or [passage(document.text, searched_phrases(query, "text"))],
        title=marks[fields.title][0]
        if fields.title in marks
        else mark(document.title, searched_phrases(query, "title")),
    )


def join_lines(piece: str, text: str) -> str:
    r"""Join the lines of a server's passage, with an ellipsis where the text is cut.

    >>> join_lines("two\nthree", "One two\nthree.")
    '…two three…'
    """
    plain_text = piece.translate(_NO_MARKS)
    begin = text.find(plain_text)
    head, tail = (text[:begin], text[begin + len(plain_text) :]) if begin >= 0 else ("", "")
    return f"{'…' if head.strip() else ''}{' '.join(piece.split())}{'…' if tail.strip() else ''}"


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


NO_SOURCE = "`_source` is disabled in its mapping"


@dataclass(frozen=True, slots=True)
class SourceStorage:
    """The `_source` of one index."""

    index: str
    fields: tuple[layouts.MappedField, ...] = ()  # the fields of its documents, without ibidem's
    filtered: str = ""  # the part of its mapping or settings by which fields are stored nowhere; empty for none
    rebuilt: str = ""  # the setting by which no `_source` is stored and the server builds one; empty for none
    excludes_vectors: bool = False  # whether answers leave vectors out unless they are asked for

    @property
    def vectors(self) -> tuple[layouts.MappedField, ...]:
        return tuple(field for field in self.fields if field.type in VECTORS)

    @property
    def inferred(self) -> tuple[layouts.MappedField, ...]:
        """The fields with embeddings computed by the server."""
        return tuple(field for field in self.fields if field.type in INFERENCE_FIELDS)

    @property
    def at_risk(self) -> tuple[layouts.MappedField, ...]:
        """The fields that a response of this or another server version may leave out."""
        return self.fields if self.rebuilt else self.vectors + self.inferred

    @property
    def unsure(self) -> tuple[layouts.MappedField, ...]:
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
        if target not in ("copy", "strip") or not (self.rebuilt or self.inferred):
            return
        reason = f"index {self.index!r} stores no `_source` ({self.rebuilt})"
        if not self.rebuilt:
            field = f"field {self.inferred[0].name!r} ({self.inferred[0].type})"
            reason = f"index {self.index!r} keeps the embeddings of {field} outside `_source`"
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


def read_storage(index: str, mapping: Json, settings: Mapping[str, str]) -> SourceStorage:
    source = mapping.get("_source", {})
    mode = str(settings.get(SOURCE_MODE, "stored")).lower()
    return SourceStorage(
        index,
        tuple(field for field in layouts.mapped_fields(mapping) if field.type not in (*layouts.HOLDERS, "alias")),
        _filtered(source, mode),
        _rebuilt(source, mode, settings),
        excludes_vectors=str(settings.get(EXCLUDE_VECTORS, "")).lower() == "true",
    )


def _filtered(source: Json, mode: str) -> str:
    """Return the setting that excludes fields from the stored `_source`, except ibidem's own."""
    if source.get("enabled") is False or "disabled" in (mode, source.get("mode")):
        return NO_SOURCE
    if source.get("includes"):
        return f"`_source` in its mapping includes only: {', '.join(source['includes'])}"
    excludes = [str(field) for field in source.get("excludes", ()) if not str(field).startswith(f"{OURS}.")]
    return f"`_source` in its mapping excludes: {', '.join(excludes)}" if excludes else ""


def _rebuilt(source: Json, mode: str, settings: Mapping[str, str]) -> str:
    """Return the setting by which the server rebuilds `_source`; an unknown mode counts as such a setting."""
    if mode not in ("stored", "disabled"):
        return f"{SOURCE_MODE}: {mode}"
    if source.get("mode") == "synthetic":
        return "`_source` in its mapping: mode synthetic"
    return f"{DERIVED_SOURCE}: true" if str(settings.get(DERIVED_SOURCE, "")).lower() == "true" else ""


MAX_SEARCHES = 100  # searches in one request


def check_whole(cluster: ClusterClient, storage: SourceStorage, documents: Iterable[Json]) -> None:
    """Compare the vectors of the documents that were read with those in the index.

    A document that was changed since it was read is not found in that state; no write onto the state can succeed.
    """
    fields = {field.name: field for field in storage.unsure}
    named = [{"bool": {"filter": [field.exists], "_name": name}} for name, field in fields.items()]
    read = {layouts.state_key(document): document for document in documents}
    found = layouts.search_states(cluster, storage.index, read, {}, {"bool": {"should": [*named, ALL]}})
    for key, document in read.items():
        for field in map(fields.__getitem__, found.get(key, {}).get("matched_queries", ())):
            if not holds(document["_source"], field.path.split(".")):
                raise Permanent(
                    f"index {storage.index!r}: document {document['_id']!r} has a value in field {field.name!r} "
                    f"({field.type}) that the server leaves out of `_source`, so it would be lost by a write",
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


def count_fields(cluster: ClusterClient, index: str) -> FieldCounts:
    """Count the documents with each field that a response may leave out, if the server can ask for it (`exists`)."""
    fields = {field.name: field for each in read_storages(cluster, index).values() for field in each.at_risk}
    if not fields:
        return FieldCounts()
    layouts.refresh_index(cluster, index)
    queries = {"": ALL, **{name: field.exists for name, field in fields.items()}}
    responses: list[Json] = []
    for batch in in_slices(list(queries.values()), MAX_SEARCHES):
        bodies = [{"query": query, **COUNTED} for query in batch]
        responses += cluster.send(Target(index).searches(bodies))["responses"]
    counts: dict[str, int] = {}
    for name, each in zip(queries, responses, strict=True):
        failure = build_failure(int(each.get("status", 0)), each) if "error" in each else None
        if failure is None:
            counts[name] = total_of(each)
        elif failure.status != BAD_REQUEST:
            raise to_engine_error(failure, cluster.label)
    return FieldCounts(counts.pop("", 0), counts)


def iter_raw_sources(text: str | bytes) -> Iterator[bytes]:
    """Yield each document's `_source` as raw bytes of an `_mget` response; empty for missing documents.

    >>> list(iter_raw_sources('{"docs":[{"_id":"a","_source":{"price": 1.50}},{"_id":"b","found":false}]}'))
    [b'{"price": 1.50}', b'']
    """
    text = text.decode() if isinstance(text, bytes) else text
    for spans in objects(text, text.index("[")):
        yield text[slice(*spans.get("_source", (0, 0)))].encode()


def source_document(hit: Json, name: Name, fields: Fields, raw: bytes) -> SourceDocument:
    source, packed = hit["_source"], b""
    own_part = own_fields(source)
    with suppress(ValueError):  # another program may have damaged it
        packed = base64.b64decode(_own_text(own_part, "packed"))
    (document,) = add_languages([as_document(name.id, source, fields)])  # like an ingested document
    return SourceDocument(
        name,
        document,
        fault=text_fault(source, fields),
        version=read_version(source),
        digest=_own_text(own_part, "record"),
        schema=_own_text(own_part, "schema"),
        idf=_own_text(own_part, "idf"),
        packed=packed,
        state=(hit.get("_seq_no", 0), hit.get("_primary_term", 0)),
        order=layouts.write_order(hit["_seq_no"]) if "_seq_no" in hit else name.order,
        engine_version=hit["_version"],
        own_fields=tuple(own_part),
        group=led_group(own_part),
        raw=raw,
    )


def _own_text(own_fields: Mapping[str, object], name: str) -> str:
    value = own_fields.get(name)
    return value if isinstance(value, str) else ""
