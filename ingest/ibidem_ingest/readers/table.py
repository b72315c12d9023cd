"""Tables (`.csv`, `.tsv`): one document per row, with its text in a named column."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import count
from pathlib import Path
from typing import Self

from ibidem_ingest.document import FIELDS, ORIGIN, WHERE
from ibidem_ingest.errors import Unreadable, decoding_error, short_repr, translate_errors
from ibidem_ingest.readers.encoding import open_utf8
from ibidem_ingest.readers.time_limit import TimeLimit

SEPARATORS = ",;\t|"
HEAD = 65_536  # characters in which the names of columns are looked for

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
        first = file.readline(HEAD)
        separator = max(SEPARATORS, key=first.count)
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
    _size: int = 0

    def begin_row(self) -> None:
        """Start counting the characters of the next row."""
        self._size = 0

    def __iter__(self) -> Self:
        """Return the iterator itself."""
        return self

    def __next__(self) -> str:
        """Return the next line."""
        self.time_limit.check()
        limit = self.max_text + HEAD
        line = self.file.readline(limit + 1)
        self._size += len(line)
        if len(line) > limit:
            raise Unreadable(f"a line has more than {limit:,} characters; split it or raise IBIDEM_MAX_TEXT", "text")
        if self._size > MAX_ROW * limit:
            reason = f"a row has more than {MAX_ROW * limit:,} characters; look for a quotation mark that is not closed"
            raise Unreadable(reason, "text")
        if not line:
            if self._size:
                raise csv.Error("a quotation mark is not closed; close it, or double it")
            raise StopIteration
        return line


def _rows(names: list[str], separator: str, text_column: str, lines: _Lines) -> Iterator[tuple[int, Row | Unreadable]]:
    csv.field_size_limit(lines.max_text + 1)
    reader = csv.reader(lines, delimiter=separator)
    for number in count(2):
        lines.begin_row()
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
                lines.time_limit.restart()


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
