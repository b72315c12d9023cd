"""A page of groups: the window as deep as the page needs, its leads' duplicates beyond, and the documents shown."""

from collections.abc import Sequence
from dataclasses import dataclass

from ibidem.dedupe.account import Late, account, late
from ibidem.dedupe.arrangement import Group, arrange
from ibidem.dedupe.paging import Pages
from ibidem.dedupe.parameters import DEEPEST
from ibidem.dedupe.present import Json, Page
from ibidem.dedupe.reading import Reading, read_long, related
from ibidem.dedupe.scope import Beyond, behind, look_up
from ibidem.dedupe.source import Asked, Source
from ibidem.dedupe.surplus import counts, only_counted
from ibidem.dedupe.window import Window
from ibidem_engines.engine import Ranking
from ibidem_engines.exchange import Exchange
from ibidem_ingest.errors import UsageError


@dataclass(frozen=True, slots=True)
class GroupedPage:
    """What comes of it.

    Args:
        ranking: What was ranked.
        window: The part of it that the page stands on, grouped.
        hits: The list to show.
        account: What it stands on, counted.
    """

    ranking: Ranking
    window: Window
    hits: list[Json]
    account: Json


def check_page(page: int, size: int) -> None:
    """Refuse a page that no window reaches."""
    if page < 1 or size < 1:
        raise UsageError(f"page {page} of size {size} does not exist", "page and size are whole numbers from 1 on")
    if (page - 1) * size >= DEEPEST:
        raise UsageError(
            f"page {page} of size {size} lies beyond the first {DEEPEST:,} hits", "narrow the query, or add a filter"
        )


def grouped_page(source: Source, asked: Asked) -> Exchange[GroupedPage]:
    """Make a page of groups.

    Args:
        source: Where from.
        asked: Which page.
    """
    request = asked.request
    read = Reading(source, asked)
    yield from read.deep_enough()
    ranking, whole = read.ranking, read.window
    pages = Pages(whole.grouping, request.window, asked.size)
    window = whole.first(max(1, pages.used(asked.page)) * request.window)
    leads = pages.leads(asked.page)
    told_late = late(window, pages, asked.page)
    late_leads = [int(window.grouping.lead[row]) for row, _ in pages.late(asked.page)]
    wanted = [*leads, *sorted(set(late_leads))]
    if request.scope == "matches" and ranking.total <= window.ranked and not late_leads:
        wanted = []
    if request.scope != "window" and wanted:
        yield from read_long(source, window, leads)
    beyond = yield from look_up(source.find, window, wanted, request)
    above = window
    window = yield from related(source, above.related.longs, lambda: behind(above, beyond, source.overrides()))
    groups = arrange(window, leads, request)
    if (some := asked.portion) is not None:
        groups = [group.portion(some.skipped, some.most) for group in groups if group.id == some.group]
    yield from read_long(source, window, [row for group in groups if group.duplicates for row in group.listed])
    rest = only_counted(window, (yield from matching(source, read)), beyond.outside)
    stored = yield from source.fetch([window.name(row) for group in groups for row in group.listed])
    told = account(window, groups, request, ranking.total, asked.tables, asked.deepest, rest) | {
        "late": [
            each.as_json() for each, lead in zip(told_late, late_leads, strict=True) if unseen(each, lead, beyond)
        ],
        "capped": cut_off(groups, beyond),
    }
    return GroupedPage(ranking, window, Page(window, groups, request, stored, beyond.outside, rest).hits(), told)


def matching(source: Source, read: Reading) -> Exchange[dict[str, int]]:
    """Count the documents that match of each text whose further copies were left out."""
    unknown = [content for content in read.surplus if content not in read.matching]
    found = (yield from source.find(counts(unknown), everywhere=False)) if unknown else ()
    return read.matching | {content: each.same for content, each in zip(unknown, found, strict=True)}


def unseen(told: Late, lead: int, beyond: Beyond) -> bool:
    """Tell whether a late document was not shown with its group already, by a scope that looks beyond the window."""
    return (told.index, told.id) not in beyond.carried.get(lead, ())


def cut_off(groups: Sequence[Group], beyond: Beyond) -> list[Json]:
    """List the groups for whose lead a look-up was cut at the limit."""
    return [
        {"group": group.id, "by": list(beyond.capped[group.first])} for group in groups if group.first in beyond.capped
    ]
