"""Current version of each group of a page, for `dedupe_keep=current`: reads its documents and orders them.

Packed values hold dates, and neither titles nor fields, by which versions are numbered. So documents are read, those of
the page's groups of two or more alone. Their first lines are no names here, since a page needs no text for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from ibidem.grouped_search.response import NO_PLACES, Json
from ibidem.grouped_search.window import Window
from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.request import DedupeRequest
from ibidem_dedupe.versions.version_order import sort_versions
from ibidem_dedupe.versions.versioned_document import VersionedDocument, read_marks
from ibidem_engines.engine import Hit
from ibidem_engines.requests import RequestFlow
from ibidem_ingest.document import Document

TEXTS_AT_ONCE = 20
"""Documents that are read together: a text has ten million characters at the most."""


class DocumentSource(Protocol):
    """Reader of the documents of hits."""

    def fetch(self, hits: Sequence[Hit]) -> RequestFlow[Mapping[DocumentRef, Json]]:
        """Return the documents of hits as they are shown."""


def version_places(
    source: DocumentSource, window: Window, groups: Iterable[Sequence[int]], request: DedupeRequest
) -> RequestFlow[Mapping[int, int]]:
    """Return the position of each row among the versions of its group; empty if not requested.

    Of versions that nothing puts in order the best in rank comes last.

    Args:
        source: Reads the documents.
        window: The documents.
        groups: Rows of each group.
        request: What is asked for.
    """
    several = [rows for rows in groups if len(rows) > 1]
    if request.keep.by != "current" or not several:
        return NO_PLACES
    read = yield from _read(source, window, [row for rows in several for row in rows])
    places: dict[int, int] = {}
    for rows in several:
        marks = {read[row]: row for row in sorted(rows, reverse=True) if row in read}
        places |= {marks[each]: place for place, each in enumerate(sort_versions(list(marks)))}
    return places


def _read(source: DocumentSource, window: Window, rows: Sequence[int]) -> RequestFlow[Mapping[int, VersionedDocument]]:
    """Read the version fields of rows, in batches, since their texts are read too."""
    marks: dict[int, VersionedDocument] = {}
    for start in range(0, len(rows), TEXTS_AT_ONCE):
        some = rows[start : start + TEXTS_AT_ONCE]
        read = yield from source.fetch([window.hits[row] for row in some])
        marks |= {row: read_marks(_document(read[name])) for row in some if (name := window.name(row)) in read}
    return marks


def _document(hit: Json) -> Document:
    """Return the document of a hit, without its text."""
    record = hit["_source"]
    texts = {name: record.get(name, "") for name in ("title", "date", "url")}
    return Document(record["id"], "", meta=record.get("meta", {}), **texts)
