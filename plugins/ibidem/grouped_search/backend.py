"""Search backend: the protocol by which a page of groups is read from an engine."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ibidem.grouped_search.passage import Passage
from ibidem.grouped_search.response import Json
from ibidem_dedupe.overrides import DocumentRef, Override
from ibidem_dedupe.parameters import MAX_WINDOW, PassageFields
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.cursor import CursorCodec, NextPage
from ibidem_engines.engine import LookupResult, Ranking, SignatureLookup
from ibidem_engines.requests import RequestFlow
from ibidem_engines.stored_groups import Hit, Order, Place, Values
from ibidem_ingest.document import Document


class SearchBackend(Protocol):
    """The source of a ranking, its documents and their duplicates."""

    def window(self, depth: int, exclude: Collection[str] = ()) -> RequestFlow[Ranking]:
        """Read the top of the ranking; a deeper call returns the same ranking.

        Args:
            depth: How many hits.
            exclude: Content hashes of documents to leave out; the others stay in order.
        """

    def overrides(self) -> Sequence[Override]:
        """Return the manual decisions; called after the window was read."""

    def find(self, searches: Sequence[SignatureLookup], *, whole_index: bool) -> RequestFlow[list[LookupResult]]:
        """Look up signature values among the matches, or in the whole index within the caller's filters."""

    def long_signatures(self, names: Sequence[DocumentRef]) -> RequestFlow[Mapping[DocumentRef, bytes]]:
        """Return the long signatures of documents; documents without any are omitted."""

    def passages(self, hits: Sequence[Hit], fields: PassageFields) -> RequestFlow[Mapping[DocumentRef, Passage]]:
        """Return the texts of hits with the ids of their documents.

        Args:
            hits: The hits of a window.
            fields: Where these are; a hit without one of them is left out, or its document is not known.
        """

    def memberships(self, names: Sequence[DocumentRef]) -> RequestFlow[dict[DocumentRef, Values]]:
        """Return the stored threads and works of documents; deleted documents are omitted."""

    def versioned(self, hits: Sequence[Hit]) -> RequestFlow[Mapping[DocumentRef, Document]]:
        """Return documents with the fields of their versions, without their texts; see `VersionSource`."""

    def fetch(
        self, hits: Sequence[Hit], outside: Collection[DocumentRef] = ()
    ) -> RequestFlow[Mapping[DocumentRef, Json]]:
        """Return the documents of hits as shown; those that no longer match are omitted.

        Args:
            hits: The hits of a window, or of `find`.
            outside: Hits that pass the caller's filters, but do not match the query.
        """


@dataclass(frozen=True, slots=True)
class Portion:
    """A range of the duplicates of one group."""

    group: str  # the group's name
    offset: int  # how many come before them
    size: int  # how many at most


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A validated request for one page."""

    request: DedupeRequest  # how to group and show
    start: int  # how many groups come before the page
    size: int  # groups on a page
    tables: Collection[str] = ()  # names of the current idf tables; may be empty
    deepest: int = MAX_WINDOW  # the most hits that a window may hold
    may_leave_out: bool = True  # whether documents can be left out of the ranking without moving others
    portion: Portion | None = None  # of which one group a portion is shown instead of the page; None: the page
    next_page: NextPage | None = None  # where the page of a cursor begins


def document_ref(hit: Hit) -> DocumentRef:
    """Return index and id of a hit."""
    return hit.index, hit.id


def cursor_codec(key: bytes, index: str, query: str, request: DedupeRequest, order: Order = "relevance") -> CursorCodec:
    """Return the cursor codec of a list, whose query is given by its digest."""
    return CursorCodec(key, index, query, f"{request.digest()} {order}")


def start_place(page_request: PageRequest) -> Place:
    """Return the start position of a page in a collapsed ranking."""
    start, following = page_request.start, page_request.next_page
    return Place(start, following.search_after if following is not None and following.start == start else None)
