"""Search of an index in a cluster, as request flows: its ranking, its stored groups, and documents by name.

A plugin inside the cluster groups the search where every node has it.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ibidem_core.address import Fields, read_path
from ibidem_engines import engine
from ibidem_engines.cluster import dsl
from ibidem_engines.cluster.client import Dialect, read_docs
from ibidem_engines.cluster.collapse import ClusterCollapse, CountCache, CountResult, collapse_search, read_coverage
from ibidem_engines.cluster.groups import read_memberships
from ibidem_engines.cluster.health import field_issue
from ibidem_engines.cluster.index import Layout, document_of
from ibidem_engines.cluster.lookup import LookUp, apply_view, beside_target, limit_writes, long_values, next_view, rank
from ibidem_engines.cluster.source import to_stored_document
from ibidem_engines.cursor import NOW, Place, ReadView
from ibidem_engines.query import Query
from ibidem_engines.requests import COUNTS_S, ApiRequest, RequestFlow, Target, TtlCache
from ibidem_engines.stored_groups import BY_GROUP, Collapsed, Collapsing, Coverage, Hit, Marks, Members, Values
from ibidem_ingest.dates import iso_date
from ibidem_ingest.distribution import installed_version
from ibidem_ingest.errors import UsageError

VARIABLE = "IBIDEM_PLUGIN"
NAME = "ibidem"
NODES = ApiRequest(
    "GET",
    "/_nodes/plugins",
    {"filter_path": ",".join(f"nodes.*.{part}" for part in ("name", "version", "plugins.name", "plugins.version"))},
    ok_statuses=(401, 403, 404),
)


def plugin_nodes() -> RequestFlow[list[engine.PluginNode]]:
    """List the nodes with their plugins, ordered by name; empty without the right to see them."""
    nodes: list[engine.PluginNode] = []
    for node in (yield NODES).get("nodes", {}).values():
        plugin = next((each["version"] for each in node.get("plugins", ()) if each["name"] == NAME), "")
        nodes.append(engine.PluginNode(node["name"], node.get("version", ""), plugin))
    return sorted(nodes, key=lambda each: each.name)


def may_use_plugin(cache: TtlCache[str, bool], key: str) -> RequestFlow[bool]:
    """Return whether the environment allows the plugin and every node has it: other versions may decide differently."""
    mode = os.environ.get(VARIABLE, "auto")
    if mode not in ("auto", "off"):
        raise UsageError(f"{VARIABLE}={mode!r} is not valid", "allowed: auto, off")
    if mode == "off":
        return False
    if (cached := cache.get(key)) is not None:
        return cached
    nodes, own_version = (yield from plugin_nodes()), installed_version()
    return cache.put(key, bool(nodes) and all(each.plugin == own_version for each in nodes))


def iterate_hits(hits: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the hits of a list, including those inside its leads."""
    for hit in hits:
        yield hit
        yield from hit.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits", ())


