"""Page of groups: the backend that it is read from, the way that a search takes, and how the page is read.

`auto` takes stored groups, or equal texts, where these are what is asked for, else the window. The plugin inside the
cluster takes the place of the layer where every node has it and it does what is asked. It answers as the layer does
(`tests/plugin` holds it to that), in one request and a fraction of the time.

A window is read as deep as the page needs, then matches beyond it, and the documents to show.

Scope of a search: duplicates of a page's leads among all matches, or in the whole index. One look-up by the leads'
keys. Each candidate is then grouped behind the window, so that it joins the first of *all* its leads that it
duplicates, and is shown here only if that one is here.

Neighbours in a window: passages that overlap in their document; each hit is read once. Packed values hold no words, and
a document is named by a field of the caller's, so both are read, for each hit once.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from ibidem.grouped_search import response
from ibidem.grouped_search.response import NO_OVERLAPS, Group, Json, Passage, Places, Window, WindowMembers, overlaps
from ibidem_core.address import read_path
from ibidem_dedupe import evidence
from ibidem_dedupe.leader_clustering import Grouping
from ibidem_dedupe.overrides import DocumentRef, Override
from ibidem_dedupe.pairs import MIN_SHARED, LongSignatureCache
from ibidem_dedupe.parameters import MAX_WINDOW, PRESETS, WAYS, By, DedupeRequest, PassageFields, asks_for_stored_preset
from ibidem_dedupe.policy import Policy
from ibidem_engines import stored_groups
from ibidem_engines.engine import CONTENT_HITS, LookupResult, Ranking, SignatureLookup
from ibidem_engines.ledger import GroupCheckpoint, override_hashes, parse_policy
from ibidem_engines.query import Cursor, CursorCodec, Place
from ibidem_engines.requests import RequestFlow
from ibidem_engines.stored_groups import MAX_MEMBERS, GroupHit, Hit, MatchCounts, Members, Order, Values, hit_names
from ibidem_ingest.dates import iso_day
from ibidem_ingest.distribution import need_hook
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.lookup_keys import LookupField, long_keys, lookup_keys
from ibidem_ingest.signatures.packed import read_length


class SearchBackend(Protocol):
    """The source of a ranking, its documents and their duplicates."""

    overrides: Sequence[Override]  # the manual decisions; known when the window was read

    def window(self, depth: int) -> RequestFlow[Ranking]:
        """Read the top of the ranking; a deeper call returns the same ranking."""

    def find(self, searches: Sequence[SignatureLookup], *, whole_index: bool) -> RequestFlow[list[LookupResult]]:
        """Look up signature values among the matches, or in the whole index within the caller's filters."""

    def long_signatures(self, names: Sequence[DocumentRef]) -> RequestFlow[Mapping[DocumentRef, bytes]]:
        """Return the long signatures of documents; documents without any are omitted."""

    def passages(self, hits: Sequence[Hit], fields: PassageFields) -> RequestFlow[Mapping[DocumentRef, Passage]]:
        """Return the texts of hits with the ids of their documents; what a hit lacks of these is empty."""

    def memberships(self, names: Sequence[DocumentRef]) -> RequestFlow[dict[DocumentRef, Values]]:
        """Return the stored threads and works of documents; deleted documents are omitted."""

    def versioned(self, hits: Sequence[Hit]) -> RequestFlow[Mapping[DocumentRef, Document]]:
        """Return documents with the fields of their versions, without their texts; deleted ones are omitted."""

    def collapse(self, place: Place, size: int) -> RequestFlow[stored_groups.Collapsed]:
        """Read a part of the collapsed ranking, with only the best document of each group."""

    def members(self, groups: Sequence[str], limit: int) -> RequestFlow[Members]:
        """Read up to `limit` matching documents of each of some groups."""

    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, Hit]]:
        """Read the leads of some groups, within the caller's filters."""

    def fetch(
        self, hits: Sequence[Hit], outside: Collection[DocumentRef] = ()
    ) -> RequestFlow[Mapping[DocumentRef, Json]]:
        """Return documents as shown; those that match no longer are omitted, but those `outside` never did."""


