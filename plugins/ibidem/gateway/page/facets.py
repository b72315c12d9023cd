"""Facets of the list: sources, languages and years of the results that were grouped, with counts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from ibidem.comparison.html import printable
from ibidem.gateway.page.state import PageState
from ibidem.grouped_search.facets import MOST, Counted, Facets
from ibidem_engines.collapse import CollapseEngine, FacetCount
from ibidem_engines.engine import Engine


@dataclass(frozen=True, slots=True)
class FacetChoice:
    """A value that the list may be narrowed to.

    Args:
        name: The value.
        address: The list with it, or without it when it is chosen already.
        documents: How many examined documents have it.
        groups: In how many groups.
        chosen: Whether the list is narrowed to it.
    """

    name: str
    address: str
    documents: int
    groups: int
    chosen: bool


@dataclass(frozen=True, slots=True)
class Choices:
    """Everything that the list may be narrowed to.

    Args:
        sources: Sources, the most frequent first.
        languages: Languages, the most frequent first.
        years: Years, the latest first.
    """

    sources: Sequence[FacetChoice] = ()
    languages: Sequence[FacetChoice] = ()
    years: Sequence[FacetChoice] = ()


def stored_choices(engine: Engine, state: PageState) -> Choices:
    """Count what the list may be narrowed to, over all that matches and by stored groups.

    Args:
        engine: Where it is counted.
        state: What the page shows.
    """
    facets = cast("CollapseEngine", engine).facets(state.query(), MOST)

    def shown(name: str, counts: Sequence[FacetCount]) -> Iterator[FacetChoice]:
        for each in counts:
            chosen = each.value in getattr(state, name)
            address = state.toggled(name, each.value)
            yield FacetChoice(printable(each.value), address, each.documents, each.groups, chosen)

    languages = list(shown("language", facets.languages))
    return Choices(
        sources=list(shown("source", facets.sources)),
        languages=languages if len(languages) > 1 or state.language else (),
        years=[
            FacetChoice(
                each.value,
                state.address(date="" if state.date == each.value else each.value),
                each.documents,
                each.groups,
                state.date == each.value,
            )
            for each in facets.years
        ],
    )


def choices(engine: Engine, facets: Facets, state: PageState) -> Choices:
    """List what the list may be narrowed to.

    Args:
        engine: Where names of sources and languages are read, from one document each.
        facets: What was counted.
        state: What the page shows.
    """
    names = [name for name, _, _ in (*facets.sources, *facets.tables)]
    there = {(each.index, each.document.id): each.document for each in engine.fetch(names)} if names else {}

    def counted(name: str, some: Sequence[Counted]) -> Iterator[FacetChoice]:
        counts_by_value: dict[str, tuple[int, int]] = {}
        for place, documents, groups in some:
            if place in there and (value := str(getattr(there[place], name))):
                before = counts_by_value.get(value, (0, 0))
                counts_by_value[value] = before[0] + documents, before[1] + groups
        for value, (documents, groups) in sorted(counts_by_value.items(), key=lambda each: -each[1][0]):
            address, chosen = state.toggled(name, value), value in getattr(state, name)
            yield FacetChoice(printable(value), address, documents, groups, chosen)

    return Choices(
        sources=list(counted("source", facets.sources)),
        languages=list(counted("language", facets.tables)),
        years=[
            FacetChoice(
                str(year),
                state.address(date="" if state.date == str(year) else str(year)),
                documents,
                groups,
                state.date == str(year),
            )
            for year, documents, groups in facets.years
        ],
    )
