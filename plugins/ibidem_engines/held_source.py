"""Documents as a server gives them, read for being signed."""

import base64
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ibidem_engines.fields import Fields
from ibidem_engines.holding import Held, Name
from ibidem_engines.raw_json import entries, members
from ibidem_engines.source import as_document, idf_of, ours_of, text_fault, version_of
from ibidem_engines.wire import Answer

Failed = Callable[[Mapping[str, Any]], Exception]


def held(
    answer: Answer, names: Mapping[tuple[str, str], Name], fields: Fields, failed: Failed, *, raw: bool
) -> Iterator[Held]:
    """Read the documents of an answer that are there.

    Args:
        answer: Of `_mget`.
        names: Those that were asked for, by index and id.
        fields: What the index calls a document's fields.
        failed: Makes the error of one that could not be read.
        raw: Whether their JSON is wanted.
    """
    texts: Iterator[bytes] = raw_sources(answer.text) if raw else iter(())
    for each in answer["docs"]:
        text = next(texts, b"")
        if "error" in each:
            raise failed(each)
        if each.get("found"):
            yield _held(each, names[each["_index"], each["_id"]], fields, text)


def raw_sources(text: str | bytes) -> Iterator[bytes]:
    """Yield each document's `_source` as it is written; nothing for one that is not there.

    >>> list(raw_sources('{"docs":[{"_id":"a","_source":{"price": 1.50}},{"_id":"b","found":false}]}'))
    [b'{"price": 1.50}', b'']
    """
    text = text.decode() if isinstance(text, bytes) else text
    begin, _ = dict(members(text))["docs"]
    for first, _ in entries(text, begin):
        place = dict(members(text, first)).get("_source", (0, 0))
        yield text[slice(*place)].encode()


def _held(found: Mapping[str, Any], name: Name, fields: Fields, raw: bytes) -> Held:
    source = found["_source"]
    ours = ours_of(source)
    return Held(
        name,
        as_document(name.id, source, fields),
        fault=text_fault(source, fields),
        version=version_of(source),
        digest=_text(ours, "record"),
        schema=_text(ours, "schema"),
        idf=idf_of(source),
        packed=_packed(ours),
        state=(found["_seq_no"], found["_primary_term"]),
        engine_version=found["_version"],
        ours=tuple(ours),
        raw=raw,
    )


def _text(ours: Mapping[str, object], name: str) -> str:
    value = ours.get(name)
    return value if isinstance(value, str) else ""


def _packed(ours: Mapping[str, object]) -> bytes:
    """Decode the packed value; one that another program has damaged counts as none."""
    try:
        return base64.b64decode(_text(ours, "packed"))
    except ValueError:
        return b""