class Portion(NamedTuple):
    """A range of the duplicates of one group."""

    group: str  # the group's name
    offset: int  # how many come before them
    size: int  # how many at most


class PageRequest(NamedTuple):
    request: DedupeRequest  # how to group and show
    start: int  # how many groups come before the page
    size: int  # groups on a page
    tables: Collection[str] = ()  # names of the current idf tables; may be empty
    deepest: int = MAX_WINDOW  # the most hits that a window may hold
    portion: Portion | None = None  # of which one group a portion is shown instead of the page; None: the page
    next_page: Place | None = None  # where the page of a cursor begins
    facets: bool = False  # whether the window is counted by source, idf table and year

    def shown(self, groups: list[Group]) -> list[Group]:
        """Return the groups of the page, or the one of which a portion is shown."""
        if (portion := self.portion) is None:
            return groups
        return [group.portion(portion.offset, portion.size) for group in groups if group.id == portion.group]


def cursor_codec(index: str, query: str, request: DedupeRequest, order: Order = "relevance") -> CursorCodec:
    """Return the cursor codec of a list, whose query is given by its digest."""
    return CursorCodec(index, query, f"{request.digest()} {order}")


def start_place(page_request: PageRequest) -> Place:
    """Return the start position of a page in a collapsed ranking."""
    start, following = page_request.start, page_request.next_page
    return Place(start, following.search_after if following is not None and following.start == start else None)


MAX_UNGROUPED = 0.01  # share of documents without a settled group above which groups are not used unasked


@dataclass(frozen=True, slots=True)
class IndexState:
    """What decides on the way of searches of an index; at first, of one that was never settled."""

    checkpoint: GroupCheckpoint = field(default_factory=GroupCheckpoint)
    coverage: stored_groups.Coverage = field(default_factory=stored_groups.Coverage)
    decisions: int = 0  # manual decisions
    is_beside: bool = False  # whether its signatures are in an index beside it


@dataclass(frozen=True, slots=True)
class Way:
    """How a search is grouped."""

    request: DedupeRequest  # the request with its way and policy
    rule: str  # whose figures decide: `request`, or the origin of the index's own
    why: str = ""  # why the default took the window; empty if it did not

    def account(self) -> Json:
        if self.request.mode == "off":
            return {}
        return {"by": self.request.by, "rule": self.rule} | ({"why": self.why} if self.why else {})


def choose_way(request: DedupeRequest, state: IndexState) -> Way:
    """Return how a request is grouped; figures that it does not name are those of the index."""
    if request.mode == "off":
        return Way(replace(request, by="window"), "request")
    own, policy, figures = parse_policy(state.checkpoint.policy), request.policy, dict(request.figures)
    if not figures.keys() & {"dedupe_preset", "dedupe_similarity"}:
        level = policy.level if "dedupe_level" in figures else own.level
        policy = own.at(level).within(policy.window_days if "dedupe_window_days" in figures else own.window_days)
    rule = state.checkpoint.origin if policy == own else "request"
    # What an index whose signatures are beside it cannot give.
    given = {"by": request.by == "stored", "scope": request.scope != "window", "membership": request.membership}
    if state.is_beside and (name := next((name for name, is_given in given.items() if is_given), "")):
        what = f"dedupe_{'level' if name == 'membership' else name}={getattr(request, name)} cannot be combined with"
        remedy = "leave that out: its windows are grouped; the rest needs signatures in place (strip, then backfill)"
        raise UsageError(f"{what} an index whose signatures are beside it", remedy)
    if request.by == "stored" and policy != own:
        named = ", ".join(f"{name}={value}" for name, value in request.figures)
        days = "no date window" if own.window_days is None else f"window of {own.window_days} days"
        why = f"groups are stored with different figures (level {own.level}, {days})"
        remedy = "leave that out, or use dedupe_by=window; ibidem regroup --all --preset NAME stores groups by others"
        raise UsageError(f"dedupe_by=stored cannot be combined with {named}: {why}", remedy)
    if request.by != "auto":
        return Way(replace(request, policy=policy), rule)
    why = _reason_for_window(request, state, policy, own)
    by: By = "window" if why else "content" if policy.level == "identical" else "stored"
    return Way(replace(request, policy=policy, by=by), rule, why)


