"""Documents of an index as stored, each with ibidem's fields and its own JSON."""

import base64
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ibidem_core.address import Fields
from ibidem_engines.cluster.sequence_numbers import write_order
from ibidem_engines.cluster.source import (
    as_document,
    led_group,
    own_fields,
    read_idf,
    read_version,
    text_fault,
)
from ibidem_engines.cluster.source_values import objects
from ibidem_engines.engine import SourceDocument
from ibidem_engines.requests import JsonAnswer
from ibidem_engines.stored_groups import Name
from ibidem_ingest.language import add_languages

Failed = Callable[[Mapping[str, Any]], Exception]


def read_documents(
    answer: JsonAnswer, names: Mapping[tuple[str, str], Name], fields: Fields, to_error: Failed, *, raw: bool
) -> Iterator[SourceDocument]:
    """Read the existing documents of a response."""
    texts: Iterator[bytes] = iter_raw_sources(answer.text) if raw else iter(())
    for each in answer["docs"]:
        text = next(texts, b"")
        if "error" in each:
            raise to_error(each)
        if each.get("found"):
            yield _source_document(each, names[each["_index"], each["_id"]], fields, text)


def iter_raw_sources(text: str | bytes) -> Iterator[bytes]:
    """Yield each document's `_source` as raw bytes of an `_mget` response; empty for missing documents.

    >>> list(iter_raw_sources('{"docs":[{"_id":"a","_source":{"price": 1.50}},{"_id":"b","found":false}]}'))
    [b'{"price": 1.50}', b'']
    """
    text = text.decode() if isinstance(text, bytes) else text
    for spans in objects(text, text.index("[")):
        yield text[slice(*spans.get("_source", (0, 0)))].encode()


def _source_document(hit: Mapping[str, Any], name: Name, fields: Fields, raw: bytes) -> SourceDocument:
    source = hit["_source"]
    own_part = own_fields(source)
    (document,) = add_languages([as_document(name.id, source, fields)])  # like an ingested document
    return SourceDocument(
        name,
        document,
        fault=text_fault(source, fields),
        version=read_version(source),
        digest=_text(own_part, "record"),
        schema=_text(own_part, "schema"),
        idf=read_idf(source),
        packed=_decode_packed(own_part),
        state=(hit["_seq_no"], hit["_primary_term"]),
        order=write_order(hit["_seq_no"]),
        engine_version=hit["_version"],
        own_fields=tuple(own_part),
        group=led_group(own_part),
        raw=raw,
    )


def _text(own_fields: Mapping[str, object], name: str) -> str:
    value = own_fields.get(name)
    return value if isinstance(value, str) else ""


def _decode_packed(own_fields: Mapping[str, object]) -> bytes:
    """Decode the packed value; None if another program has damaged it."""
    try:
        return base64.b64decode(_text(own_fields, "packed"))
    except ValueError:
        return b""
