"""Current version of each group of a page, for `dedupe_keep=current`: reads its documents, which a side package orders.

Packed values hold dates, and neither titles nor fields, by which versions are numbered. So documents are read, those of
the page's groups of two or more alone. Their first lines are no names here, since a page needs no text for it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from ibidem.grouped_search.response import NEVER, NO_PLACES, Json, sort_key_earliest
from ibidem.grouped_search.window import Window
from ibidem_core.side_packages import need_hook
from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.requests import RequestFlow
from ibidem_engines.stored_groups import Hit
from ibidem_ingest.dates import iso_day
from ibidem_ingest.document import Document

Places = Mapping[int, int]  # the place of each row among the versions of its group, the current one last
VersionPlaces = Callable[[Iterable[Sequence[int]], Mapping[int, Document]], Places]  # the hook `version_places`


class VersionSource(Protocol):
    """Reads the fields of documents that determine their versions."""

    def versioned(self, hits: Sequence[Hit]) -> RequestFlow[Mapping[DocumentRef, Document]]:
        """Return documents without their texts; deleted documents are omitted."""


def version_places(groups: Iterable[Sequence[int]], documents: Mapping[int, Document]) -> Places:
    """Return the place of each row among the versions of its group."""
    places: VersionPlaces = need_hook("version_places", "ibidem_mail")
    return places(groups, documents)


def page_places(
    source: VersionSource, window: Window, groups: Iterable[Sequence[int]], request: DedupeRequest
) -> RequestFlow[Places]:
    """Return the place of each row among the versions of its group; empty if not requested."""
    several = [rows for rows in groups if len(rows) > 1]
    if request.keep.by != "current" or not several:
        return NO_PLACES
    rows = [row for rows in several for row in rows]
    read = yield from source.versioned([window.hits[row] for row in rows])
    documents = {row: read[window.name(row)] for row in rows if window.name(row) in read}
    return version_places(several, {row: _dated(each, window, row) for row, each in documents.items()})


def _dated(document: Document, window: Window, row: int) -> Document:
    """Return the document with its signed date, if the date has another field name."""
    day = sort_key_earliest(window.columns, row)
    return document if document.date or day == NEVER else replace(document, date=iso_day(day))


def without_text(hit: Json) -> Document:
    """Return the document of a hit without its text."""
    record = hit["_source"]
    texts = {name: record.get(name, "") for name in ("title", "date", "url")}
    return Document(record["id"], "", meta=record.get("meta", {}), **texts)