def _reason_for_window(request: DedupeRequest, state: IndexState, policy: Policy, own: Policy) -> str:
    """Return why groups are not used; empty if they are."""
    checkpoint, coverage = state.checkpoint, state.coverage
    given = {"window": dict(request.figures).get("dedupe_window"), "document": request.passages}
    given |= {"scope": request.scope if request.scope != "window" else None, "level": request.membership}
    lacking = coverage.ungrouped + coverage.unsettled
    reasons: list[tuple[object, str]] = [(value, f"{name}={value} is given") for name, value in given.items()]
    reasons += [
        (state.is_beside, "signatures are beside the index, and may be late"),
        (checkpoint.by == "window", "the index is set to window"),
        (not checkpoint.done, "groups were never settled"),
    ]
    if policy.level == "identical":
        reasons += [
            (state.decisions, "the index has manual decisions"),
            (checkpoint.guarded, "the index has fields that must not differ"),
            (not coverage.has_content, "the index has no content hashes"),
        ]
    else:
        uncovered = f"{lacking} of {coverage.documents} documents have no settled group"
        reasons += [
            (checkpoint.everything, "all documents are being settled again"),
            (policy != own, "groups are stored by other figures"),
            (lacking > MAX_UNGROUPED * coverage.documents, uncovered),
        ]
    return next((reason for applies, reason in reasons if applies), "")


def read_cursor(way: Way, codec: Callable[[DedupeRequest], CursorCodec], *, is_free: bool) -> tuple[Way, Cursor]:
    """Decode a cursor, with the way that it was issued for if the request names none."""
    ways = [way, *(replace(way, request=replace(way.request, by=by), why="") for by in WAYS[1:] if is_free)]
    errors = []
    for each in ways:
        try:
            return each, codec(each.request).decode(way.request.cursor)
        except UsageError as error:
            errors.append(error)
    raise errors[0]


def decides(request: DedupeRequest) -> bool:
    """Return whether the plugin can group this request in a window: it reads no parts, titles, texts or memberships."""
    is_plain = request.passages is None and not request.membership and request.level != "partial"
    is_window = request.by == "window" and request.scope == "window" and request.mode != "off"
    base = PRESETS[request.preset].policy if request.preset in PRESETS else Policy()
    similarity = dict(request.figures).get("dedupe_similarity")
    base = base if similarity is None else base.similar(int(similarity))
    policy = base.at(request.policy.level).within(request.policy.window_days)  # which the plugin reads
    is_known = not asks_for_stored_preset(request) and policy == request.policy
    return is_plain and is_window and request.keep.by != "current" and is_known


def plugin_request(request: DedupeRequest) -> Json:
    parameters: Json = {"dedupe": request.mode, "keep": str(request.keep), "explain": request.explain}
    parameters |= {} if request.max_per_group is None else {"max_per_group": request.max_per_group}
    parameters |= {name.removeprefix("dedupe_"): value for name, value in request.figures}
    if request.takes_all:  # figures that are not named are those of the index
        return parameters | ({"by": "stored"} if request.by == "stored" else {"level": request.level})
    days = "none" if request.policy.window_days is None else request.policy.window_days
    return parameters | {"level": request.level, "window": request.window, "window_days": days}


def is_read_as_here(account: Mapping[str, Any], request: DedupeRequest, size: int) -> bool:
    """Return whether the layer would read the same hits; it omits copies if the first step fills no page."""
    documents = account["documents"]
    is_full = account["groups"]["on_page"] == size
    return documents["in_window"] <= request.window and (is_full or not documents["beyond_window"])


MAX_WORDS = 5_000  # words of a passage; a longer text is not read, so that a window of books fits into memory


