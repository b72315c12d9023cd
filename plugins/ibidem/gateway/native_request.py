"""A search in the engine's own language, as it came over HTTP: read and checked before anything is asked."""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import orjson

from ibidem.dedupe.request import DedupeRequest, as_text, parse_request
from ibidem.gateway.indexes import check_indexes
from ibidem.gateway.references import check_references
from ibidem.gateway.refusals import Answered
from ibidem_ingest.errors import UsageError
from ibidem_workers.settings import Settings

DEDUPE = "dedupe"
GZIP = 31
"""zlib's way to say: gzip, with the largest window."""

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NativeRequest:
    """One search, with what is ours taken out of it.

    Args:
        indexes: What stood in the path for the indexes, checked.
        parameters: Of the query string, without ours.
        body: In the engine's own language, without ours.
        dedupe: What was asked of the dedupe layer; None when nothing was.
    """

    indexes: str
    parameters: Mapping[str, str]
    body: Values
    dedupe: DedupeRequest | None


def read_request(
    indexes: str, query_string: str, headers: Mapping[str, str], content: bytes, settings: Settings
) -> NativeRequest:
    """Read a search.

    Args:
        indexes: Names and patterns, by commas.
        query_string: As it came.
        headers: Names in small letters.
        content: The body's bytes.
        settings: The settings in force.

    Raises:
        Answered: An index that is not open, a body that is no JSON object.
        UsageError: A dedupe parameter that is not understood, or said in two ways.
    """
    parameters = read_parameters(query_string)
    body = read_body(content, headers, settings)
    if not content and "source" in parameters:
        body = as_object(parameters["source"].encode())
    return build_request(indexes, parameters, body, settings)


def build_request(indexes: str, parameters: Mapping[str, str], body: Values, settings: Settings) -> NativeRequest:
    """Take apart what is ours and what is the engine's.

    Args:
        indexes: Names and patterns, by commas.
        parameters: Of the query string.
        body: Read from JSON.
        settings: The settings in force.
    """
    check_indexes(indexes, settings)
    check_references(body, settings)
    return NativeRequest(
        indexes,
        {name: value for name, value in parameters.items() if not is_ours(name)},
        {name: value for name, value in body.items() if not is_ours(name)},
        asked_of_dedupe(parameters, body),
    )


def asked_of_dedupe(parameters: Mapping[str, str], body: Values) -> DedupeRequest | None:
    """Return what is asked of the dedupe layer, in the query string or in the body; None when nothing is.

    Raises:
        UsageError: One name with two values, a wrong name or value, or figures without a mode.

    >>> asked_of_dedupe({"dedupe": "collapse"}, {"dedupe_window": 100}).window
    100
    """
    there, here = ({name: each for name, each in some.items() if is_ours(name)} for some in (parameters, body))
    for name in there.keys() & here.keys():
        if as_text(there[name]) != as_text(here[name]):
            raise UsageError(
                f"{name} is {as_text(there[name])!r} in the query string and {as_text(here[name])!r} in the body",
                "give it once",
            )
    for name, value in here.items():
        if not isinstance(value, str | int | bool):
            raise UsageError(f"{name} in the body is no text, number or truth", "write it as in the query string")
    asked = there | here
    if not asked:
        return None
    read = parse_request(asked)
    if DEDUPE not in asked:
        raise UsageError(f"{', '.join(asked)} without dedupe changes nothing", "add dedupe=indent or dedupe=collapse")
    return read


def is_ours(name: str) -> bool:
    """Tell whether a parameter is the dedupe layer's."""
    return name == DEDUPE or name.startswith(f"{DEDUPE}_")


def read_parameters(query_string: str) -> dict[str, str]:
    """Read a query string.

    Raises:
        Answered: A name that is given twice, which the engines refuse as well, or an index, which stands in the path.
    """
    try:
        pairs = parse_qsl(query_string, keep_blank_values=True, errors="strict", max_num_fields=200)
    except ValueError as error:
        raise Answered(400, "illegal_argument_exception", f"the query string is not understood: {error}") from error
    read: dict[str, str] = {}
    for name, value in pairs:
        if name in read:
            raise Answered(400, "illegal_argument_exception", f"parameter {name!r} is given twice", "give it once")
        read[name] = value
    if "index" in read:
        raise Answered(
            400, "illegal_argument_exception", "the query string names an index", "name it in the path alone"
        )
    return read


def read_body(content: bytes, headers: Mapping[str, str], settings: Settings) -> Values:
    """Read a body that is a JSON object.

    Raises:
        Answered: It is none, or in another form.
    """
    plain = decoded(content, headers, settings)
    if not plain:
        return {}
    check_type(headers, ("json",))
    return as_object(plain)


def check_type(headers: Mapping[str, str], endings: Iterable[str]) -> None:
    """Refuse a body in a form that cannot be looked into.

    Args:
        headers: Names in small letters.
        endings: How the name of the form may end.

    Raises:
        Answered: Another form than JSON.
    """
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if not any(kind == f"application/{ending}" or kind.endswith(f"+{ending}") for ending in endings):
        raise Answered(
            406,
            "media_type_header_exception",
            f"content type {headers.get('content-type', '')!r} is not taken here",
            "send application/json",
        )


def decoded(content: bytes, headers: Mapping[str, str], settings: Settings) -> bytes:
    """Undo what a client did to make a body short, up to the length that a body may have.

    Raises:
        Answered: Another way than gzip, damaged, or too long.
    """
    way = headers.get("content-encoding", "identity").strip().lower()
    if way == "identity" or not content:
        return content
    if way != "gzip":
        raise Answered(415, "media_type_header_exception", f"content encoding {way!r} is not taken here", "send gzip")
    reader = zlib.decompressobj(GZIP)
    try:
        plain = reader.decompress(content, settings.gateway_body)
    except zlib.error as error:
        raise Answered(400, "parse_exception", f"the body is not gzip: {error}") from error
    if reader.unconsumed_tail or not reader.eof:
        raise Answered(
            413,
            "content_too_long_exception",
            f"the body, unpacked, is broken off or longer than {settings.gateway_body:,} bytes",
            "send less; IBIDEM_GATEWAY_BODY allows more",
        )
    return plain


def as_object(content: bytes) -> Values:
    """Read a JSON object.

    Raises:
        Answered: It is none.
    """
    try:
        read = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Answered(400, "parse_exception", f"the body is not JSON: {error}") from error
    if not isinstance(read, dict):
        raise Answered(400, "parse_exception", "the body is no JSON object", 'write {"query": {…}}')
    return read
