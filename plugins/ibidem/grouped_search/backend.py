"""Search backend: the protocol by which a page of groups is read, and the way that a search takes.

`auto` takes stored groups, or equal texts, where these are what is asked for, else the window. The plugin inside the
cluster takes the place of the layer where every node has it and it does what is asked. It answers as the layer does
(`tests/plugin` holds it to that), in one request and a fraction of the time.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from ibidem.grouped_search.passage import Passage
from ibidem.grouped_search.response import Group, Json
from ibidem_dedupe.overrides import DocumentRef, Override
from ibidem_dedupe.parameters import MAX_WINDOW, PRESETS, WAYS, By, DedupeRequest, PassageFields, asks_for_stored_preset
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import LookupResult, Ranking, SignatureLookup
from ibidem_engines.ledger import GroupCheckpoint, parse_policy
from ibidem_engines.query import Cursor, CursorCodec, Place
from ibidem_engines.requests import RequestFlow
from ibidem_engines.stored_groups import Collapsed, Coverage, Hit, Members, Order, Values
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError


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

    def collapse(self, place: Place, size: int) -> RequestFlow[Collapsed]:
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
    """What decides on the way of searches of an index."""

    checkpoint: GroupCheckpoint = field(default_factory=GroupCheckpoint)
    coverage: Coverage = field(default_factory=Coverage)
    decisions: int = 0  # manual decisions
    is_beside: bool = False  # whether its signatures are in an index beside it


UNKNOWN = IndexState()  # of an index that was never settled


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
    policy = requested_policy(request, own := parse_policy(state.checkpoint.policy))
    rule = state.checkpoint.origin if policy == own else "request"
    if state.is_beside:
        check_beside(request)
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


def check_beside(request: DedupeRequest) -> None:
    """Refuse what a window of an index whose signatures are beside it cannot give."""
    options = {"by": request.by == "stored", "scope": request.scope != "window", "membership": bool(request.membership)}
    if name := next((name for name, is_given in options.items() if is_given), ""):
        what = f"dedupe_{'level' if name == 'membership' else name}={getattr(request, name)} cannot be combined with"
        remedy = "leave that out: its windows are grouped; the rest needs signatures in place (strip, then backfill)"
        raise UsageError(f"{what} an index whose signatures are beside it", remedy)


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


def requested_policy(request: DedupeRequest, own: Policy) -> Policy:
    """Return the requested policy; figures that are not named are those of the index."""
    figures = dict(request.figures)
    if figures.keys() & {"dedupe_preset", "dedupe_similarity"}:
        return request.policy
    level = request.policy.level if "dedupe_level" in figures else own.level
    return own.at(level).within(request.policy.window_days if "dedupe_window_days" in figures else own.window_days)


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
    is_known = not asks_for_stored_preset(request) and plugin_policy(request) == request.policy
    return is_plain and is_window and request.keep.by != "current" and is_known


def plugin_policy(request: DedupeRequest) -> Policy:
    """Return the policy that the plugin reads from a request's parameters."""
    base = PRESETS[request.preset].policy if request.preset in PRESETS else Policy()
    similarity = dict(request.figures).get("dedupe_similarity")
    base = base if similarity is None else base.similar(int(similarity))
    return base.at(request.policy.level).within(request.policy.window_days)


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