def read_passage(source: Mapping[str, object], fields: PassageFields) -> Passage:
    """Return a document as a passage; names and texts of other types are ignored.

    >>> read_passage({"text": "Rent is due.", "meta": {"document": 7}}, PassageFields("meta.document"))
    Passage(text='Rent is due.', document='7', date='', source='', title='')
    """
    text, document = read_path(source, fields.text), read_path(source, fields.document)
    is_name = isinstance(document, str | int) and not isinstance(document, bool)
    return Passage(text if isinstance(text, str) else "", str(document) if is_name else "")


@dataclass(frozen=True, slots=True)
class ScopeMatches:
    """The duplicates that a look-up found for leads of a window."""

    hits: Sequence[Hit] = ()  # documents beyond the window, each once
    outside: frozenset[DocumentRef] = frozenset()  # the documents that do not match the query
    # For each lead's row the documents that carry one of its keys.
    with_value: Mapping[int, Collection[DocumentRef]] = field(default_factory=dict)
    # For each lead's row the look-up fields whose hits were cut.
    capped: Mapping[int, Sequence[LookupField]] = field(default_factory=dict)


def build_lookup(
    id_: str, stored: Mapping[LookupField, list[str]], policy: Policy, signatures: LongSignatures | None = None
) -> SignatureLookup:
    """Look for the duplicates of a document that is stored under some values."""
    policy = policy.candidates
    kinds = {kind.lookup: kind for kind in evidence.TABLE.counted(policy) if kind.lookup}
    values = {name: keys for name, keys in evidence.searched(stored, policy).items() if name in kinds}
    values |= long_keys(signatures)
    min_shared = MIN_SHARED | {name: kind.several(policy).min_shared for name, kind in kinds.items() if kind.several}
    counts = {name: count for name, count in min_shared.items() if name in values}
    return SignatureLookup(values, counts, own_id=id_)


def look_up_duplicates(
    backend: SearchBackend, window: Window, leads: Sequence[int], request: DedupeRequest
) -> RequestFlow[ScopeMatches]:
    columns = window.columns
    if not (rows := [row for row in leads if columns.length[row]]):
        return ScopeMatches()
    searches = [
        build_lookup(columns.ids[row], keys, request.policy, window.long_signatures(row))
        for row, keys in zip(rows, lookup_keys([columns.values[row] for row in rows]), strict=True)
    ]
    matching = yield from backend.find(searches, whole_index=False)
    results = (yield from backend.find(searches, whole_index=True)) if request.scope == "index" else matching
    found = dict(zip(rows, results, strict=True))
    window_refs = set(hit_names(window.hits[: window.ranked]))
    hits = {hit.name: hit for each in results for hit in each.hits if hit.name not in window_refs}
    return ScopeMatches(
        hits=[hits[name] for name in sorted(hits)],
        outside=frozenset(hits.keys() - {hit.name for each in matching for hit in each.hits}),
        with_value={row: {hit.name for hit in each.hits} for row, each in found.items()},
        capped={row: cut for row, each in found.items() if (cut := cut_fields(each))},
    )


def cut_fields(result: LookupResult) -> Sequence[LookupField]:
    """Return the look-up fields whose hits were cut, by the policy's limit or because copies are only counted."""
    return [*result.capped, "content"] if result.copies > min(len(result.hits), CONTENT_HITS) else result.capped


def append_matches(window: Window, scope_matches: ScopeMatches, overrides: Sequence[Override]) -> Window:
    """Group the documents found outside the window; groups inside it do not change.

    A document that joins a lead by evidence whose look-up values they do not share, though it was looked up for another
    lead, is left out: it comes with the window's later steps.
    """
    found, ranked, longs = scope_matches.with_value, window.ranked, window.matcher.long_signatures

    def extend(matches: Sequence[Hit]) -> Window:
        hits, row = [*window.hits[:ranked], *matches], {hit.name: at for at, hit in enumerate(matches, ranked)}
        pairs = ((lead, row[name]) for lead, names in found.items() for name in names if name in row)
        group = partial(Window.group, hits, window.policy, overrides, ranked=ranked, long_signatures=longs)
        return group(candidates=pairs, overlaps=window.overlaps)

    if not scope_matches.hits:
        return window
    extended = extend(scope_matches.hits)
    leads = extended.grouping.lead[ranked:].tolist()
    matches = [
        hit
        for hit, lead in zip(scope_matches.hits, leads, strict=True)
        if lead >= ranked or lead not in found or hit.name in found[lead]
    ]
    return extended if len(matches) == len(scope_matches.hits) else extend(matches)


