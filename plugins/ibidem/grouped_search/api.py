"""`search`: one request for the window, one for the page's documents, one for duplicates beyond the window."""

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import cast

import numpy as np
from typing_extensions import override

from ibidem.dedupe.overrides import DocumentRef, Override, load_overrides
from ibidem.dedupe.parameters import DEEPEST
from ibidem.dedupe.request import DedupeRequest
from ibidem.dedupe.window import Window
from ibidem.grouped_search import cursor as cursors
from ibidem.grouped_search.backend import PageRequest, Portion, SearchBackend
from ibidem.grouped_search.page import GroupedPage, check_page, grouped_page
from ibidem.grouped_search.response import Json, to_hit, to_source
from ibidem.grouped_search.scope import check_scope
from ibidem.grouped_search.stats import ungrouped_stats
from ibidem.grouped_search.stored import StoredBackend, stored_page
from ibidem.suggestion import did_you_mean
from ibidem_engines.cluster.requests import RequestFlow, run_offline
from ibidem_engines.collapse import Collapsed, CollapseEngine, Members, Order, Place
from ibidem_engines.engine import Engine, Hit, LookupResult, Ranking, SignatureLookup
from ibidem_engines.query import Query
from ibidem_ingest.signatures.packed import NO_DATE
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_workers.groups.checkpoint import Checkpoint, parsed


@dataclass(slots=True)
class EngineBackend(SearchBackend, StoredBackend):
    """A ranking of an engine.

    Args:
        engine: Where to search.
        query: For what.
        words: Manual decisions.
        cursor: What the engine gave with the ranking that is to be seen again, or an empty string.
        order: How the hits of a window are ordered.
    """

    engine: Engine
    query: Query
    words: Sequence[Override]
    cursor: str = field(default="")
    order: Order = "relevance"
    settled: Checkpoint = field(default_factory=Checkpoint)

    @override
    def window(self, depth: int, without: Collection[str] = ()) -> RequestFlow[Ranking]:
        yield from ()
        ranking = self.engine.search(self.query, depth, self.cursor, without)
        self.cursor = ranking.cursor or self.cursor
        return replace(ranking, hits=sort_hits(ranking.hits, self.order))

    @override
    def overrides(self) -> Sequence[Override]:
        return self.words

    @override
    def find(self, searches: Sequence[SignatureLookup], *, everywhere: bool) -> RequestFlow[list[LookupResult]]:
        yield from ()
        return self.engine.find(searches, filters_of(self.query) if everywhere else self.query)

    @override
    def long_signatures(self, names: Sequence[DocumentRef]) -> RequestFlow[Mapping[DocumentRef, bytes]]:
        yield from ()
        return self.engine.long_signatures(names)

    @override
    def fetch(self, names: Sequence[DocumentRef]) -> RequestFlow[Mapping[DocumentRef, Json]]:
        yield from ()
        found = self.engine.fetch(names, self.query) if names else []
        return {(each.index, each.document.id): to_source(each) for each in found}

    @override
    def settlement(self) -> Checkpoint:
        self.settled = Checkpoint.read(self.engine)
        return self.settled

    @override
    def collapsed(self, place: Place, size: int) -> RequestFlow[Collapsed]:
        yield from ()
        engine, settled = cast("CollapseEngine", self.engine), parsed(self.settled.done)
        found = engine.collapse(self.query, place, size, settled=settled, order=self.order, cursor=self.cursor)
        self.cursor = found.cursor or self.cursor
        return found

    @override
    def members(self, groups: Sequence[str], most: int) -> RequestFlow[Members]:
        yield from ()
        engine = cast("CollapseEngine", self.engine)
        return engine.members(self.query, groups, most, order=self.order, cursor=self.cursor)

    @override
    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, Hit]]:
        yield from ()
        found = cast("CollapseEngine", self.engine).groups().members(groups, lead=True)
        return {
            each.group: Hit(each.name.index, each.name.id, 0.0, each.packed or None) for some in found for each in some
        }


def search(  # noqa: PLR0913 - the public face: what to search, and by name how to page
    engine: Engine,
    query: Query,
    request: DedupeRequest,
    page: int = 1,
    size: int = 10,
    *,
    overrides: Iterable[Override] | None = None,
    tables: Collection[str] = (),
) -> Json:
    """Search, group the top of the ranking, and return a page of groups.

    Args:
        engine: Where to search.
        query: For what.
        request: How to group and show.
        page: Which page, from 1.
        size: Groups on a page; documents when dedupe is off.
        overrides: Manual decisions on pairs; those kept beside the index when None.
        tables: Names of the current idf tables, for `mixed_tables`; without them the most common one counts as current.

    Returns:
        The response of presentation.md: the engine's own shape, `_dedupe` on each hit, and the account in `dedupe`.

    Raises:
        UsageError: A page or size that does not exist, a cursor of another query, a scope that cannot be kept to.
        EngineError: What the engine could not do.
    """
    return search_window(engine, query, request, page, size, overrides=overrides, tables=tables).response


