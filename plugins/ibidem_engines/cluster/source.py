"""Conversion between records and `_source`, whose other values stay as they are, byte for byte."""

import base64
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Any

import orjson
from xxhash import xxh3_128_hexdigest

from ibidem_core.address import OURS, Fields, read_path, remove_path, set_path
from ibidem_engines.engine import HIGHLIGHT, Record, StoredDocument
from ibidem_engines.ledger import LookupValues, UnstorableRecord, check_storable
from ibidem_engines.query import Query
from ibidem_engines.stored_groups import new_group
from ibidem_engines.words import mark, passage, searched_phrases
from ibidem_ingest.dates import EPOCH, interval, iso_date, iso_day, time_of_day
from ibidem_ingest.document import Document
from ibidem_ingest.errors import kind, short_repr
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

# Classes of look-up values that have a field of their own.
_OWN_FIELDS: Mapping[str, Collection[str]] = {
    "full": {"content", *(name for name, _ in COLLAPSIBLE)},
    "lean": {"content"},
}

MAX_VALUE = 1_000

_NAMES = ("title", "text", "date", "source", "url", "language")


def as_source(record: Record, fields: Fields, layout: str, values: LookupValues, *, group: str = "") -> bytes:
    """Serialize a record as JSON: the document under the index's own field names, our fields under `ibidem`."""
    document = record.document
    check_storable(record)
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
    check_storable(record)
    return orjson.dumps({"doc": {OURS: dict.fromkeys(stored_names) | _own_part(record, layout, values, group)}})


def with_signatures(raw: bytes, record: Record, layout: str, values: LookupValues, *, group: str = "") -> bytes:
    """Add a document's signatures to its `_source`, leaving every other byte unchanged."""
    check_storable(record)
    return with_member(raw, OURS, orjson.dumps(_own_part(record, layout, values, group)))


def signature_entry(record: Record, index: str, order: int, group: str, values: LookupValues) -> bytes:
    """Serialize the signatures of a document of an index that is left as it is, without its metadata."""
    check_storable(record)
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


def filter_value(name: str, value: str) -> str:
    """Return the value by which filters find an entry of `meta`; long values are hashed."""
    value = f"{name}={value}"
    return value if len(value) <= MAX_VALUE else f"x:{xxh3_128_hexdigest(value.encode())}"


def led_group(own_part: Mapping[str, object]) -> str:
    """Read the name of the group that a document leads; empty if it leads none."""
    return _text(own_part, "group") if own_part.get("lead") is True else ""


def _own_part(record: Record, layout: str, lookup_values: LookupValues, group: str = "") -> dict[str, object]:
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
    own_names = _OWN_FIELDS[layout]
    if keys := [value for name, values in lookup_values.items() if name not in own_names for value in values]:
        own_fields["keys"] = " ".join(keys)
    hashes = COLLAPSIBLE if layout == "full" else ()
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


def to_stored_document(hit: Mapping[str, Any], fields: Fields, query: Query | None) -> StoredDocument:
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