def pop_account(answer: dict[str, Any]) -> dict[str, Any]:
    """Remove and return the plugin's account from a response: in `ext` on OpenSearch, else at the top level."""
    account: dict[str, Any] = answer.pop("ext", {}).get(NAME) or answer.pop("dedupe")
    return account


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
class ClusterSearch(engine.EngineSearch):
    """One query to an index of a cluster."""

    index: str  # name of the index, or of an alias
    layout: Layout  # its layout, which was checked to be readable
    fields: Fields  # names of a document's fields in it
    dialect: Dialect  # dialect of OpenSearch or Elasticsearch
    counts: TtlCache[str, CountResult]  # counts of what matches stored groups, of all searches
    covered: TtlCache[str, Coverage]  # how far groups reach, by the last settled writes
    plugins: TtlCache[str, bool]  # whether every node has the plugin, by index
    query: Query | None = None  # for what; None: for everything

    def window(self, size: int, view: ReadView = NOW) -> RequestFlow[engine.Ranking]:
        if not 1 <= size <= self.layout.max_hits:
            raise UsageError(f"a window of {size} hits is not possible", f"use 1 to {self.layout.max_hits}")
        view = yield from self._begin(view)
        body = dsl.window(self._ranked, self.fields, size)
        ranking = yield from rank(
            self._target(view), apply_view(body, view), self.layout.max_hits, ids=True, beside=self.layout.beside
        )
        yield from self._check_phrases(ranking.hits)
        return engine.Ranking(ranking.hits, ranking.answer["hits"]["total"]["value"], next_view(view, ranking.answer))

    def grouped(
        self, options: Mapping[str, object], start: int, size: int, view: ReadView = NOW
    ) -> RequestFlow[engine.GroupedHits | None]:
        if not (yield from may_use_plugin(self.plugins, self.index)):
            return None
        view = yield from self._begin(view)
        body = apply_view(dsl.search_body(self._ranked, self.fields, size, self.dialect.offset_limit), view)
        body |= {"from": start, "ext": {NAME: dict(options)}}
        answer = yield self._target(view).search(body)
        hits = answer["hits"]["hits"]
        yield from self._check_phrases(hits)
        words = self.query if self.fields.are_cut_as_ours or self.fields.search else None
        shown = [hit for hit in iterate_hits(hits) if "_source" in hit]
        documents = {(hit["_index"], hit["_id"]): to_stored_document(hit, self.fields, words) for hit in shown}
        best, total = answer["hits"]["max_score"], answer["hits"]["total"]["value"]
        return engine.GroupedHits(hits, documents, pop_account(answer), total, best, next_view(view, answer))

    def fetch(self, ids: Names) -> RequestFlow[list[engine.StoredDocument]]:
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
        marked_here = query if self.fields.are_cut_as_ours or self.fields.search else None
        # Highlighted by the server if only it has the analyzer.
        offset_limit = None if self.fields.are_cut_as_ours else self.dialect.offset_limit
        documents: dict[tuple[str, str], engine.StoredDocument] = {}
        for batch in self._batches(names):
            by_name = (
                self._read(batch) if query is None else self._hits(dsl.fetch(batch, query, self.fields, offset_limit))
            )
            for hit in (yield from by_name):
                documents[hit["_index"], hit["_id"]] = to_stored_document(hit, self.fields, marked_here)
        return [documents[place] for each in ids for place in places[each] if place in documents]

    def dates(self, ids: Names) -> RequestFlow[dict[tuple[str, str], str]]:
        dates: dict[tuple[str, str], str] = {}
        for batch in self._batches(ids):
            for hit in (yield from self._hits(dsl.fetch_by_name(batch) | {"_source": [self.fields.date]})):
                if date := iso_date(read_path(hit["_source"], self.fields.date)):
                    dates[hit["_index"], hit["_id"]] = date
        return dates

    def find(self, searches: Sequence[engine.SignatureLookup]) -> RequestFlow[list[engine.LookupResult]]:
        clause = None if self.query is None else dsl.clause(self.query, self.fields)
        if not self.layout.beside:
            return (yield from LookUp(Target(self.index), self.layout, clause).find(searches))
        held = replace(self.layout, kinds=frozenset({"lean"}))
        found = yield from LookUp(beside_target(self.layout.beside), held, None).find(searches)
        keys = sorted({document_of(hit.id) for each in found for hit in each.hits})
        names = yield from self._matching(keys, clause)
        return [
            replace(
                each,
                hits=[
                    replace(hit, index=name[0], id=name[1])
                    for hit in each.hits
                    if (name := document_of(hit.id)) in names
                ],
            )
            for each in found
        ]

    def _matching(self, names: Names, clause: dsl.Clause | None) -> RequestFlow[set[tuple[str, str]]]:
        """Return those of the documents that the caller may see and that match."""
        found: set[tuple[str, str]] = set()
        for batch in self._batches(names):
            body = dsl.fetch_by_name(batch)
            body |= {"query": {"bool": {"filter": [body["query"], *filter(None, [clause])]}}, "_source": False}
            found |= {(hit["_index"], hit["_id"]) for hit in (yield from self._hits(body))}
        return found

    def long_signatures(self, ids: Names) -> RequestFlow[dict[tuple[str, str], bytes]]:
        return long_values(Target(self.index), ids, self.layout.beside)

    def coverage(self, settled_marks: Marks) -> RequestFlow[Coverage]:
        key = repr(settled_marks)
        if (cached := self.covered.get(key)) is not None:
            return cached
        return self.covered.put(
            key, (yield from read_coverage(Target(self.index), self.layout, settled_marks)), COUNTS_S
        )

    def collapse(self, place: Place, size: int, how: Collapsing = BY_GROUP) -> RequestFlow[Collapsed]:
        began = yield from self._begin(how.view)
        cache = CountCache(self.counts, f"{self._ranked.digest()} {began.point} {how.by}")
        _, page = yield from self._collapsed(replace(how, view=began)).page(place, size, {}, cache)
        return replace(page, view=ReadView(page.newest) if began == NOW else began)

    def members(self, groups: Sequence[str], limit: int, how: Collapsing = BY_GROUP) -> RequestFlow[Members]:
        return self._collapsed(how).members(groups, limit)

    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, Hit]]:
        return self._collapsed(BY_GROUP).leads(groups)

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
        if view != NOW or self.layout.numbers_writes:
            return view
        return ReadView(point=(yield from open_point(self.dialect, self.index)))

    def _check_phrases(self, hits: Sequence[object]) -> RequestFlow[None]:
        """Return a note if phrases found nothing because of the mapping."""
        if not hits and self._ranked.phrases() and (issue := (yield from field_issue(self.index, self.fields))):
            raise UsageError(issue.what, issue.remedy)

    def _collapsed(self, how: Collapsing) -> ClusterCollapse:
        body = dsl.with_ids(dsl.window(self._ranked, self.fields, 0))
        if how.view.newest is not None:
            body["query"] = limit_writes(body["query"], how.view.newest)
        return collapse_search(self._target(how.view), body, self.layout, how.order, by=how.by)

    def _batches(self, names: Names) -> Iterator[Names]:
        size = min(AT_ONCE, self.layout.max_hits)
        return (names[start : start + size] for start in range(0, len(names), size))

    def _read(self, ids: Names) -> RequestFlow[Sequence[Mapping[str, Any]]]:
        """Read documents as searches see them; in a foreign index, documents with custom routing are included.

        An alias may have a filter, which only searches apply: through one, documents are searched for by id.
        """
        if self.layout.indices != (self.index,):
            return (yield from self._hits(dsl.fetch_by_name(ids)))
        documents = [{"_index": index, "_id": name} for index, name in ids]
        request = ApiRequest("POST", "/_mget", {"realtime": "false"}, {"docs": documents})
        answer = yield from read_docs(request, {"index_not_found_exception"})
        hits: list[Mapping[str, Any]] = [each for each in answer["docs"] if each.get("found")]
        if len(hits) < len(ids) and not self.fields.are_own:
            names = {(each["_index"], each["_id"]) for each in hits}
            hits += yield from self._hits(dsl.fetch_by_name([each for each in ids if each not in names]))
        return hits

    def _hits(self, body: Mapping[str, Any]) -> RequestFlow[Sequence[Mapping[str, Any]]]:
        answer = yield Target(self.index).search(body)
        hits: Sequence[Mapping[str, Any]] = answer["hits"]["hits"]
        return hits
