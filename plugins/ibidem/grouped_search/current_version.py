"""Current version of each group of a page, for `dedupe_keep=current`: reads its documents and orders them.

Packed values hold dates, and neither titles nor fields, by which versions are numbered. So documents are read, those of
the page's groups of two or more alone. Their first lines are no names here, since a page needs no text for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from ibidem.grouped_search.response import NEVER, NO_PLACES, Json, sort_key_earliest
from ibidem.grouped_search.window import Window
from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.request import DedupeRequest
from ibidem_dedupe.versions.version_order import version_places
from ibidem_dedupe.versions.versioned_document import VersionedDocument, read_marks
from ibidem_engines.cluster.source import iso_day
from ibidem_engines.requests import RequestFlow
from ibidem_engines.stored_groups import Hit
from ibidem_ingest.document import Document


class VersionSource(Protocol):
    """Reads the fields of documents that determine their versions."""

    def versioned(self, hits: Sequence[Hit]) -> RequestFlow[Mapping[DocumentRef, Document]]:
        """Return documents without their texts; deleted documents are omitted."""


def page_places(
    source: VersionSource, window: Window, groups: Iterable[Sequence[int]], request: DedupeRequest
) -> RequestFlow[Mapping[int, int]]:
    """Return the position of each row among the versions of its group; empty if not requested.

    Of versions that nothing puts in order the best in rank comes last.
    """
    several = [rows for rows in groups if len(rows) > 1]
    if request.keep.by != "current" or not several:
        return NO_PLACES
    read = yield from _read(source, window, [row for rows in several for row in rows])
    return version_places(several, read)


def _read(source: VersionSource, window: Window, rows: Sequence[int]) -> RequestFlow[Mapping[int, VersionedDocument]]:
    """Read the version fields of rows, with the signed date if the date has another field name."""
    read = yield from source.versioned([window.hits[row] for row in rows])
    return {row: read_marks(_dated(read[name], window, row)) for row in rows if (name := window.name(row)) in read}


def _dated(document: Document, window: Window, row: int) -> Document:
    day = sort_key_earliest(window.columns, row)
    return document if document.date or day == NEVER else replace(document, date=iso_day(day))


def without_text(hit: Json) -> Document:
    """Return the document of a hit without its text."""
    record = hit["_source"]
    texts = {name: record.get(name, "") for name in ("title", "date", "url")}
    return Document(record["id"], "", meta=record.get("meta", {}), **texts)
