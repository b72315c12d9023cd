"""A search with its duplicates grouped: one request for the window, one for the page's documents, one for a scope."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter

from ibidem.dedupe import cursor as cursors
from ibidem.dedupe.account import Late, account, late, ungrouped
from ibidem.dedupe.arrangement import Group, arrange
from ibidem.dedupe.overrides import Name, Override
from ibidem.dedupe.paging import Pages
from ibidem.dedupe.parameters import DEEPEST
from ibidem.dedupe.present import Json, Page, plain
from ibidem.dedupe.request import DedupeRequest
from ibidem.dedupe.scope import Beyond, behind, check_scope, look_up
from ibidem.dedupe.window import Window
from ibidem.recorded import recorded
from ibidem_engines.engine import Engine, Ranking, Stored
from ibidem_engines.query import Query
from ibidem_ingest.errors import UsageError


@dataclass(frozen=True, slots=True)
class Asked:
    """One search, checked.

    Args:
        engine: Where to search.
        query: For what.
        request: How to group and show.
        page: Which page, from 1.
        size: Groups on a page; documents when `off`.
        overrides: Readers' words.
        tables: Names of the current idf tables; may be empty.
    """

    engine: Engine
    query: Query
    request: DedupeRequest
    page: int
    size: int
    overrides: Sequence[Override]
    tables: Collection[str]

    def fetch(self, names: Sequence[Name]) -> dict[Name, Stored]:
        """Read the documents that are shown."""
        found = self.engine.fetch(names, self.query) if names else []
        return {(each.index, each.document.id): each for each in found}


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
        overrides: Readers' words on pairs; those kept beside the index when None.
        tables: Names of the current idf tables, for `mixed_tables`; without them the most common one counts as current.

    Returns:
        The response of presentation.md: the engine's own shape, `_dedupe` on each hit, and the account in `dedupe`.

    Raises:
        UsageError: A page or size that does not exist, a cursor of another query, a scope that cannot be kept to.
        EngineError: What the engine could not do.
    """
    began = perf_counter()
    check_page(page, size)
    check_scope(query, request)
    words = recorded(engine) if overrides is None and request.mode != "off" else overrides
    asked = Asked(engine, query, request, page, size, list(words or ()), tables)
    answer = in_ranking(asked) if request.mode == "off" else in_groups(asked)
    took = round((perf_counter() - began) * 1000)
    answer["dedupe"]["took_ms"] = took
    return {"took": took, "timed_out": False, **answer}


def check_page(page: int, size: int) -> None:
    """Refuse a page that no window reaches."""
    if page < 1 or size < 1:
        raise UsageError(f"page {page} of size {size} does not exist", "page and size are whole numbers from 1 on")
    if (page - 1) * size >= DEEPEST:
        raise UsageError(
            f"page {page} of size {size} lies beyond the first {DEEPEST:,} hits", "narrow the query, or add a filter"
        )


def in_ranking(asked: Asked) -> Json:
    """Return the engine's own list, untouched."""
    first = (asked.page - 1) * asked.size
    depth = min(DEEPEST, first + asked.size)
    ranking = asked.engine.window(asked.query, depth, cursors.read(asked.query, asked.request))
    hits = ranking.hits[first:depth]
    stored = asked.fetch([(hit.index, hit.id) for hit in hits])
    told = ungrouped(ranking.hits, len(hits), asked.request, ranking.total)
    return answered(asked, ranking, [plain(hit, stored.get((hit.index, hit.id)), hit.score) for hit in hits], told)


def in_groups(asked: Asked) -> Json:
    """Return a page of groups."""
    ranking, whole = deep_enough(asked)
    pages = Pages(whole.grouping, asked.request.window, asked.size)
    window = whole.first(pages.used(asked.page) * asked.request.window)
    leads = pages.leads(asked.page)
    told_late = late(window, pages, asked.page)
    late_leads = [int(window.grouping.lead[row]) for row, _ in pages.late(asked.page)]
    beyond = look_up(asked.engine, window, [*leads, *sorted(set(late_leads))], asked.query, asked.request)
    window = behind(window, beyond, asked.overrides)
    groups = arrange(window, leads, asked.request)
    stored = asked.fetch([window.name(row) for group in groups for row in group.listed])
    shown = Page(window, groups, asked.request, stored, beyond.outside)
    told = account(window, groups, asked.request, ranking.total, asked.tables) | {
        "late": [
            each.as_json() for each, lead in zip(told_late, late_leads, strict=True) if unseen(each, lead, beyond)
        ],
        "capped": cut_off(groups, beyond),
    }
    return answered(asked, ranking, shown.hits(), told)


def deep_enough(asked: Asked) -> tuple[Ranking, Window]:
    """Read and group as many steps of the window as the page needs, or as there are."""
    step = asked.request.window
    steps = max(1, -(-min(DEEPEST, asked.page * asked.size) // step))
    cursor = cursors.read(asked.query, asked.request)
    while True:
        depth = min(DEEPEST, steps * step)
        ranking = asked.engine.window(asked.query, depth, cursor)
        window = Window.of(ranking.hits, asked.request.policy, asked.overrides)
        filled = Pages(window.grouping, step, asked.size).needed(asked.page) is not None
        if filled or len(ranking.hits) < depth or depth == DEEPEST:
            return ranking, window
        cursor = ranking.cursor or cursor
        steps *= 2


def unseen(told: Late, lead: int, beyond: Beyond) -> bool:
    """Tell whether a late document was not shown with its group already, by a scope that looks beyond the window."""
    return (told.index, told.id) not in beyond.carried.get(lead, ())


def cut_off(groups: Sequence[Group], beyond: Beyond) -> list[Json]:
    """List the groups for whose lead a look-up was cut at the limit."""
    return [
        {"group": group.id, "by": list(beyond.capped[group.first])} for group in groups if group.first in beyond.capped
    ]


def answered(asked: Asked, ranking: Ranking, hits: list[Json], told: Json) -> Json:
    """Put a response together."""
    best = ranking.hits[0].score if ranking.hits else None
    total = {"value": max(ranking.total, len(ranking.hits)), "relation": "eq"}
    told["cursor"] = cursors.write(ranking.cursor, asked.query, asked.request)
    return {"hits": {"total": total, "max_score": best, "hits": hits}, "dedupe": told}
