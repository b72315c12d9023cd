"""Export of the result list as CSV or JSON Lines: each examined document with group, lead, level and score."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any
from unicodedata import normalize

import orjson

from ibidem.comparison.result_list import Entry, read_groups
from ibidem.grouped_search.explanations import Response

COLUMNS = ("group", "lead", "level", "score", "id", "title", "date", "source", "url", "of", "reason")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a spreadsheet would run when a cell begins with it, or drop before it looks; also in its wide forms."""

BLANK = " \N{ZERO WIDTH NO-BREAK SPACE}\N{ZERO WIDTH SPACE}"
"""Invisible characters that may precede a formula."""

Row = Mapping[str, Any]


def rows(response: Response) -> Iterator[Row]:
    """Yield a row for each document, duplicates behind their lead.

    Args:
        response: Of a search with duplicates indented.
    """
    for group in read_groups(response["hits"]["hits"]):
        yield from (row(entry) for entry in (group.lead, *group.duplicates))


def row(entry: Entry) -> Row:
    """Describe one document."""
    mark = entry.mark
    return {
        "group": mark.get("group", ""),
        "lead": entry.lead["_id"],
        "level": mark.get("level") or "",
        "score": "" if mark.get("score") is None else mark["score"],
        "id": entry.id,
        **{name: entry.field(name) for name in ("title", "date", "source", "url")},
        "of": mark.get("of") or "",
        "reason": entry.evidence if mark.get("why") else "",
    }


def as_csv(rows: Iterator[Row]) -> bytes:
    """Write rows as CSV, with a header; no cell is taken for a formula.

    Args:
        rows: The rows.
    """
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(COLUMNS)
    table.writerows([inert(str(each[name])) for name in COLUMNS] for each in rows)
    return written.getvalue().encode("utf-8", "replace")


def as_lines(rows: Iterator[Row]) -> bytes:
    """Write rows as JSON Lines."""
    return b"".join(orjson.dumps(each) + b"\n" for each in rows)


def inert(cell: str) -> str:
    """Put an apostrophe before what a spreadsheet would take for a formula.

    >>> inert("=1+1"), inert("rent")
    ("'=1+1", 'rent')
    """
    return f"'{cell}" if normalize("NFKC", cell).lstrip(BLANK).startswith(FORMULA) else cell


FORMATS: Mapping[str, tuple[str, Any]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "jsonl": ("application/x-ndjson", as_lines),
}
"""Media type and writer by the ending of the address."""
