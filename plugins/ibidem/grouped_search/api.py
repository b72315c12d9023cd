"""`search_index`: one request for the window, one for the page's documents, one for duplicates beyond the window."""

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from time import perf_counter
from typing import Any
from unicodedata import normalize

from ibidem.grouped_search import pages, response
from ibidem.grouped_search.pages import Page, check_scope, grouped_page, read_passage, stored_page
from ibidem.grouped_search.response import Facets, Json, Passage
from ibidem_core.errors import EngineError
from ibidem_dedupe import evidence
from ibidem_dedupe.evidence import BESIDE_WORDS, Why, percent
from ibidem_dedupe.overrides import DocumentRef, Override
from ibidem_dedupe.pair_evidence import Evidence
from ibidem_dedupe.parameters import MAX_WINDOW, DedupeRequest, PassageFields, Preset, parse_request
from ibidem_dedupe.policy import Level, Policy
from ibidem_engines import stored_groups
from ibidem_engines.engine import Engine, EngineSearch, LookupResult, Ranking, SignatureLookup, StoredDocument
from ibidem_engines.ledger import KEY, checkpoint_of, load_overrides
from ibidem_engines.query import Cursor, Filter, Place, Query, ReadView
from ibidem_engines.requests import RequestFlow, in_slices
from ibidem_engines.stored_groups import Hit
from ibidem_ingest.dates import interval, time_of_day
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.text.tokens import tokens_and_signs

TEXTS_AT_ONCE = 20  # documents that are read together for their versions: a text has ten million characters at the most


@dataclass(slots=True)
class EngineBackend(pages.SearchBackend):
    engine: Engine  # engine that is searched
    query: Query
    overrides: Sequence[Override] = ()
    how: stored_groups.Collapsing = stored_groups.BY_GROUP  # what the ranking reads, its order, and what a group shares
    undated: int = 0  # how many documents of the window have no date, where dates decide on the order
    # How long rankings and documents were read, by `window` and `fetch`.
    seconds: dict[str, float] = field(default_factory=dict)

    def window(self, depth: int) -> RequestFlow[Ranking]:
        with self._timed("window"):
            ranking = yield from self._search.window(depth, self.how.view)
        self.how = replace(self.how, view=ranking.view)
        if self.how.order == "relevance":
            return ranking
        dates = yield from self._search.dates(stored_groups.hit_names(ranking.hits))
        self.undated = len(ranking.hits) - len(dates)
        return replace(ranking, hits=sort_hits(ranking.hits, dates, self.how.order))

    def find(self, searches: Sequence[SignatureLookup], *, whole_index: bool) -> RequestFlow[list[LookupResult]]:
        return (self._unranked if whole_index else self._search).find(searches)

    def long_signatures(self, names: Sequence[DocumentRef]) -> RequestFlow[Mapping[DocumentRef, bytes]]:
        return self._search.long_signatures(names)

    def passages(self, hits: Sequence[Hit], fields: PassageFields) -> RequestFlow[Mapping[DocumentRef, Passage]]:
        with self._timed("fetch"):
            read = yield from self.engine.searching().fetch([hit.name for hit in hits])
        return {(each.index, each.document.id): read_passage(each.document.as_record(), fields) for each in read}

    def memberships(self, names: Sequence[DocumentRef]) -> RequestFlow[dict[DocumentRef, stored_groups.Values]]:
        return self._search.memberships(names)

    def versioned(self, hits: Sequence[Hit]) -> RequestFlow[Mapping[DocumentRef, Document]]:
        """Read whole documents, a few texts at a time, and drop the texts."""
        documents: dict[DocumentRef, Document] = {}
        for some in in_slices(hits, TEXTS_AT_ONCE):
            with self._timed("fetch"):
                read = yield from self._search.fetch([hit.name for hit in some])
            documents |= {(each.index, each.document.id): replace(each.document, text="") for each in read}
        return documents

    def fetch(
        self, hits: Sequence[Hit], outside: Collection[DocumentRef] = ()
    ) -> RequestFlow[Mapping[DocumentRef, Json]]:
        names = [hit.name for hit in hits]
        documents: list[StoredDocument] = []
        with self._timed("fetch"):
            for search, own in ((self._search, False), (self._unranked, True)):
                if some := [name for name in names if (name in outside) is own]:
                    documents += yield from search.fetch(some)
        return {(each.index, each.document.id): response.to_source(each) for each in documents}

    def state(self, request: DedupeRequest) -> pages.IndexState:
        """Read what decides on the way of a search; groups that may not be read, or are of several sets, are none."""
        try:
            group_set = self.engine.group_set(use_cache=True)
            checkpoint = checkpoint_of(group_set.recent_record("groups", KEY) or {})
        except (EngineError, UsageError):
            if request.by == "stored":
                raise
            return pages.IndexState()
        if request.by == "window" or not checkpoint.done or group_set.is_beside:
            return pages.IndexState(checkpoint, is_beside=group_set.is_beside)
        coverage = self.engine.run(self._search.coverage(stored_groups.parse_marks(checkpoint.done)))
        decisions = len(load_overrides(self.engine)) if request.policy.level == "identical" else 0
        return pages.IndexState(checkpoint, coverage, decisions)

    def collapse(self, place: Place, size: int) -> RequestFlow[stored_groups.Collapsed]:
        with self._timed("window"):
            page = yield from self._search.collapse(place, size, self.how)
        self.how = replace(self.how, view=page.view)
        return page

    def members(self, groups: Sequence[str], limit: int) -> RequestFlow[stored_groups.Members]:
        return self._search.members(groups, limit, self.how)

    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, Hit]]:
        return self._search.leads(groups)

    @property
    def _search(self) -> EngineSearch:
        return self.engine.searching(self.query)

    @property
    def _unranked(self) -> EngineSearch:
        """All documents within the caller's filters."""
        query = self.query
        return self.engine.searching(Query(typed=query.typed, filters=query.filters, excluded=query.excluded))

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        began = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + perf_counter() - began


