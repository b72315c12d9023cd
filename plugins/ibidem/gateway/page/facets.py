"""Facets of the list: sources, languages and years of the results that were grouped, with counts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from ibidem.comparison.html import printable
from ibidem.dedupe.window import Window
from ibidem.gateway.page.state import PageState
from ibidem.grouped_search.stats import Facet, by_language, by_source, by_year, idf_tables
from ibidem_engines.collapse import CollapseEngine, FacetCount
from ibidem_engines.engine import Engine

MOST = 12
"""Sources that are listed."""


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
    found = cast("CollapseEngine", engine).facets(state.query(), MOST)

    def shown(name: str, counts: Sequence[FacetCount]) -> Iterator[FacetChoice]:
        for each in counts:
            chosen = each.value in getattr(state, name)
            address = state.toggled(name, each.value)
            yield FacetChoice(printable(each.value), address, each.documents, each.groups, chosen)

    languages = list(shown("language", found.languages))
    return Choices(
        sources=list(shown("source", found.sources)),
        languages=languages if len(languages) > 1 or state.language else (),
        years=[
            FacetChoice(
                each.value,
                state.address(date="" if state.date == each.value else each.value),
                each.documents,
                each.groups,
                state.date == each.value,
            )
            for each in found.years
        ],
    )


def choices(engine: Engine, window: Window | None, state: PageState) -> Choices:
    """Count what the list may be narrowed to.

    Args:
        engine: Where names of sources are read, from one document each.
        window: What was examined; None when nothing was grouped.
        state: What the page shows.
    """
    if window is None or not window.ranked:
        return Choices()
    sources, signed = by_source(window, MOST), idf_tables(window)
    names = [window.name(row) for row in (*(facet.row for facet in sources), *signed.values())]
    there = {(each.index, each.document.id): each.document for each in engine.fetch(names)} if names else {}
    languages = {idf: there[name].language for idf, row in signed.items() if (name := window.name(row)) in there}

    def counted(name: str, facets: Sequence[Facet]) -> Iterator[FacetChoice]:
        for facet in facets:
            document = there.get(window.name(facet.row))
            if document is not None and (value := str(getattr(document, name))):
                chosen = value in getattr(state, name)
                address = state.toggled(name, value)
                yield FacetChoice(printable(value), address, facet.documents, facet.groups, chosen)

    return Choices(
        sources=list(counted("source", sources)),
        languages=list(counted("language", by_language(window, languages))),
        years=[
            FacetChoice(
                str(year),
                state.address(date="" if state.date == str(year) else str(year)),
                facet.documents,
                facet.groups,
                state.date == str(year),
            )
            for year, facet in by_year(window)
        ],
    )
