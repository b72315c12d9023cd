"""Signing of written documents: the object `ibidem` is added, every other byte stays. Runs in a process of the pool."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import orjson

from ibidem_core.address import OURS, Fields
from ibidem_engines.cluster.source import (
    as_document,
    own_fields,
    read_version,
    signed_update,
    text_fault,
    with_signatures,
)
from ibidem_engines.cluster.source_values import members, with_member
from ibidem_engines.engine import Record
from ibidem_engines.records import UnstorableRecord, records
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables

Fate = Literal[
    "signed",
    "same",
    "failure",
    "form",
    "id",
    "json",
    "length",
    "order",
    "pipeline",
    "read",
    "retry",
    "rights",
    "schema",
    "script",
    "table",
    "text",
]
"""Fate of a document: `signed`, `same` where nothing was to be signed, else why it goes on unsigned."""

UNREAD = ("", "order", "read", "retry")
"""Obstacles to an update alone: where there is no such document yet, it is signed."""

DOC, UPSERT, AS_UPSERT = "doc", "upsert", "doc_as_upsert"


@dataclass(frozen=True, slots=True)
class WholeWrite:
    """A document that is written whole.

    Args:
        id: Its id.
        layout: Layout of the signatures in its index.
        body: The document as JSON.
        obstacle: Why it is not signed; empty when it is.
    """

    id: str
    layout: str
    body: bytes
    obstacle: Fate | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class PartialWrite:
    """A document that is changed by a body of `_update`.

    Args:
        id: Its id.
        layout: Layout of the signatures in its index.
        body: The body as JSON.
        obstacle: Why it is not signed; empty when it is.
        source: Its `_source` as it was read; empty when there is no such document.
    """

    id: str
    layout: str
    body: bytes
    obstacle: Fate | Literal[""] = ""
    source: Mapping[str, Any] = field(default_factory=dict)


Written = WholeWrite | PartialWrite


@dataclass(frozen=True, slots=True)
class Result:
    """A body on its way to the index.

    Args:
        body: As it goes on.
        fate: Outcome.
    """

    body: bytes
    fate: Fate


@dataclass(frozen=True, slots=True)
class SigningContext:
    """Idf tables and fields that documents are signed with.

    Args:
        tables: Folder of the idf tables.
        fields: Names of a document's fields in the indexes.
        distinct: Fields that must not differ between duplicates.
        max_text: The most characters that a text may have.
        seconds: What signing a few documents may take.
    """

    tables: Path
    fields: Fields
    distinct: tuple[str, ...]
    max_text: int
    seconds: int


@dataclass(frozen=True, slots=True)
class _PreparedWrite:
    """A document that can be signed.

    Args:
        document: What is signed.
        version: The version that it keeps.
        body: The body as it came.
        finish: Writes the signatures into the body.
        fate: Outcome.
    """

    document: Document
    version: int
    body: bytes
    finish: Callable[[Record], bytes]
    fate: Fate = "signed"


def sign_documents(writes: Sequence[Written], context: SigningContext, tables: Tables) -> list[Result]:
    """Sign documents at once, and where that fails one by one: one that cannot be signed harms no other.

    Args:
        writes: The documents.
        context: What they are signed with.
        tables: The idf tables.
    """
    try:
        return _sign(writes, context, tables)
    except Exception:  # noqa: BLE001 - whatever one document does, the others go on, and it goes on unsigned
        if len(writes) == 1:
            return [unsigned_result(writes[0], "failure")]
    return [result for each in writes for result in sign_documents([each], context, tables)]


def _sign(writes: Sequence[Written], context: SigningContext, tables: Tables) -> list[Result]:
    read = [
        _prepare_whole(each, context) if isinstance(each, WholeWrite) else _partial(each, context) for each in writes
    ]
    documents = [each.document for each in read if isinstance(each, _PreparedWrite)]
    prepared_records = iter(records(documents, tables, context.distinct))
    return [_finish(each, next(prepared_records)) if isinstance(each, _PreparedWrite) else each for each in read]


def _finish(prepared: _PreparedWrite, record: Record) -> Result:
    try:
        return Result(prepared.finish(replace(record, version=prepared.version)), prepared.fate)
    except UnstorableRecord as unfit:
        return Result(prepared.body, "id" if unfit.field == "id" else "failure")


def _prepare_whole(write: WholeWrite, context: SigningContext) -> _PreparedWrite | Result:
    source = _object(write.body)
    if source is None:
        return Result(write.body, "json")
    if write.obstacle:
        return unsigned_result(write, write.obstacle)
    document = _document(write.id, source, context)
    if not isinstance(document, Document):
        return Result(_strip_ours(write.body, source), document)
    return _PreparedWrite(
        document,
        read_version(source),
        _strip_ours(write.body, source),
        lambda record: with_signatures(write.body, record, write.layout),
    )


def _document(id_: str, source: Mapping[str, Any], context: SigningContext) -> Document | Fate:
    """Read the document that a `_source` holds, or say why it cannot be signed."""
    if text_fault(source, context.fields):
        return "text"
    document = as_document(id_, source, context.fields)
    return "length" if len(document.text) > context.max_text else document


def _partial(write: PartialWrite, context: SigningContext) -> _PreparedWrite | Result:
    body = _object(write.body)
    if body is None:
        return Result(write.body, "json")
    if "script" in body or write.obstacle not in UNREAD:
        return unsigned_result(write, write.obstacle or "script")
    if write.source and not write.obstacle:
        return _prepare_update(write, body, context)
    return _upsert(write, body, context)


def _prepare_update(write: PartialWrite, body: Mapping[str, Any], context: SigningContext) -> _PreparedWrite | Result:
    """Prepare an update of a document that was read."""
    doc = body.get(DOC)
    if not isinstance(doc, dict) or not doc.keys() - {OURS}:
        return Result(write.body, "same")
    source = merge(write.source, doc)
    if source == write.source:
        return Result(write.body, "same")
    document = _document(write.id, source, context)
    if not isinstance(document, Document):
        return unsigned_result(write, document)
    part, fields = _part(write.body, DOC), own_fields(write.source)
    return _PreparedWrite(
        document,
        read_version(source),
        strip_signatures(write.body, body),
        lambda record: with_member(write.body, DOC, signed_update(part, record, write.layout, fields)),
    )


def _upsert(write: PartialWrite, body: Mapping[str, Any], context: SigningContext) -> _PreparedWrite | Result:
    """Prepare what is written where there is no such document; one that is there loses its signatures."""
    name = DOC if body.get(AS_UPSERT) is True else UPSERT
    source = body.get(name)
    if not isinstance(source, dict):
        return unsigned_result(write, write.obstacle or "same")
    document = _document(write.id, source, context)
    bare = strip_signatures(write.body, body)
    if not isinstance(document, Document):
        return Result(bare, document)
    raw = _part(write.body, name)
    update = with_member(bare, AS_UPSERT, b"false") if AS_UPSERT in body else bare
    return _PreparedWrite(
        document,
        read_version(source),
        bare,
        lambda record: with_member(update, UPSERT, with_signatures(raw, record, write.layout)),
        write.obstacle or "signed",
    )


def unsigned_result(write: Written, fate: Fate) -> Result:
    """Give a document as one that goes on unsigned: it carries no signatures of what it was before."""
    body = _object(write.body)
    if body is None:
        return Result(write.body, "json")
    if isinstance(write, WholeWrite):
        return Result(_strip_ours(write.body, body), fate)
    doc = body.get(DOC)
    if isinstance(doc, dict) and doc and not doc.keys() - {OURS}:
        return Result(write.body, "same")
    return Result(strip_signatures(write.body, body), fate)


def strip_signatures(raw: bytes, body: Mapping[str, Any]) -> bytes:
    """Let an update take a document's signatures away, since they are of what it was before.

    >>> strip_signatures(b'{"doc": {"text": "b"}}', {"doc": {"text": "b"}})
    b'{"doc": {"text": "b","ibidem":null}}'
    """
    if isinstance(body.get(DOC), dict):
        raw = with_member(raw, DOC, with_member(_part(raw, DOC), OURS, b"null"))
    return raw


def merge(stored_fields: Mapping[str, Any], doc: Mapping[str, Any]) -> dict[str, Any]:
    """Merge a partial document into a whole one, as the engines do: objects by their members, all else is replaced.

    >>> merge({"a": {"b": 1, "c": [1]}, "d": 2}, {"a": {"c": [2]}})
    {'a': {'b': 1, 'c': [2]}, 'd': 2}
    """
    result = dict(stored_fields)
    for name, value in doc.items():
        stored_value = result.get(name)
        result[name] = (
            merge(stored_value, value) if isinstance(stored_value, dict) and isinstance(value, dict) else value
        )
    return result


def _object(raw: bytes) -> dict[str, Any] | None:
    try:
        read = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return read if isinstance(read, dict) else None


def _part(raw: bytes, name: str) -> bytes:
    """Cut a member of an object out as it is written."""
    text = raw.decode().strip()
    begin, end = dict(members(text))[name]
    return text[begin:end].encode()


def _strip_ours(raw: bytes, source: Mapping[str, Any]) -> bytes:
    """Take signatures out that a document was read with."""
    return with_member(raw, OURS, b"null") if OURS in source else raw