def check_scope(request: DedupeRequest) -> None:
    if request.scope != "window" and request.policy.terms is not None and not request.policy.terms.full:
        what = f"dedupe_preset={request.preset!r} compares padded sets, which cannot be looked up"
        raise UsageError(what, "use dedupe_scope=window with it, or another preset")


def version_places(groups: Iterable[Sequence[int]], documents: Mapping[int, Document]) -> Places:
    places: Places = need_hook("version_places", "ibidem_mail")(groups, documents)
    return places


def page_places(
    source: SearchBackend, window: Window, groups: Iterable[Sequence[int]], request: DedupeRequest
) -> RequestFlow[Places]:
    """Return the place of each row among the versions of its group; empty if not requested."""
    several = [rows for rows in groups if len(rows) > 1]
    if request.keep.by != "current" or not several:
        return response.NO_PLACES
    rows = [row for rows in several for row in rows]
    read = yield from source.versioned([window.hits[row] for row in rows])
    documents = {row: read[window.hits[row].name] for row in rows if window.hits[row].name in read}
    for row, document in documents.items():  # the signed date, if the date has another field name
        if not document.date and (day := response.sort_key_earliest(window.columns, row)) != response.NO_DAY:
            documents[row] = replace(document, date=iso_day(day))
    return version_places(several, documents)


