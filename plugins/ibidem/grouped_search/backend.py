"""Search backend: the protocol by which pages of groups are read from an engine, and the request for one page."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ibidem.dedupe.overrides import DocumentRef, Override
from ibidem.dedupe.parameters import DEEPEST
from ibidem.dedupe.request import DedupeRequest
from ibidem.grouped_search.response import Json
from ibidem_engines.cluster.requests import RequestFlow
from ibidem_engines.engine import LookupResult, Ranking, SignatureLookup


class SearchBackend(Protocol):
    """Where a ranking, its documents and their duplicates come from."""

    def window(self, depth: int, without: Collection[str] = ()) -> RequestFlow[Ranking]:
        """Give the top of the ranking; called again, deeper, it gives the same ranking.

        Args:
            depth: How many hits.
            without: Content hashes whose documents are left out; what is left is in the same order.
        """

    def overrides(self) -> Sequence[Override]:
        """Give manual decisions; called once the window is there."""

    def find(self, searches: Sequence[SignatureLookup], *, everywhere: bool) -> RequestFlow[list[LookupResult]]:
        """Look up signature values among what matches, or among all that the caller's filters let in."""

    def long_signatures(self, names: Sequence[DocumentRef]) -> RequestFlow[Mapping[DocumentRef, bytes]]:
        """Give the long signatures of documents; those that have none are left out."""

    def fetch(self, names: Sequence[DocumentRef]) -> RequestFlow[Mapping[DocumentRef, Json]]:
        """Give documents as hits hold them; those that are gone are left out."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Some duplicates of one group of a page.

    Args:
        group: The group's name.
        skipped: How many come before them.
        most: How many at most.
    """

    group: str
    skipped: int
    most: int


@dataclass(frozen=True, slots=True)
class PageRequest:
    """One page, checked.

    Args:
        request: How to group and show.
        page: Which page, from 1.
        size: Groups on a page.
        tables: Names of the current idf tables; may be empty.
        deepest: The most hits that a window may hold.
        may_leave_out: Whether documents can be left out of the ranking without moving others.
        portion: Of which one group a portion is shown instead of the page; None: the page.
    """

    request: DedupeRequest
    page: int
    size: int
    tables: Collection[str] = ()
    deepest: int = DEEPEST
    may_leave_out: bool = True
    portion: Portion | None = None
