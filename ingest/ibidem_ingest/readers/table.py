"""Tables (`.csv`, `.tsv`): one document in each row, its text in a column that is named."""

import csv
from collections.abc import Iterator
from io import TextIOWrapper
from itertools import count
from pathlib import Path

from ibidem_ingest.document import FIELDS, ORIGIN, WHERE
from ibidem_ingest.errors import Unreadable, short_repr, translate_errors

SEPARATORS = ",;\t|"
HEAD = 65_536
"""Characters in which the names of columns are looked for."""

Row = dict[str, object]


def rows(path: Path, text_column: str, max_text: int) -> Iterator[tuple[int, Row | Unreadable]]:
    """Yield the records of a table, each with the number of its row.

    In place of a row with more cells than there are columns comes the error, since words that no column takes would be
    lost. Columns named like a document's fields are these; all others go into `meta`. What separates cells is what the
    first line holds most of.

    Args:
        path: The file, in UTF-8.
        text_column: The column that holds the text; empty: `text`.
        max_text: The most characters that a text may have.

    Raises:
        Unreadable: There is no such column, the file is damaged, or the system does not let it be read.
    """
    with translate_errors(), path.open("rb") as raw, TextIOWrapper(raw, "utf-8-sig", newline="") as file:
        first = file.readline(HEAD)
        separator = max(SEPARATORS, key=first.count)
        names = [name.strip() for name in next(csv.reader([first], delimiter=separator), [])]
        column = text_column or "text"
        if column not in names:
            columns = ", ".join(map(short_repr, names[:20]))
            raise Unreadable(
                f"it has no column {column!r}; name the one that holds the text with --text-column: {columns}"
            )
        yield from _rows(file, names, separator, column, max_text)


def _rows(
    file: TextIOWrapper, names: list[str], separator: str, text_column: str, max_text: int
) -> Iterator[tuple[int, Row | Unreadable]]:
    csv.field_size_limit(max_text + 1)
    reader = csv.reader(_lines(file, max_text + HEAD), delimiter=separator)
    for number in count(2):
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise Unreadable(f"nothing from row {number} on can be read: {error}") from error
        if cells is None:
            return
        if any(cells[len(names) :]):
            yield number, _surplus(len(cells), len(names), separator)
        elif any(cells):
            yield number, _record(names, cells, text_column)


def _surplus(cells: int, columns: int, separator: str) -> Unreadable:
    """Say of a row with too many cells what makes them."""
    return Unreadable(
        f"the row has {cells} cells, the first line names {columns}; "
        f"put a cell that holds {separator!r} into double quotes"
    )


def _lines(file: TextIOWrapper, limit: int) -> Iterator[str]:
    """Yield lines, none of which takes more memory than a limit."""
    while line := file.readline(limit + 1):
        if len(line) > limit:
            raise Unreadable(f"a line has more than {limit:,} characters; split it or raise IBIDEM_MAX_TEXT", "text")
        yield line


def _record(names: list[str], cells: list[str], text_column: str) -> Row:
    """Make a record of a row, without empty cells except the text."""
    row = {name: cell for name, cell in zip(names, cells, strict=False) if cell and name}
    text = row.pop(text_column, "")
    fields: Row = {name: row[name] for name in row if name in FIELDS - {"text", "pages", "meta", ORIGIN, WHERE}}
    if (version := str(fields.get("version", ""))).lstrip("-").isdecimal():
        fields["version"] = int(version[:40])
    meta = {name: cell for name, cell in row.items() if name not in fields}
    return fields | {"text": text} | ({"meta": meta} if meta else {})