def read_window(
    source: SearchBackend, page_request: PageRequest
) -> RequestFlow[tuple[Ranking, Window, Mapping[DocumentRef, Passage]]]:
    """Read as many steps of the ranking as the page needs, or as there are, and group them.

    What is read of a document for its overlaps, or for its thread or work, is read once.
    """
    request, deepest = page_request.request, page_request.deepest
    goal, membership = page_request.start + page_request.size, request.membership
    longs = LongSignatureCache()
    passages, memberships = dict[DocumentRef, Passage](), dict[DocumentRef, Values]()
    steps = max(1, -(-min(deepest, goal) // request.window))
    while True:
        depth = min(deepest, steps * request.window)
        ranking = yield from source.window(depth)
        hits, names, found = ranking.hits, hit_names(ranking.hits), NO_OVERLAPS
        if request.passages is not None:
            unread = [hit for hit in hits if hit.name not in passages]
            passages |= dict.fromkeys(hit_names(unread), Passage(""))
            if short := [hit for hit in unread if hit.packed is not None and read_length(hit.packed) <= MAX_WORDS]:
                passages |= yield from source.passages(short, request.passages)
            found = overlaps([passages[name] for name in names])
        lead = range(len(hits)) if membership else None
        group = partial(
            Window.group, hits, request.policy, source.overrides, long_signatures=longs, overlaps=found, lead=lead
        )
        window = yield from group_window(source, group)
        if membership:
            if new := [name for name in names if name not in memberships]:
                memberships |= yield from source.memberships(new)
            stored = [memberships.get(name, {}) for name in names]
            days = [response.sort_key_earliest(window.columns, row) for row in range(len(hits))]
            members: WindowMembers = need_hook("window_members", "ibidem_mail")(membership, names, stored, days)
            window = window.regroup(membership, members, source.overrides)
        groups = len(window.grouping.leads)
        if groups >= goal or len(hits) < depth or depth == deepest:  # no request can add to the page
            return ranking, window, passages
        # Twice the number needed at the same rate: copies of one text that fill a window would else be read again and
        # again, in steps that are all too short.
        steps = 2 * steps * goal // max(1, groups)


def group_window(source: SearchBackend, group: Callable[[], Window]) -> RequestFlow[Window]:
    """Group a window, and again with missing long signatures; most levels need none."""
    while True:
        window = group()
        long_signatures = window.matcher.long_signatures
        if not long_signatures.missing:
            return window
        long_signatures.take((yield from source.long_signatures(sorted(long_signatures.missing))))


def read_long(source: SearchBackend, window: Window, rows: Sequence[int]) -> RequestFlow[None]:
    """Read the long signatures of rows, if they matter."""
    window.matcher.want(row for row in rows if window.may_need_long(row))
    if long_signatures := window.matcher.long_signatures.missing:
        window.matcher.long_signatures.take((yield from source.long_signatures(sorted(long_signatures))))


@dataclass(frozen=True, eq=False, slots=True)
class Page:
    hits: list[Json]  # the list to show
    account: Json  # counts that describe the page, and `facets`, if requested
    total: int  # number of documents that match
    best: float | None  # the highest score; None if nothing is scored
    next_page: Place | None = None  # where the next page begins, for stored groups


def cut_page(grouping: Grouping, page_request: PageRequest) -> tuple[int, list[int], list[tuple[int, int, int]]]:
    """Return where the window steps of a page end, the first occurrences of its groups, and what it shows late.

    That are the rows that its own steps add to earlier groups, with their leads and the pages of these.
    """
    firsts, start, size, step = grouping.leads, page_request.start, page_request.size, page_request.request.window
    ends = []
    for groups in (start, start + size):  # a page uses all steps if they hold fewer groups
        rows = len(grouping.lead) if groups > len(firsts) else 0
        if 0 < groups <= len(firsts):
            rows = int(firsts[groups - 1]) + 1
        ends.append(-(-rows // step) * step)
    begin, end = ends
    leads = grouping.lead[begin:end]
    place = np.searchsorted(firsts, leads)
    late = np.flatnonzero((leads != np.arange(begin, begin + len(leads))) & (place < start)).tolist()
    late_rows = [(begin + at, int(leads[at]), int(place[at]) // size + 1) for at in late]
    return end, firsts[start : start + size].tolist(), late_rows


def grouped_page(source: SearchBackend, page_request: PageRequest) -> RequestFlow[tuple[Page, Window]]:
    """Return a page of groups of a window, and the window."""
    request = page_request.request
    ranking, whole, passages = yield from read_window(source, page_request)
    end, leads, late = cut_page(whole.grouping, page_request)
    head = whole.head(max(end, request.window))
    has_all = request.scope == "matches" and ranking.total <= head.ranked and not late
    searched = [] if has_all else [*leads, *sorted({lead for _, lead, _ in late})]
    window, scope_matches = head, ScopeMatches()
    if request.scope != "window" and searched:  # the duplicates that a scope finds beyond a window
        yield from read_long(source, head, leads)
        scope_matches = yield from look_up_duplicates(source, head, searched, request)
        group = partial(append_matches, head, scope_matches, source.overrides)
        window = yield from group_window(source, group)
    members = window.grouping.members(leads).items()
    ordered = window.members if window.members is not None and window.members.is_ordered else None
    unordered = [(first, rows) for first, rows in members if ordered is None or not ordered.set_name(first)]
    steps = [response.rows_of_step(window, first, rows, request) for first, rows in unordered]
    places = yield from page_places(source, window, steps, request)
    groups = page_request.shown([response.build_group(window, first, rows, request, places) for first, rows in members])
    yield from read_long(source, window, [row for group in groups if group.duplicates for row in group.shown_rows])
    shown_hits = [window.hits[row] for group in groups for row in group.shown_rows]
    sources = yield from source.fetch(shown_hits, scope_matches.outside)
    account = window_stats(ranking.total, groups, page_request, window)
    account["late"] = [
        {"index": index, "id": name, "group": head.group_id(lead), "page": page}
        for row, lead, page in late
        for index, name in [head.hits[row].name]
        if (index, name) not in scope_matches.with_value.get(lead, ())
    ]
    account["capped"] = [
        {"group": group.id, "by": list(scope_matches.capped[group.first])}
        for group in groups
        if group.first in scope_matches.capped
    ]
    if request.passages is not None:
        known = [passages[name] for name in hit_names(window.hits[: window.ranked])]
        lacking = sum(not (each.text and each.document) for each in known)
        account |= {"document": str(request.passages), "without_document": lacking}
    account |= window.members.stats(window.ranked) if window.members else {}
    hits = response.ResponseRenderer(window, groups, request, sources, scope_matches.outside).hits()
    account |= {"facets": response.count_facets(window)} if page_request.facets else {}
    best, total = ranking.hits[0].score if ranking.hits else None, max(ranking.total, len(ranking.hits))
    return Page(hits, account, total, best), window


def stored_page(
    source: SearchBackend, page_request: PageRequest, state: IndexState
) -> RequestFlow[tuple[Page, Window]]:
    """Return a page of groups of all matches, and its window: the engine collapses, reasons are decided on the page."""
    request = page_request.request
    page = yield from source.collapse(start_place(page_request), page_request.size)
    are_alone = page.several is None and page.counts.exact and page.counts.documents == page.counts.groups
    named = set() if are_alone else {head.group for head in page.heads if head.group}
    several = sorted(named if page.several is None else named & page.several)  # they may have more matching documents
    most = MAX_MEMBERS  # which the page needs of a group: the shown ones, or all if the lead is chosen among them
    if request.keep.by == "rank" and request.max_per_group is not None:
        portion = 0 if page_request.portion is None else page_request.portion.offset + page_request.portion.size
        most = min(MAX_MEMBERS, 1 + max(request.max_per_group, portion))
    members = (yield from source.members(several, most)) if several else Members((), {})
    window, groups = yield from read_groups(source, page.heads, members, request)
    window, groups = yield from read_leads(source, window, page_request.shown(groups), request)
    sources = yield from source.fetch([window.hits[row] for group in groups for row in group.shown_rows])
    account = stored_stats(page.counts, groups, page_request, window)
    account = with_index(account, state, source.overrides)
    hits = response.ResponseRenderer(window, groups, request, sources).hits()
    total, next_page = max(page.counts.documents, len(page.heads)), following_page(page_request, page.search_after)
    return Page(hits, account, total, page.best, next_page), window


def following_page(page_request: PageRequest, last: Sequence[object] | None) -> Place | None:
    """Return where the next page begins: behind the sort values of the last group; an empty page is at the end."""
    search_after = start_place(page_request).search_after if last is None else last
    return None if search_after is None else Place(page_request.start + page_request.size, search_after)


def read_groups(
    source: SearchBackend, heads: Sequence[GroupHit], members: Members, request: DedupeRequest
) -> RequestFlow[tuple[Window, list[Group]]]:
    """Return the documents of a page, ordered by stored group, and these groups."""
    by_group: defaultdict[str, list[GroupHit]] = defaultdict(list)
    best = {head.name for head in heads}
    for each in members.hits:
        if each.name not in best and each.group:
            by_group[each.group].append(each)
    hits, rows = list[GroupHit](), list[range]()
    for head in heads:
        rows.append(range(len(hits), len(hits) + 1 + len(by_group[head.group])))
        hits += [head, *by_group[head.group]]
    lead = [own.start for own in rows for _ in own]
    names = {row: hits[row].group for row in lead if hits[row].group} if request.by == "stored" else {}
    shown = [each.hit for each in hits]
    window = Window.group(shown, request.policy, source.overrides, lead=lead, group_names=names)
    places = yield from page_places(source, window, rows, request)
    groups = []
    for own, head in zip(rows, heads, strict=True):
        lead_row = response.choose_lead(window.columns, own, request.keep, places)
        group = response.group_of(window, own.start, own, lead_row, request)
        stored_lead = next((row for row in own if hits[row].lead and head.group), None)
        unread_count = max(0, members.sizes.get(head.group, 1) - len(own))
        groups.append(replace(group, stored_lead=stored_lead, unread_count=unread_count))
    return window, groups


def read_leads(
    source: SearchBackend, window: Window, groups: list[Group], request: DedupeRequest
) -> RequestFlow[tuple[Window, list[Group]]]:
    """Read the stored leads of groups in which a shown document is not a duplicate of the shown lead.

    A group of which all is read has its lead among its rows, or it does not match. With a cursor it may be newer than
    what the page reads: it is rewritten whenever its group grows.
    """
    unread = [
        group
        for group in groups
        if group.stored_lead is None
        and (group.unread_count or request.cursor)
        and any(window.evidence(row, group.lead) is None for row in group.shown_rows[1:])
    ]
    if not unread or request.by != "stored":
        return window, groups
    leads = yield from source.leads([group.id for group in unread])
    hits, lead = list(window.hits), window.grouping.lead.tolist()
    rows = {hit.name: row for row, hit in enumerate(hits)}
    stored_leads: dict[int, int] = {}
    for group in unread:
        if (hit := leads.get(group.id)) is not None:
            row = stored_leads[group.first] = rows.setdefault(hit.name, len(hits))
            if row == len(hits):
                hits.append(hit)
                lead.append(group.first)
    window = Window.group(hits, window.policy, source.overrides, lead=lead, group_names=window.group_names)
    return window, [replace(each, stored_lead=stored_leads.get(each.first, each.stored_lead)) for each in groups]


def window_stats(matched: int, groups: Sequence[Group], page_request: PageRequest, window: Window) -> Json:
    """Build the account of a page of groups: counts of its window and its groups."""
    ranked, deepest = window.ranked, page_request.deepest
    leads = int(np.count_nonzero(window.grouping.lead[:ranked] == np.arange(ranked)))
    shown_count = sum(len(group.shown_rows) for group in groups)
    counts = response.count_stats(matched, ranked, shown_count, leads, len(groups), deepest)
    account = response.request_stats(page_request.request) | counts
    return account | {
        "duplicates": ranked - leads,
        "crowded": int(np.count_nonzero(window.grouping.crowded[:ranked])),
        **response.count_signed(window, page_request.tables),
        "found_by_scope": sum(row >= ranked for group in groups for row in group.duplicates),
    }


def stored_stats(counts: MatchCounts, groups: Sequence[Group], page_request: PageRequest, window: Window) -> Json:
    """Build the account of a page; `unsigned`, `too_short` and `mixed_tables` count the documents that were read."""
    matched, found = counts.documents, counts.groups
    shown_count = sum(len(group.shown_rows) for group in groups)
    shown_groups = {"on_page": len(groups), "exact": counts.exact, "counted": found is not None}
    # Only some documents of such a group were considered when choosing its lead.
    capped = [each.id for each in groups if page_request.request.keep.by != "rank" and each.unread_count > 0]
    return response.request_stats(page_request.request) | {
        "documents": {"matched": matched, "in_window": matched, "beyond_window": 0, "on_page": shown_count},
        "groups": {"matching": found, "in_window": found, **shown_groups},
        "limited": False,
        "duplicates": None if found is None else matched - found,
        **response.count_signed(window, page_request.tables),
        "found_by_scope": 0,
        "capped": [{"group": group, "by": ["keep"]} for group in capped],
    }


def with_index(account: Json, state: IndexState, overrides: Sequence[Override]) -> Json:
    """Add what groups do not cover: documents of the index, and manual decisions that wait to be settled."""
    coverage, followed = state.coverage, state.checkpoint.overrides
    waiting = len({key for key, _ in override_hashes(overrides).items() ^ followed.items()})
    index = {name: getattr(coverage, name) for name in ("documents", "ungrouped", "unsettled")}
    is_lacking = index["ungrouped"] or index["unsettled"] or waiting
    if len(state.checkpoint.done) > 1 and coverage.unsettled:  # each shard may have a lead of one group
        account["groups"]["exact"] = False
    remedy = {"remedy": "settle groups with: ibidem regroup"} if is_lacking else {}
    return remedy | account | {"index": index, "waiting": waiting}
