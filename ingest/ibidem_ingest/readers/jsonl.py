"""JSON Lines: one object in each line, each a document or a refusal of its own."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ibidem_ingest.document import Document, meta_fields, read_record
from ibidem_ingest.errors import Refusal, Refused
from ibidem_ingest.readers.compression import open_compressed
from ibidem_ingest.readers.error_map import Unreadable, decoding_error, translate_errors
from ibidem_ingest.readers.formats import Tally
from ibidem_ingest.short_repr import short_repr

if TYPE_CHECKING:
    import io


HEAD = 4_096
_PIECE = 1 << 16


def lines(stream: "io.BufferedReader[Any]", limit: int) -> Iterator[tuple[bytes, bool]]:
    """Cut a stream into lines; of one that is over the limit, only the head is handed out and the rest is skipped.

    Args:
        stream: The bytes.
        limit: The most bytes that a line may have, its line break included.

    Yields:
        The line and whether it is whole.
    """
    while line := stream.readline(limit + 1):
        if len(line) <= limit:
            yield line, True
        else:
            yield line[:HEAD], False
            while line and not line.endswith(b"\n"):
                line = stream.readline(_PIECE)


# Six bytes write any character of the basic plane (\uXXXX); what else a record holds finds its place in the rest.
BYTES_A_CHARACTER = 6
BYTES_ASIDE = 1 << 16
BOM = b"\xef\xbb\xbf"
EMPTY = "it is empty; leave it out, or give one JSON object a line"

LanguageOf = Callable[[str], str]

_ID_FIRST = re.compile(rb'\s*\{\s*"id"\s*:\s*("(?:[^"\\]|\\.){0,512}"|\d{1,18})')


def read(
    path: Path | None, where: str, max_text: int, tally: Tally, language_of: LanguageOf = lambda _: ""
) -> Iterator[Document | Refusal]:
    """Read the documents of a file, compressed or not; empty lines are skipped.

    Args:
        path: The file; None is standard input.
        where: How the file is named to the user.
        max_text: The most characters that a text may have; a line that can hold more is skipped unread.
        tally: Where the fields that went into `meta` are counted.
        language_of: Tells the language of a text whose record does not; empty when it cannot.
    """
    number = 0
    empty = True
    try:
        with translate_errors(), open_compressed(path) as stream:
            if stream.peek(len(BOM)).startswith(BOM):
                stream.read(len(BOM))
            for number, (line, whole) in enumerate(lines(stream, _limit(max_text)), 1):
                if not line.isspace():
                    empty = False
                    place = f"{where}:{number}"
                    if whole:
                        yield _taken(line, place, max_text, tally, language_of)
                    else:
                        yield _too_long(line, place, max_text)
    except Unreadable as error:
        if number:
            yield Refusal(f"{where}:{number + 1}", "", "", f"nothing from here on can be read: {error.why}")
        else:
            yield Refusal(where, "", "", error.why)
    else:
        if empty:
            yield Refusal(where, "", "", EMPTY)


def _limit(max_text: int) -> int:
    return max_text * BYTES_A_CHARACTER + BYTES_ASIDE


def _taken(line: bytes, where: str, max_text: int, tally: Tally, language_of: LanguageOf) -> Document | Refusal:
    """Make a document of a line."""
    try:
        record = orjson.loads(line)
        document = read_record(record, where, max_text)
    except orjson.JSONDecodeError as error:
        return _not_json(line, where, max_text, error)
    except Refused as refused:
        return refused.refusal
    if names := meta_fields(record):
        tally.moved.update(names)
    if not record.get("language") and (language := language_of(document.text)):
        return replace(document, language=language)
    return document


def _not_json(line: bytes, where: str, max_text: int, error: orjson.JSONDecodeError) -> Document | Refusal:
    """Find out what is wrong with a line that is not JSON."""
    try:
        text = line.decode()
    except UnicodeDecodeError as bad:
        return Refusal(where, _named(line), "", decoding_error(bad))
    if "surrogate" in error.msg:
        # The standard library lets lone surrogates through, so that the refusal can name the field.
        try:
            return read_record(json.loads(text), where, max_text)
        except Refused as refused:
            return refused.refusal
        except (ValueError, RecursionError):
            pass
    around = short_repr(text[max(0, error.pos - 20) : error.pos + 20].strip())
    why = f"not JSON: {error.msg} (column {error.colno}, at {around}); write one JSON object a line"
    return Refusal(where, _named(line), "", why)


def _too_long(head: bytes, where: str, max_text: int) -> Refusal:
    why = (
        f"the line has more than {_limit(max_text):,} bytes, more than a text of {max_text:,} characters needs; split "
        "the document or raise IBIDEM_MAX_TEXT"
    )
    return Refusal(where, _named(head), "text", why)


def _named(line: bytes) -> str:
    """Read the id of a line that is not JSON where the line begins with it; an empty string where it does not."""
    match = _ID_FIRST.match(line)
    if match is None:
        return ""
    try:
        return str(orjson.loads(match[1]))
    except orjson.JSONDecodeError:
        return ""
