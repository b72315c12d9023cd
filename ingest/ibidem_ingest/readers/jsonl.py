"""JSON Lines, also compressed: one object per line, each a document or a refusal."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from ibidem_ingest.document import DEFAULT_LANGUAGE, Document, meta_fields, read_record
from ibidem_ingest.errors import Refusal, Refused, Unreadable, decoding_error, short_repr, translate_errors
from ibidem_ingest.readers.encoding import open_utf8
from ibidem_ingest.readers.formats import Tally
from ibidem_ingest.readers.time_limit import TimeLimit

if TYPE_CHECKING:
    from io import BufferedReader

HEAD = 4_096
_PIECE = 1 << 18
_BLANKS = b" \t\r\n\v\f"


class Line(NamedTuple):
    """A line that is not blank."""

    number: int  # its number in the file, from 1
    content: bytes  # its bytes; only the first ones if it is too long
    is_whole: bool  # whether they are all of it

    @property
    def is_open(self) -> bool:
        """Whether the line has no line break, so that it is the last readable line."""
        return self.is_whole and not self.content.endswith(b"\n")


def lines(stream: "BufferedReader[Any]", limit: int, time_limit: TimeLimit) -> Iterator[Line]:
    """Split a stream into lines, without blank ones; of a line over the limit, only the beginning is read."""
    number = 0
    while content := stream.readline(limit + 1):
        number += 1
        time_limit.check()
        if len(content) > limit:
            yield Line(number, content[:HEAD], is_whole=False)
            while content and not content.endswith(b"\n"):
                content = stream.readline(_PIECE)
                time_limit.check()
        elif content.isspace():
            number += _skip_blank(stream, time_limit)
        else:
            yield Line(number, content, is_whole=True)
    stream.peek(1)  # raises the fault that ended the file, after its last lines


def _skip_blank(stream: "BufferedReader[Any]", time_limit: TimeLimit) -> int:
    """Skip the following blank lines in bulk; returns how many."""
    count = 0
    while True:
        ahead = stream.peek(1)
        size = ahead.rfind(b"\n", 0, len(ahead) - len(ahead.lstrip(_BLANKS))) + 1
        if not size:
            return count
        count += ahead.count(b"\n", 0, size)
        stream.read(size)
        time_limit.check()


# Six bytes write any character of the basic plane (\uXXXX); the rest is for its other fields.
BYTES_A_CHARACTER = 6
BYTES_ASIDE = 1 << 16
EMPTY = "it is empty; leave it out, or give one JSON object per line"

_ID_FIRST = re.compile(rb'\s*\{\s*"id"\s*:\s*("(?:[^"\\]|\\.){0,512}"|\d{1,18})')


def read(  # noqa: PLR0913, PLR0917 - what a reader of lines is told, each once
    path: Path | None,
    location: str,
    max_text: int,
    tally: Tally,
    language: str = DEFAULT_LANGUAGE,
    seconds: float = 120,
    encoding: str = "",
) -> Iterator[Document | Refusal]:
    """Read the documents of a file, compressed or not; empty lines are skipped."""
    last: Line | None = None
    time_limit = TimeLimit(seconds)

    def outcome(line: Line) -> Document | Refusal:
        place = f"{location}:{line.number}"
        if line.is_whole:
            return _read_line(line.content, place, max_text, tally, language)
        return _length_refusal(line.content, place, max_text)

    try:
        with translate_errors(), open_utf8(path, encoding) as stream:
            for last in lines(stream, _limit(max_text), time_limit):
                if not last.is_open:  # otherwise a fault of the file may follow
                    yield (read := outcome(last))
                    if isinstance(read, Document):
                        time_limit.restart()
    except Unreadable as error:
        yield from _cut(last, outcome, location, error)
    else:
        if last is None:
            yield Refusal(location, "", "", EMPTY)
        elif last.is_open:
            yield outcome(last)


def _cut(
    last: Line | None, outcome: Callable[[Line], Document | Refusal], location: str, fault: Unreadable
) -> Iterator[Document | Refusal]:
    """Report the line at which a file becomes unreadable; a complete last line is kept."""
    if last is None:
        yield Refusal(location, "", "", fault.why)
        return
    number, id_ = last.number + 1, ""
    if last.is_open:
        read = outcome(last)
        if isinstance(read, Document):
            yield read
        else:
            number, id_ = last.number, read.id
    yield Refusal(f"{location}:{number}", id_, "", f"the rest of the file cannot be read: {fault.why}")


def _limit(max_text: int) -> int:
    return max_text * BYTES_A_CHARACTER + BYTES_ASIDE


def _read_line(line: bytes, location: str, max_text: int, tally: Tally, language: str) -> Document | Refusal:
    """Return the document of a line."""
    try:
        record = orjson.loads(line)
        document = read_record(record, location, max_text, language)
    except orjson.JSONDecodeError as error:
        return _not_json(line, location, max_text, error)
    except Refused as error:
        return error.refusal
    if names := meta_fields(record):
        tally.moved.update(names)
    return document


def _not_json(line: bytes, location: str, max_text: int, error: orjson.JSONDecodeError) -> Document | Refusal:
    """Return the fault of a line that is not JSON."""
    try:
        text = line.decode()
    except UnicodeDecodeError as decode_error:
        return Refusal(location, _leading_id(line), "", decoding_error(decode_error))
    if "surrogate" in error.msg:
        # The standard library lets lone surrogates through, so that the refusal can name the field.
        try:
            return read_record(json.loads(text), location, max_text)
        except Refused as rejection:
            return rejection.refusal
        except (ValueError, RecursionError):
            pass
    excerpt = short_repr(text[max(0, error.pos - 20) : error.pos + 20].strip())
    reason = f"not JSON: {error.msg} (column {error.colno}, at {excerpt}); write one JSON object per line"
    return Refusal(location, _leading_id(line), "", reason)


def _length_refusal(head: bytes, location: str, max_text: int) -> Refusal:
    reason = (
        f"the line has more than {_limit(max_text):,} bytes, more than a text of {max_text:,} characters needs; split "
        "the document or raise IBIDEM_MAX_TEXT"
    )
    return Refusal(location, _leading_id(head), "text", reason)


def _leading_id(line: bytes) -> str:
    """Return the id at the beginning of a line that is not JSON; empty if there is none."""
    match = _ID_FIRST.match(line)
    if match is None:
        return ""
    try:
        return str(orjson.loads(match[1]))
    except orjson.JSONDecodeError:
        return ""
