"""Export of the result list as CSV or JSON Lines: each examined document with group, lead, level and score."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any
from unicodedata import normalize

import orjson

from ibidem.grouped_search.explanations import Response, ResponseHit, duplicate_reason, groups

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
    for lead, duplicates in groups(response["hits"]["hits"]):
        yield row(lead, lead)
        yield from (row(hit, lead) for hit in duplicates)


def row(hit: ResponseHit, lead: ResponseHit) -> Row:
    """Describe one document."""
    mark, source = hit.get("_dedupe", {}), hit.get("_source", {})
    return {
        "group": mark.get("group", ""),
        "lead": lead["_id"],
        "level": mark.get("level") or "",
        "score": "" if mark.get("score") is None else mark["score"],
        "id": hit["_id"],
        "title": source.get("title", ""),
        "date": source.get("date", ""),
        "source": source.get("source", ""),
        "url": source.get("url", ""),
        "of": mark.get("of") or "",
        "reason": duplicate_reason(mark).lstrip(":; ") if mark.get("why") else "",
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