def index_policy(engine: Engine, named: Mapping[str, str | None], presets: Mapping[str, Preset]) -> Policy:
    """Return the figures for pairs of an index: those that are named, else its own."""
    request = parse_request({**named, "dedupe": "indent", "dedupe_by": "window"}, presets=presets)
    return pages.choose_way(request, EngineBackend(engine, Query()).state(request)).request.policy


def search_index(  # noqa: PLR0913 - the public face: what to search, and by name how to page
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
        engine: Engine that is searched.
        query: For what.
        request: How to group and show.
        page: Number of the page, from 1.
        size: Groups on a page; documents when dedupe is off.
        overrides: Manual decisions on pairs; those kept next to the index when None.
        tables: Names of the current idf tables, for `mixed_tables`; without them the most common one counts as current.

    Returns:
        The response of how-it-works.md: the engine's own shape, `_dedupe` on each hit, and the account in `dedupe`.

    Raises:
        UsageError: A page or size that does not exist, a cursor of another query, a scope that cannot be kept to.
        EngineError: The engine failed.
    """
    return search_window(engine, query, request, page, size, overrides=overrides, tables=tables).response


@dataclass(frozen=True, eq=False, slots=True)
class SearchResult:
    response: Json
    facets: Facets = field(default_factory=dict)  # facets of the window, if requested
    # How long rankings and documents were read, by `window` and `fetch`.
    seconds: Mapping[str, float] = field(default_factory=dict)


def search_window(  # noqa: PLR0913 - those of `search_index`, and the order
    engine: Engine,
    query: Query,
    request: DedupeRequest,
    page: int = 1,
    size: int = 10,
    *,
    overrides: Iterable[Override] | None = None,
    tables: Collection[str] = (),
    order: stored_groups.Order = "relevance",
    portion: pages.Portion | None = None,
    facets: bool = False,
) -> SearchResult:
    """Search as `search_index` does, with the same errors, and return facets and times too."""
    start_time = perf_counter()
    check_scope(request)
    source = EngineBackend(engine, query)
    state = pages.IndexState() if request.mode == "off" else source.state(request)
    codec = partial(pages.cursor_codec, engine.index, query.digest(), order=order)
    way, cursor = pages.read_cursor(pages.choose_way(request, state), codec, is_free=request.by == "auto")
    request = way.request
    what = f"page {page} of size {size}"
    if page < 1 or size < 1:
        raise UsageError(f"{what} does not exist", "page and size are whole numbers from 1 on")
    if (page - 1) * size >= (sys.maxsize if request.takes_all else MAX_WINDOW):
        raise UsageError(f"{what} lies beyond the first {MAX_WINDOW:,} hits", "narrow the query, or add a filter")
    deepest = MAX_WINDOW if order == "relevance" else request.window
    page_request = pages.PageRequest(
        request, (page - 1) * size, size, tables, deepest, portion=portion, next_page=cursor.next_page, facets=facets
    )
    source.how = stored_groups.Collapsing("content" if request.by == "content" else "group", order, cursor.view)
    found: Page | None = None
    if request.mode == "off":
        found = engine.run(list_here(source, page_request))
    elif order == "relevance" and overrides is None and portion is None:
        found = engine.run(group_by_plugin(source, page_request))
    if found is None:
        source.overrides = list(load_overrides(engine) if overrides is None else overrides)
        flow = stored_page(source, page_request, state) if request.takes_all else grouped_page(source, page_request)
        grouped, _ = engine.run(flow)
        found = replace(grouped, account=grouped.account | {"grouper": "client"})
    following = Cursor(source.how.view, found.next_page)
    account = found.account | notes(source, page_request, found.total) | {"cursor": codec(request).encode(following)}
    account |= way.account()
    counted = account.pop("facets", {})
    took = round((perf_counter() - start_time) * 1000)
    hits = {"total": {"value": found.total, "relation": "eq"}, "max_score": found.best, "hits": found.hits}
    shown = {"took": took, "timed_out": False, "hits": hits, "dedupe": account | {"took_ms": took}}
    return SearchResult(shown, counted, source.seconds)


def notes(source: EngineBackend, page_request: pages.PageRequest, matched: int) -> Json:
    engine, query, view = source.engine, source.query, source.how.view
    found: Json = {"not_understood": list(query.notes), "did_you_mean": "" if matched else engine.did_you_mean(query)}
    if any(each.field == "language" for each in query.filters):
        found["without_language"] = count_lacking(engine, query, "language", view)
    if source.how.order != "relevance":
        takes_all = page_request.request.takes_all
        found["undated"] = count_lacking(engine, query, "date", view) if takes_all else source.undated
    return found


def list_here(source: EngineBackend, page_request: pages.PageRequest) -> RequestFlow[Page]:
    """Return the engine's own list, unchanged; each document is its own group."""
    start, end, deepest = page_request.start, page_request.start + page_request.size, page_request.deepest
    ranking = yield from source.window(min(deepest, end) if source.how.order == "relevance" else deepest)
    read, total = len(ranking.hits), max(ranking.total, len(ranking.hits))
    hits, request = ranking.hits[start:end], page_request.request
    documents = yield from source.fetch(hits)
    account = response.request_stats(request) | response.count_stats(ranking.total, read, len(hits), read, len(hits))
    account |= {"unsigned": sum(hit.packed is None for hit in ranking.hits)}
    json_hits = [response.to_hit(hit, documents.get(hit.name), hit.score) for hit in hits]
    return Page(json_hits, account, total, ranking.hits[0].score if read else None)


def group_by_plugin(source: EngineBackend, page_request: pages.PageRequest) -> RequestFlow[Page | None]:
    """Let the plugin inside the cluster search and group; None without a plugin, or if its page would be another."""
    request, size = page_request.request, page_request.size
    if not pages.decides(request):
        return None
    parameters = pages.plugin_request(request) | ({"facets": True} if page_request.facets else {})
    search = source.engine.searching(source.query)
    page = yield from search.grouped(parameters, page_request.start, size, source.how.view)
    if page is None or not pages.is_read_as_here(page.account, request, size):
        return None
    hits = [plugin_hit(hit, page.documents) for hit in page.hits]
    source.how = replace(source.how, view=page.view)
    return Page(hits, response.with_current_tables(page.account, page_request.tables), page.total, page.best)


def plugin_hit(hit: Json, documents: Mapping[DocumentRef, StoredDocument]) -> Json:
    document = documents.get((hit["_index"], hit["_id"]))
    result = {"_index": hit["_index"], "_id": hit["_id"], "_score": hit["_score"]}
    result |= {"_source": {}} if document is None else response.to_source(document)
    result["_dedupe"] = hit["_dedupe"]
    if (inner := hit.get("inner_hits", {}).get(response.DUPLICATES)) is not None:
        duplicates = [plugin_hit(each, documents) for each in inner["hits"]["hits"]]
        result["inner_hits"] = {response.DUPLICATES: {"hits": inner["hits"] | {"hits": duplicates}}}
    return result


def count_lacking(engine: Engine, query: Query, name: str, view: ReadView) -> int:
    """Count the documents that match all but the conditions on a field, and lack that field."""
    others = tuple(each for each in query.filters if each.field != name)
    return engine.search(replace(query, filters=(*others, Filter(name, ""))), 1, view).total


def sort_hits(hits: Sequence[Hit], dates: Mapping[DocumentRef, str], order: stored_groups.Order) -> Sequence[Hit]:
    """Sort the hits of a window by time; a date without a time counts as the start of its day."""

    def moment(hit: Hit) -> tuple[bool, int, float]:
        text = dates.get(hit.name, "")
        first, last = interval(text)
        if order == "oldest":
            return not text, first or 0, time_of_day(text)
        return not text, -(last or 0), -time_of_day(text)

    return sorted(hits, key=moment)


# Relations of two documents, by signatures of whole documents.
RELATION_OF_LEVEL: Mapping[Level, str] = {"identical": "same_text", "near": "similar_text"}


def relation_name(evidence: Evidence) -> str:
    """Return the relation of a pair by its evidence: the relation of its pages, if there is one."""
    return str(evidence.why.get("relation") or RELATION_OF_LEVEL.get(evidence.level, "overlapping_text"))


def page_range(name: str, first: int, last: int) -> str:
    """Return the range of pages, in words.

    >>> page_range("page", 12, 31).partition("pages ")[2].split("\N{EN DASH}"), page_range("part", 2, 2)
    (['12', '31'], 'part 2')
    """
    return f"{name} {first:,}" if first == last else f"{name}s {first:,}\N{EN DASH}{last:,}"


def format_count(number: object, singular: str, plural: str = "") -> str:
    """Format a number with its noun in singular or plural.

    >>> format_count(1, "day"), format_count(1200, "day"), format_count(2, "copy", "copies")
    ('1 day', '1,200 days', '2 copies')
    """
    if number == 1:
        return f"1 {singular}"
    return f"{number:,} {plural or singular + 's'}"


MAX_TITLE = 80  # characters of another text's title; those of old books fill a paragraph


# The two texts, and the signal that tells which share of one is in the other.
SIDES: Mapping[str, str] = {"own": "covered_a", "other": "covered_b"}

# Relations without a direction: of texts with pages, and of others.
RELATIONS: Mapping[str, tuple[str, str]] = {
    "same_pagination": ("the same text on the same pages", "the same text"),
    "different_pagination": ("the same text on other pages", "the same text, longer or shorter in places"),
}

SHARE_BELOW = 0.75  # share of a span from which it is not mentioned: a span that is common almost whole says it already

MIN_COVERAGE = 0.5  # share of both texts below which it is mentioned also for texts that are called the same

# Relations of a document to the other.
DIRECTIONS: Mapping[object, str] = {"part_of": "part of", "contains": "contains"}


def relation(why: Why, other: str, own_name: str = "") -> str:
    """Describe the relation of a long text to another, with positions."""
    name = str(why["relation"])
    direction = DIRECTIONS.get(why.get("direction", name))
    if direction is None:
        if name == "overlapping_text":
            places = " with ".join(part for side in SIDES if (part := place(why, side)))
            return f"texts that overlap: {places}" if places else "texts that overlap"
        words = RELATIONS[name][why.get("parts") == "chunks"]
        smallest = min((shared for side in SIDES if (shared := common_share(why, side)) is not None), default=1.0)
        return words + (f" (about {percent(smallest)} of the text shared)" if smallest < MIN_COVERAGE else "")
    location = place(why, "other" if direction == "part of" else "own")
    if len(other) > MAX_TITLE:
        other = f"{other[:MAX_TITLE].rsplit(' ', 1)[0]} …"
    if own_name:
        phrase = f"{own_name} {'is ' * (direction == 'part of')}{direction} {other}"
    else:
        phrase = f"{direction}: {other}" if other else f"{direction} it"
    return f"{phrase}, {location}" if location else phrase


def common_share(why: Why, side: str) -> float | None:
    """Return the share of a text's five-word runs that the other text has, if known."""
    signals = why.get("signals")
    share = signals.get(SIDES[side]) if isinstance(signals, Mapping) else None
    return float(share) if isinstance(share, int | float) else None


def place(why: Why, side: str) -> str:
    """Return the position of the common part in one of two texts; empty if no range is known.

    Where much less than that is common, the share is mentioned too: pages 20 to 265 may hold a few lines each.

    >>> place({"parts": "pages", "other": {"from": 12, "to": 12, "of": 402}}, "other")
    'page 12 of 402'
    """
    span = why.get(side)
    if not isinstance(span, Mapping):
        return ""
    phrase = f"{page_range(str(why['parts']).removesuffix('s'), span['from'], span['to'])} of {span['of']:,}"
    shared, share = common_share(why, side), (span["to"] - span["from"] + 1) / max(1, span["of"])
    if shared is None or shared >= SHARE_BELOW * share:
        return phrase
    return f"{phrase} (about {percent(shared)} of its text)"


def guards(why: Why) -> list[str]:
    """Describe the guard values, if they matter.

    >>> guards({"days_apart": 3, "length_ratio": 0.81})
    ['3 days apart', 'one is 19 % shorter']
    """
    phrases = []
    if isinstance(days := why.get("days_apart"), int):
        phrases.append("the same day" if days == 0 else f"{format_count(days, 'day')} apart")
    if isinstance(ratio := why.get("length_ratio"), int | float) and ratio < 0.95:
        phrases.append(f"one is {percent(1 - ratio)} shorter")
    return phrases + ["other numbers"] * (why.get("numbers_agree") is False)


def reason(why: Why, other: str = "", own_name: str = "") -> str:
    """Return the reason why a document is a duplicate.

    >>> reason({"signature": "termvector", "shared": 57, "of": 60, "days_apart": 1, "length_ratio": 0.98})
    '57 of 60 rare terms shared, 1 day apart'
    """
    name = str(why.get("signature", ""))
    if "phrase" in why:  # of a side package
        return str(why["phrase"])
    kind = evidence.TABLE.by_name.get(name)
    if kind is not None and kind.is_relation:  # for long texts, the relation is sufficient
        return relation(why, other, own_name)
    if "differs" in why:
        sign = why.get("sign")
        signs = f" ({' → '.join(map(str, sign))})" if isinstance(sign, list) else ""
        strongest = f"{BESIDE_WORDS[why['differs']]}{signs}"
    else:
        strongest = name if kind is None else kind.reason(why) if kind.reason else kind.words
    phrase = relation(why, other, own_name) if "relation" in why else ""
    return ", ".join(part for part in [phrase, strongest, *guards(why)] if part)


def with_differing_sign(why: Why, a: str, b: str) -> Why:
    """Add to the evidence of two texts that differ in signs alone the first place where they do, in both.

    >>> with_differing_sign({"differs": "signs"}, "a gain of 5,200", "a gain of -5,200")
    {'differs': 'signs', 'sign': ['gain of 5200', 'gain of - 5200']}
    """
    if why.get("differs") != "signs":
        return why
    words, signs = tokens_and_signs(a)
    sides = signs.split(), tokens_and_signs(b)[1].split()
    if (at := next((at for at, (one, other) in enumerate(zip_longest(*sides)) if one != other), None)) is None:
        return why
    place = min(int("".join(filter(str.isdigit, side[at]))) for side in sides if at < len(side))
    beside: list[str] = []
    for side in sides:
        sign = "".join(each.lstrip("0123456789") for each in side if re.fullmatch(rf"{place}\D+", each))
        shown = " ".join(filter(None, (*words[max(0, place - 2) : place], sign, *words[place : place + 1])))
        beside.append(normalize("NFKC", shown))  # thousands marks are wide
    return {**why, "sign": beside}


ResponseHit = Mapping[str, Any]
Response = Mapping[str, Any]


def is_duplicate(hit: ResponseHit) -> bool:
    return bool(hit.get("_dedupe", {}).get("indent", 0))


def duplicate_reason(mark: Mapping[str, Any], lead: str = "") -> str:
    why = f": {reason(mark['why'], lead)}" if mark.get("why") else ""
    outside = ["it does not match the query"] if mark.get("outside") else []
    return why + "".join(f"; {note}" for note in (*mark.get("notes", ()), *outside))


def account_line(response: Response, first: int) -> str:
    """Describe the account of a page in one line; its first group is the `first` of all.

    >>> documents, groups = {"matched": 12009, "in_window": 500}, {"in_window": 27}
    >>> account_line({"hits": {"hits": []}, "dedupe": {"documents": documents, "groups": groups, "mode": "indent"}}, 1)
    'the first 500 of 12,009 documents in 27 groups; none on this page'
    """
    account = response["dedupe"]
    documents, groups = account["documents"], account["groups"]
    match_count, read_count = documents["matched"], documents["in_window"]
    counted = format_count(match_count, "document")
    if not match_count:
        counted = "no results"
    elif groups.get("matching") is not None and account["mode"] != "off":
        counted += f" in {'' if groups['exact'] else 'about '}{format_count(groups['matching'], 'group')}"
    elif account["mode"] != "off":
        prefix = f"the first {read_count:,} of " if read_count < match_count else ""
        counted = f"{prefix}{counted} in {format_count(groups['in_window'], 'group')}"
    parts = [counted, *remarks(account)]
    if account.get("capped"):
        parts.append(f"look-up limited for {format_count(len(account['capped']), 'lead')}")
    if account.get("limited"):
        parts.append("the rest is beyond the largest window")
    if lead_count := sum(not is_duplicate(hit) for hit in response["hits"]["hits"]):
        parts.append(f"showing {first}–{first + lead_count - 1}")  # noqa: RUF001 - a range
    elif match_count:
        parts.append("none on this page")
    return "; ".join(parts)


def note_lines(account: Mapping[str, Any]) -> list[str]:
    """Return a line for each note on a query: ignored parts, and excluded documents.

    >>> note_lines({"without_language": 1, "undated": 2})
    ['1 more result has no language, so a condition on it leaves it out', '2 results have no known date and come last']
    """
    lines = list(account.get("not_understood", ()))
    if count := account.get("without_language"):
        has, it = ("has", "it") if count == 1 else ("have", "them")
        lines.append(f"{format_count(count, 'more result')} {has} no language, so a condition on it leaves {it} out")
    if count := account.get("undated"):
        has, comes = ("has", "comes") if count == 1 else ("have", "come")
        lines.append(f"{format_count(count, 'result')} {has} no known date and {comes} last")
    if remedy := account.get("remedy"):
        what = "stored groups do not cover all" if "index" in account else f"no result has a stored {account['level']}"
        lines.append(f"{what}: {remedy}")
    return lines


# Counts of the account that are named when they are not zero.
REMARKS = {
    "unsigned": "without signatures",
    "crowded": "not compared with all leads that share a value with them",
    "mixed_tables": "signed with another idf table",
    "without_document": "without a document or a text",
}


def remarks(account: Mapping[str, Any]) -> Iterator[str]:
    """Yield the counts of an account that are only shown if they are not zero.

    >>> list(remarks({"unsigned": 1, "families": 1, "documents": {"in_window": 2}}))
    ['1 without signatures', '1 family of mails and attachments']
    """
    for name, words in REMARKS.items():
        if count := account.get(name):
            is_all = name == "unsigned" and count == account["documents"]["in_window"]
            yield f"{count:,} {'not signed yet; run ibidem backfill' if is_all else words}"
    if families := account.get("families"):
        yield f"{format_count(families, 'family', 'families')} of mails and attachments"


@dataclass(frozen=True, slots=True)
class Entry:
    hit: ResponseHit
    lead: ResponseHit  # the hit that leads its group: its own, or the one above it

    @property
    def id(self) -> str:
        return str(self.hit["_id"])

    @property
    def mark(self) -> Mapping[str, Any]:
        """Position of the document in its group: `_dedupe` of the response."""
        mark: Mapping[str, Any] = self.hit.get("_dedupe", {})
        return mark

    def field(self, name: str) -> str:
        """Return a field of the document as text; empty if missing."""
        return str(self.hit.get("_source", {}).get(name) or "")

    @property
    def title(self) -> str:
        """Title with the query's words marked; the id if there is no title."""
        titles = self.hit.get("highlight", {}).get("title") or [self.field("title")]
        return str(titles[0] or self.id)

    @property
    def facts(self) -> list[str]:
        """Date and source, and the place among the mails of a thread or the versions of a work, if known."""
        place = "inclusive" if self.mark.get("inclusive") else ""
        if "edition" in self.mark:
            place = f"version {self.mark['edition']}" + (", current" if self.mark["current"] else "")
        return [value for value in (self.field("date"), self.field("source"), place) if value]

    @property
    def depth(self) -> int:
        return int(self.mark.get("indent", 0))

    @property
    def passage(self) -> str:
        """The best passage with the query's words marked, or the beginning of the text."""
        return str((self.hit.get("highlight", {}).get("text") or [self.field("text")[:300]])[0])

    @property
    def level(self) -> str:
        """Level of the duplicate; `joined` if only a manual decision or another member joined it."""
        return str(self.mark["level"] or "joined")

    @property
    def evidence_with_lead(self) -> str:
        """Reason why the document is a duplicate, with the name of the lead, as text to follow the level."""
        return duplicate_reason(self.mark, " ".join(str(self.lead["_source"].get("title") or self.lead["_id"]).split()))

    @property
    def texts(self) -> tuple[str, str] | None:
        """Texts of the lead and of the document, of which a word diff is shown; None if the two only share a part."""
        if self.mark["level"] in ("partial", "thread"):
            return None
        return Entry(self.lead, self.lead).field("text"), self.field("text")


@dataclass(frozen=True, slots=True)
class Group:
    """A lead and its duplicates."""

    number: int  # its place in the list
    lead: Entry  # the document that leads
    duplicates: Sequence[Entry]  # the duplicates listed below it

    @property
    def hidden(self) -> int:
        return int(self.lead.mark.get("size", 1)) - 1 - len(self.duplicates)

    @property
    def noun(self) -> str:
        """Word for the other members of the group."""
        mark = self.lead.mark
        return "mail" if "families" in mark else "version" if "edition" in mark else "duplicate"


def read_groups(hits: Sequence[ResponseHit], first: int = 1, *, inside: bool = False) -> list[Group]:
    """Return each lead with its duplicates; those inside a collapsed lead only if they are asked for."""
    groups: list[Group] = []
    duplicates: list[Entry] = []
    for hit in hits:
        if is_duplicate(hit):
            duplicates.append(Entry(hit, groups[-1].lead.hit))
        else:
            inner = hit.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits", ()) if inside else ()
            duplicates = [Entry(each, hit) for each in inner]
            groups.append(Group(first + len(groups), Entry(hit, hit), duplicates))
    return groups
