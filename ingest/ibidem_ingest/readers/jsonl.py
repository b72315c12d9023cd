"""JSON Lines and tables, also compressed: each object or row is a document or a refusal."""

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import orjson

from ibidem_ingest.document import DEFAULT_LANGUAGE, FIELDS, ORIGIN, WHERE, Document, meta_fields, read_record
from ibidem_ingest.errors import Refusal, Refused, Unreadable, decoding_error, short_repr, translate_errors
from ibidem_ingest.readers.formats import Tally, open_utf8
from ibidem_ingest.readers.text import TimeLimit

if TYPE_CHECKING:
    from io import BufferedReader

HEAD = 4_096
_PIECE = 1 << 18
_BLANKS = b" \t\r\n\v\f"


class Line(NamedTuple):
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
EMPTY_REMEDY = "it is empty; leave it out, or give one JSON object per line"

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
    time_limit, fault = TimeLimit(seconds), ""

    def outcome(line: Line) -> Document | Refusal:
        place = f"{location}:{line.number}"
        if line.is_whole:
            return _read_line(line.content, place, max_text, tally, language)
        reason = (
            f"the line has more than {_limit(max_text):,} bytes, more than a text of {max_text:,} characters needs; "
            "split the document or raise IBIDEM_MAX_TEXT"
        )
        return Refusal(place, _leading_id(line.content), "text", reason)

    try:
        with translate_errors(), open_utf8(path, encoding) as stream:
            for last in lines(stream, _limit(max_text), time_limit):
                if not last.is_open:  # otherwise a fault of the file may follow
                    yield (read := outcome(last))
                    time_limit.note(0, found=isinstance(read, Document))
    except Unreadable as error:
        fault = error.why
    if last is None:
        yield Refusal(location, "", "", fault or EMPTY_REMEDY)
        return
    number, id_ = last.number + 1, ""
    if last.is_open:
        read = outcome(last)
        if isinstance(read, Document) or not fault:
            yield read
        else:  # the fault cut the line
            number, id_ = last.number, read.id
    if fault:
        yield Refusal(f"{location}:{number}", id_, "", f"the rest of the file cannot be read: {fault}")


def _limit(max_text: int) -> int:
    return max_text * BYTES_A_CHARACTER + BYTES_ASIDE


def _read_line(line: bytes, location: str, max_text: int, tally: Tally, language: str) -> Document | Refusal:
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
    remedy = "write each object whole on one line, a line break in a text as \\n"
    reason = f"not JSON: {error.msg} (column {error.colno}, at {excerpt}); {remedy}"
    return Refusal(location, _leading_id(line), "", reason)


def _leading_id(line: bytes) -> str:
    """Return the id at the beginning of a line that is not JSON; empty if there is none."""
    match = _ID_FIRST.match(line)
    if match is None:
        return ""
    try:
        return str(orjson.loads(match[1]))
    except orjson.JSONDecodeError:
        return ""


NAMED_ROW = 65_536  # characters in which the names of columns are looked for

MAX_ROW = 4  # how many times the longest line a row may have, whose cells may hold lines

# Error of a row without an id among others with one: its number would name another row the next time.
NO_ID = Unreadable("its cell in the column `id` is empty; fill it in, or leave the whole column out", "id")

Row = dict[str, object]


def rows(
    path: Path, text_column: str, max_text: int, time_limit: TimeLimit, encoding: str = ""
) -> Iterator[tuple[int, Row | Unreadable]]:
    """Yield the records of a table, each with the number of its row.

    In place of a row with more cells than there are columns comes the error, since words that no column takes would be
    lost; so it does in place of a row without an id in a table that has a column of ids. Columns named like a
    document's fields are these; all others go into `meta`. What separates cells is what the first line holds most of.
    A row with bytes in another encoding is an error, too, and the rows behind it go on.
    """
    with (
        translate_errors(),
        open_utf8(path, encoding) as raw,
        TextIOWrapper(raw, "utf-8", "surrogateescape", newline="") as file,
    ):
        first = file.readline(NAMED_ROW)
        separator = max(",;\t|", key=first.count)
        names = [name.strip() for name in next(csv.reader([first], delimiter=separator), [])]
        column = text_column or "text"
        if column not in names:
            columns = ", ".join(map(short_repr, names[:20]))
            raise Unreadable(
                f"it has no column {column!r}; name the one that holds the text with --text-column: {columns}"
            )
        yield from _rows(names, separator, column, _Lines(file, max_text, time_limit))


@dataclass(slots=True)
class _Lines:
    """Lines of a table, with a maximum size of a row, since quoted cells may contain many lines."""

    file: TextIOWrapper  # the table
    max_text: int  # the most characters that a text may have
    time_limit: TimeLimit  # checked with each line
    size: int = 0  # characters of the row so far

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        self.time_limit.check()
        limit = self.max_text + NAMED_ROW
        line = self.file.readline(limit + 1)
        self.size += len(line)
        if len(line) > limit:
            raise Unreadable(f"a line has more than {limit:,} characters; split it or raise IBIDEM_MAX_TEXT", "text")
        if self.size > MAX_ROW * limit:
            reason = f"a row has more than {MAX_ROW * limit:,} characters; look for a quotation mark that is not closed"
            raise Unreadable(reason, "text")
        if not line:
            if self.size:
                raise csv.Error("a quotation mark is not closed; close it, or double it")
            raise StopIteration
        return line


def _rows(names: list[str], separator: str, text_column: str, lines: _Lines) -> Iterator[tuple[int, Row | Unreadable]]:
    csv.field_size_limit(lines.max_text + 1)
    reader = csv.reader(lines, delimiter=separator)
    for number in count(2):
        lines.size = 0
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise Unreadable(f"rows from {number} on cannot be read: {error}") from error
        if cells is None:
            return
        if (damage := _decoding_error(cells)) is not None:
            yield number, damage
        elif any(cells[len(names) :]):
            why = f"the row has {len(cells)} cells, but the first line names {len(names)}; "
            yield number, Unreadable(f"{why}put a cell that contains {separator!r} into double quotes")
        elif any(cells):
            record = _record(names, cells, text_column)
            if "id" in names and "id" not in record:
                yield number, NO_ID
            else:
                yield number, record
                lines.time_limit.note(0, found=True)


def _decoding_error(cells: list[str]) -> Unreadable | None:
    """Return the position of bytes in a row that are not UTF-8; None if all are valid."""
    try:
        ",".join(cells).encode(errors="surrogateescape").decode()
    except UnicodeDecodeError as error:
        return Unreadable(decoding_error(error), "")
    return None


def _record(names: list[str], cells: list[str], text_column: str) -> Row:
    """Return the record of a row, without empty cells except for the text."""
    row = {name: cell for name, cell in zip(names, cells, strict=False) if cell and name}
    text = row.pop(text_column, "")
    fields: Row = {name: row[name] for name in row if name in FIELDS - {"text", "pages", "meta", ORIGIN, WHERE}}
    if (version := str(fields.get("version", ""))).lstrip("-").isdecimal():
        fields["version"] = int(version[:40])
    meta = {name: cell for name, cell in row.items() if name not in fields}
    return fields | {"text": text} | ({"meta": meta} if meta else {})