@dataclass(frozen=True, eq=False, slots=True)
class SearchResult:
    """A search and what it stands on.

    Args:
        response: The response.
        window: The hits that were grouped; None when dedupe is off.
    """

    response: Json
    window: Window | None


def search_window(  # noqa: PLR0913 - those of `search`, and the order
    engine: Engine,
    query: Query,
    request: DedupeRequest,
    page: int = 1,
    size: int = 10,
    *,
    overrides: Iterable[Override] | None = None,
    tables: Collection[str] = (),
    order: Order = "relevance",
    all_copies: bool = False,
    portion: Portion | None = None,
) -> SearchResult:
    """Search as `search` does, and give the window besides.

    Args:
        engine: Where to search.
        query: For what.
        request: How to group and show.
        page: Which page, from 1.
        size: Groups on a page.
        overrides: Manual decisions on pairs; those kept beside the index when None.
        tables: Names of the current idf tables.
        order: By date, the best hits of one window are ordered, and no others are looked at.
        all_copies: Whether to read every copy of a text, where very many match, and not to count them.
        portion: Some duplicates of one of the page's groups, instead of the page.

    Raises:
        UsageError: As in `search`.
        EngineError: What the engine could not do.
    """
    began = perf_counter()
    check_page(page, size, deepest=sys.maxsize if request.by == "stored" else DEEPEST)
    check_scope(query, request)
    words = load_overrides(engine) if overrides is None and request.mode != "off" else overrides
    source = EngineBackend(engine, query, list(words or ()), cursors.read(query, request), order)
    deepest = DEEPEST if order == "relevance" else request.window
    asked = PageRequest(request, page, size, tables, deepest, may_leave_out=not all_copies, portion=portion)
    stored = run_offline(stored_page(source, asked)) if request.mode != "off" and request.by == "stored" else None
    if stored is not None:
        ranking, hits, told, window = answer_of(stored.page)
    else:
        ranking, hits, told, window = (
            ungrouped_response(source, asked) if request.mode == "off" else search_grouped(source, asked)
        )
    missed = not ranking.total and query.native is None
    told |= {"not_understood": list(query.notes), "did_you_mean": did_you_mean(engine, query) if missed else ""}
    took = round((perf_counter() - began) * 1000)
    further = stored.further if stored is not None else None
    told |= {"cursor": cursors.write(source.cursor, query, request, further), "took_ms": took}
    best = stored.best if stored is not None else ranking.hits[0].score if ranking.hits else None
    total = {"value": max(ranking.total, len(ranking.hits)), "relation": "eq"}
    response = {
        "took": took,
        "timed_out": False,
        "hits": {"total": total, "max_score": best, "hits": hits},
        "dedupe": told,
    }
    return SearchResult(response, window)


def sort_hits(hits: Sequence[Hit], order: Order) -> Sequence[Hit]:
    """Put the hits of a window in order; those without a date come last, equal ones stay as they are ranked.

    Args:
        hits: By relevance.
        order: The order that is wished.
    """
    if order == "relevance":
        return hits
    columns = PackedColumns.of([hit.packed for hit in hits])
    days = columns.date_from if order == "oldest" else -columns.date_to
    unknown = (columns.date_from == NO_DATE) | ~columns.signed
    return [hits[row] for row in np.lexsort((days, unknown))]


Answer = tuple[Ranking, list[Json], Json, Window | None]


def ungrouped_response(source: EngineBackend, asked: PageRequest) -> Answer:
    """Return the engine's own list, untouched."""
    first = (asked.page - 1) * asked.size
    depth = min(asked.deepest, first + asked.size) if source.order == "relevance" else asked.deepest
    ranking = run_offline(source.window(depth))
    hits = ranking.hits[first : first + asked.size]
    stored = run_offline(source.fetch([(hit.index, hit.id) for hit in hits]))
    told = ungrouped_stats(ranking.hits, len(hits), asked.request, ranking.total)
    return ranking, [to_hit(hit, stored.get((hit.index, hit.id)), hit.score) for hit in hits], told, None


def search_grouped(source: EngineBackend, asked: PageRequest) -> Answer:
    """Return a page of groups."""
    return answer_of(run_offline(grouped_page(source, asked)))


def answer_of(page: GroupedPage) -> Answer:
    """Return what an answer is made of."""
    return page.ranking, page.hits, page.account, page.window


def filters_of(query: Query) -> Query:
    """Return a query that asks for nothing but the caller's filters."""
    return Query(typed=query.typed, filters=query.filters)
