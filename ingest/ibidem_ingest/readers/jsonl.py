"""JSON Lines and tables, also compressed: each object or row is a document or a refusal."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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
    time_limit, limit = TimeLimit(seconds), max_text * BYTES_A_CHARACTER + BYTES_ASIDE

    def outcome(line: Line) -> Document | Refusal:
        place = f"{location}:{line.number}"
        if line.is_whole:
            return _read_line(line.content, place, max_text, tally, language)
        reason = f"the line has more than {limit:,} bytes, more than a text of {max_text:,} characters needs; "
        return Refusal(place, _leading_id(line.content), "text", f"{reason}split the document or raise IBIDEM_MAX_TEXT")

    try:
        with translate_errors(), open_utf8(path, encoding) as stream:
            for last in lines(stream, limit, time_limit):
                if last.is_open:
                    stream.peek(1)  # raises the fault that cut the line
                yield (read := outcome(last))
                time_limit.note(0, found=isinstance(read, Document))
    except Unreadable as error:
        if last is None:
            yield Refusal(location, "", "", error.why)
            return
        number, id_ = last.number + 1, ""
        if last.is_open:
            read = outcome(last)
            if isinstance(read, Document):
                yield read
            else:
                number, id_ = last.number, read.id
        yield Refusal(f"{location}:{number}", id_, "", f"the rest of the file cannot be read: {error.why}")
    if last is None:
        yield Refusal(location, "", "", EMPTY_REMEDY)


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
    with suppress(orjson.JSONDecodeError):
        return str(orjson.loads(match[1])) if match else ""
    return ""


NAMED_ROW = 65_536  # characters in which the names of columns are looked for

MAX_ROW = 4  # how many times the longest line a row may have, whose cells may hold lines

COLUMNS = FIELDS - {"text", "pages", "meta", ORIGIN, WHERE}  # those that are fields of a document

Row = dict[str, object]


def _check_columns(names: Sequence[str], column: str) -> None:
    """Refuse a table without the column of texts, or with a name twice, since cells of one would be lost."""
    if column not in names:
        columns = ", ".join(map(short_repr, names[:20]))
        raise Unreadable(f"it has no column {column!r}; name the one that holds the text with --text-column: {columns}")
    if twice := [name for name in names if name and names.count(name) > 1]:
        raise Unreadable(f"it has {names.count(twice[0])} columns {short_repr(twice[0])}; give each its own name")


def rows(
    path: Path, text_column: str, max_text: int, time_limit: TimeLimit, encoding: str = ""
) -> Iterator[tuple[int, Row | Unreadable]]:
    """Yield the records of a table, each with the number of its row.

    In place of a row with more cells than there are columns comes the error, since words that no column takes would be
    lost; so it does in place of a row without an id in a table that has a column of ids. Columns named like a
    document's fields are these; all others go into `meta`. What separates cells is what the first line holds most of.
    A row with bytes in another encoding is an error, too, and the rows behind it go on.
    """
    limit, size = max_text + NAMED_ROW, 0  # of a line, and of the row so far: quoted cells may hold many lines

    def table_lines() -> Iterator[str]:
        nonlocal size
        while line := file.readline(limit + 1):
            time_limit.check()
            size += len(line)
            if len(line) > limit:
                reason = f"a line has more than {limit:,} characters; split it or raise IBIDEM_MAX_TEXT"
                raise Unreadable(reason, "text")
            if size > MAX_ROW * limit:
                reason = f"a row has more than {MAX_ROW * limit:,} characters"
                raise Unreadable(f"{reason}; look for a quotation mark that is not closed", "text")
            yield line
        if size:
            raise csv.Error("a quotation mark is not closed; close it, or double it")

    with (
        translate_errors(),
        open_utf8(path, encoding) as raw,
        TextIOWrapper(raw, "utf-8", "surrogateescape", newline="") as file,
    ):
        first = file.readline(NAMED_ROW)
        separator = max(",;\t|", key=first.count)
        names = [name.strip() for name in next(csv.reader([first], delimiter=separator), [])]
        column = text_column or "text"
        _check_columns(names, column)
        csv.field_size_limit(max_text + 1)
        number = 1
        try:
            for number, cells in enumerate(csv.reader(table_lines(), delimiter=separator), 2):
                size = 0
                if any(cells):
                    row = _row(names, cells, separator, column)
                    yield number, row
                    time_limit.note(0, found=not isinstance(row, Unreadable))
        except csv.Error as error:
            raise Unreadable(f"rows from {number + 1} on cannot be read: {error}") from error


def _row(names: list[str], cells: list[str], separator: str, text_column: str) -> Row | Unreadable:
    """Return the record of a row, without empty cells except for the text."""
    try:
        ",".join(cells).encode(errors="surrogateescape").decode()
    except UnicodeDecodeError as error:
        return Unreadable(decoding_error(error))
    if any(cells[len(names) :]):
        why = f"the row has {len(cells)} cells, but the first line names {len(names)}; "
        return Unreadable(f"{why}put a cell that contains {separator!r} into double quotes")
    row = {name: cell for name, cell in zip(names, cells, strict=False) if cell and name}
    text = row.pop(text_column, "")
    if "id" in names and "id" not in row:  # its number would name another row the next time
        return Unreadable("its cell in the column `id` is empty; fill it in, or leave the whole column out", "id")
    fields: Row = {name: row[name] for name in row if name in COLUMNS}
    if (version := str(fields.get("version", ""))).lstrip("-").isdecimal():
        fields["version"] = int(version[:40])
    meta = {name: cell for name, cell in row.items() if name not in fields}
    return fields | {"text": text} | ({"meta": meta} if meta else {})
