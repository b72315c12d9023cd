"""Search of an index in a cluster, as request flows: its ranking, its stored groups, and documents by name."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from typing_extensions import override

from ibidem_core.address import Fields, read_path
from ibidem_engines.cluster import dsl, plugin
from ibidem_engines.cluster.client import Dialect, build_failure
from ibidem_engines.cluster.collapse import ClusterCollapse, collapse_search
from ibidem_engines.cluster.health import field_issue
from ibidem_engines.cluster.index import Layout
from ibidem_engines.cluster.lookup import LookUp, with_value_query
from ibidem_engines.cluster.match_counts import CountCache, CountResult
from ibidem_engines.cluster.memberships import read_memberships
from ibidem_engines.cluster.ranking import apply_view, limit_writes, long_values, next_view, rank
from ibidem_engines.cluster.source import to_stored_document
from ibidem_engines.cursor import NOW, ReadView
from ibidem_engines.engine import EngineSearch, GroupedHits, LookupResult, Ranking, SignatureLookup, StoredDocument
from ibidem_engines.query import Query
from ibidem_engines.requests import ApiRequest, RequestFlow, Target
from ibidem_engines.stored_groups import Collapsed, Hit, Marks, Members, Order, Place, Values
from ibidem_engines.ttl_cache import TtlCache
from ibidem_ingest.dates import iso_date
from ibidem_ingest.errors import UsageError

KEEP_ALIVE = "5m"
AT_ONCE = 1_000

Names = Sequence[tuple[str, str]]  # documents by index and id


def open_point(dialect: Dialect, index: str, preference: str = "") -> RequestFlow[str]:
    """Open a point in time of an index, or of the shards in a preference; returns its id."""
    parameters = {"keep_alive": KEEP_ALIVE, **dialect.open_whole, **({"preference": preference} if preference else {})}
    answer = yield ApiRequest("POST", dialect.open_point.format(index=index), parameters)
    return str(answer[dialect.opened_as])


def target_of(index: str, point: str = "", preference: str = "") -> Target:
    """Return an index, or a point in time of it, as a target.

    The same preference reaches the same copies of the shards, whose scores may differ a little from others'.
    """
    if point:
        return Target("", {"id": point, "keep_alive": KEEP_ALIVE})
    return Target(index, params={"preference": preference} if preference else {})


@dataclass(frozen=True, slots=True)
class ClusterSearch(EngineSearch):
    """One query to an index of a cluster."""

    index: str  # name of the index, or of an alias
    layout: Layout  # its layout, which was checked to be readable
    fields: Fields  # names of a document's fields in it
    dialect: Dialect  # dialect of OpenSearch or Elasticsearch
    counts: TtlCache[str, CountResult]  # counts of what matches stored groups, of all searches
    plugins: TtlCache[str, bool]  # whether every node has the plugin, by index
    query: Query | None = None  # for what; None: for everything

    @override
    def window(self, size: int, view: ReadView = NOW, exclude: Collection[str] = ()) -> RequestFlow[Ranking]:
        if not 1 <= size <= self.layout.max_hits:
            raise UsageError(f"a window of {size} hits is not possible", f"use 1 to {self.layout.max_hits}")
        view = yield from self._begin(view)
        body = dsl.window(self._ranked, self.fields, size)
        if exclude:
            body = dsl.add_exclusion(body, with_value_query(self.layout.kinds, "content", list(exclude)))
        ranking = yield from rank(self._target(view), apply_view(body, view), self.layout.max_hits, ids=True)
        yield from self._check_phrases(ranking.hits)
        return Ranking(ranking.hits, ranking.answer["hits"]["total"]["value"], next_view(view, ranking.answer))

    @override
    def grouped(
        self, options: Mapping[str, object], start: int, size: int, view: ReadView = NOW
    ) -> RequestFlow[GroupedHits | None]:
        if not (yield from self._has_plugin()):
            return None
        view = yield from self._begin(view)
        body = apply_view(dsl.search_body(self._ranked, self.fields, size, self.dialect.offset_limit), view)
        body |= {"from": start, "ext": {plugin.NAME: dict(options)}}
        answer = yield self._target(view).search(body)
        yield from self._check_phrases(answer["hits"]["hits"])
        words = self.query if self.fields.are_cut_as_ours else None
        return plugin.read_grouped(answer, self.fields, words, next_view(view, answer))

    @override
    def fetch(self, ids: Names) -> RequestFlow[list[StoredDocument]]:
        """Fetch documents with matching passages.

        In an index of our own words are cut as passages are, so these are marked here, in a tenth of the time that a
        server takes to mark words; in one of others only the server knows.
        """
        indices = self.layout.indices
        places = {
            each: [(index, each[1]) for index in (indices if each[0] == self.index else each[:1])] for each in ids
        }
        names = list(dict.fromkeys(place for each in places.values() for place in each))
        query = self.query
        marked_here = query if self.fields.are_cut_as_ours else None
        documents: dict[tuple[str, str], StoredDocument] = {}
        for batch in self._batches(names):
            hits = yield from (self._read(batch) if query is None else self._read_matching(batch, query))
            for hit in hits:
                documents[hit["_index"], hit["_id"]] = to_stored_document(hit, self.fields, marked_here)
        return [documents[place] for each in ids for place in places[each] if place in documents]

    @override
    def dates(self, ids: Names) -> RequestFlow[dict[tuple[str, str], str]]:
        dates: dict[tuple[str, str], str] = {}
        for batch in self._batches(ids):
            answer = yield Target(self.index).search(dsl.fetch_by_name(batch) | {"_source": [self.fields.date]})
            for hit in answer["hits"]["hits"]:
                if date := iso_date(read_path(hit["_source"], self.fields.date)):
                    dates[hit["_index"], hit["_id"]] = date
        return dates

    @override
    def find(self, searches: Sequence[SignatureLookup]) -> RequestFlow[list[LookupResult]]:
        clause = None if self.query is None else dsl.clause(self.query, self.fields)
        return LookUp(Target(self.index), self.layout, clause).find(searches)

    @override
    def long_signatures(self, ids: Names) -> RequestFlow[dict[tuple[str, str], bytes]]:
        return long_values(Target(self.index), ids)

    @override
    def collapse(
        self, place: Place, size: int, *, settled_marks: Marks, order: Order = "relevance", view: ReadView = NOW
    ) -> RequestFlow[Collapsed]:
        began = yield from self._begin(view)
        marks = sorted((part.index, part.shard, number) for part, number in settled_marks.items())
        cache = CountCache(self.counts, f"{self._ranked.digest()} {began.point} {marks}")
        _, page = yield from self._collapsed(order, began).page(place, size, settled_marks, cache=cache)
        return replace(page, view=ReadView(page.newest) if began == NOW else began)

    @override
    def members(
        self, groups: Sequence[str], limit: int, *, order: Order = "relevance", view: ReadView = NOW
    ) -> RequestFlow[Members]:
        return self._collapsed(order, view).members(groups, limit)

    @override
    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, Hit]]:
        return self._collapsed("relevance", NOW).leads(groups)

    @override
    def memberships(self, ids: Names) -> RequestFlow[dict[tuple[str, str], Values]]:
        return read_memberships(Target(self.index), ids)

    @property
    def _ranked(self) -> Query:
        return Query() if self.query is None else self.query

    def _target(self, view: ReadView) -> Target:
        """Return the target of a ranking, so that later pages read the same view."""
        return target_of(self.index, view.point, self._ranked.digest())

    def _begin(self, view: ReadView) -> RequestFlow[ReadView]:
        """Open a point in time for a new ranking, if sequence numbers do not order the writes."""
        if view != NOW or self.layout.shards == 1:
            return view
        return ReadView(point=(yield from open_point(self.dialect, self.index)))

    def _has_plugin(self) -> RequestFlow[bool]:
        """Return whether the plugin may be used: every node has it, and the environment does not disable it."""
        if plugin.mode() == "off":
            return False
        if (cached := self.plugins.get(self.index)) is not None:
            return cached
        return self.plugins.put(self.index, plugin.has_same_plugin((yield from plugin.plugin_nodes())))

    def _check_phrases(self, hits: Sequence[object]) -> RequestFlow[None]:
        """Return a note if phrases found nothing because of the mapping."""
        if not hits and self._ranked.phrases() and (issue := (yield from field_issue(self.index, self.fields))):
            raise UsageError(issue.what, issue.remedy)

    def _collapsed(self, order: Order, view: ReadView) -> ClusterCollapse:
        """Return the collapsed ranking of the matches."""
        body = dsl.with_ids(dsl.window(self._ranked, self.fields, 0))
        if view.newest is not None:
            body["query"] = limit_writes(body["query"], view.newest)
        return collapse_search(self._target(view), body, self.layout, order)

    def _batches(self, names: Names) -> Iterator[Names]:
        size = min(AT_ONCE, self.layout.max_hits)
        return (names[start : start + size] for start in range(0, len(names), size))

    def _read(self, ids: Names) -> RequestFlow[Sequence[Mapping[str, Any]]]:
        """Read documents as searches see them; in a foreign index, documents with custom routing are included.

        An alias may have a filter, which only searches apply: through one, documents are searched for by id.
        """
        if self.layout.indices != (self.index,):
            return (yield from self._search_by_name(ids))
        documents = [{"_index": index, "_id": name} for index, name in ids]
        answer = yield ApiRequest("POST", "/_mget", {"realtime": "false"}, {"docs": documents})
        for each in answer["docs"]:
            failure = build_failure(503, each) if "error" in each else None
            if failure is not None and failure.kind != "index_not_found_exception":
                raise failure
        hits: list[Mapping[str, Any]] = [each for each in answer["docs"] if each.get("found")]
        if len(hits) < len(ids) and not self.fields.are_own:
            names = {(each["_index"], each["_id"]) for each in hits}
            hits += yield from self._search_by_name([each for each in ids if each not in names])
        return hits

    def _search_by_name(self, ids: Names) -> RequestFlow[Sequence[Mapping[str, Any]]]:
        """Search for whole documents by index and id."""
        answer = yield Target(self.index).search(dsl.fetch_by_name(ids))
        hits: Sequence[Mapping[str, Any]] = answer["hits"]["hits"]
        return hits

    def _read_matching(self, ids: Names, query: Query) -> RequestFlow[Sequence[Mapping[str, Any]]]:
        """Search for matching documents by id, highlighted by the server if only it has the analyzer."""
        body = dsl.fetch(ids, query, self.fields, None if self.fields.are_cut_as_ours else self.dialect.offset_limit)
        answer = yield Target(self.index).search(body)
        hits: Sequence[Mapping[str, Any]] = answer["hits"]["hits"]
        return hits
