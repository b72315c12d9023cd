"""Facets of a list: the sources, languages and years to filter by, with their counts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ibidem.grouped_search.api import SearchResult
from ibidem.grouped_search.facets import MAX_SOURCES, FacetBucket, Facets
from ibidem_engines.engine import Engine
from ibidem_engines.stored_groups import FacetCount
from ibidem_gateway.page.rendering import printable
from ibidem_gateway.page.state import PageState


@dataclass(frozen=True, slots=True)
class FacetChoice:
    """A facet value to filter a list by."""

    name: str  # the value
    address: str  # the list with it, or without it when it is chosen already
    documents: int  # how many examined documents have it
    groups: int  # in how many groups
    chosen: bool  # whether the list is narrowed to it


@dataclass(frozen=True, slots=True)
class Choices:
    """All facet values to filter a list by."""

    sources: Sequence[FacetChoice] = ()  # sources, the most frequent first
    languages: Sequence[FacetChoice] = ()  # languages, the most frequent first
    years: Sequence[FacetChoice] = ()  # years, the latest first
    without_source: int = 0  # documents without a source, if all sources are listed


def count_choices(engine: Engine, result: SearchResult, state: PageState) -> Choices:
    """Count the facet values of a list: over all matches if groups are stored, else of the window."""
    account = result.response["dedupe"]
    if account.get("grouping") == "stored":
        found, documents = stored_choices(engine, state), account["documents"]["matched"]
    else:
        found = choices(engine, result.facets, state)
        documents = account["documents"]["in_window"] - account["unsigned"]
    rest = documents - sum(each.documents for each in found.sources)
    return replace(found, without_source=max(0, rest) if 0 < len(found.sources) < MAX_SOURCES else 0)


def stored_choices(engine: Engine, state: PageState) -> Choices:
    """Count the facet values over all matches, by stored groups."""
    facets = engine.facets(state.query(), MAX_SOURCES)

    def facet_choices(name: str, counts: Sequence[FacetCount]) -> Iterator[FacetChoice]:
        """Yield the choices of one facet."""
        for each in counts:
            is_chosen = each.value in getattr(state, name)
            address = state.toggle(name, each.value)
            yield FacetChoice(printable(each.value), address, each.documents, each.groups, is_chosen)

    languages = list(facet_choices("language", facets.languages))
    return Choices(
        sources=list(facet_choices("source", facets.sources)),
        languages=languages if len(languages) > 1 or state.language else (),
        years=[year_choice(state, each.value, each.documents, each.groups) for each in facets.years],
    )


def choices(engine: Engine, facets: Facets, state: PageState) -> Choices:
    """List the facet values of a window."""
    names = [name for name, _, _ in (*facets.sources, *facets.tables)]
    documents_by_name = {(each.index, each.document.id): each.document for each in engine.fetch(names)} if names else {}

    def facet_choices(name: str, buckets: Sequence[FacetBucket]) -> Iterator[FacetChoice]:
        """Yield the choices of one facet, with the counts of equal values added up."""
        counts_by_value: dict[str, tuple[int, int]] = {}
        for place, documents, leads in buckets:
            if place in documents_by_name and (value := str(getattr(documents_by_name[place], name))):
                counts = counts_by_value.get(value, (0, 0))
                counts_by_value[value] = counts[0] + documents, counts[1] + leads
        for value, (documents, leads) in sorted(counts_by_value.items(), key=lambda each: -each[1][0]):
            address, is_chosen = state.toggle(name, value), value in getattr(state, name)
            yield FacetChoice(printable(value), address, documents, leads, is_chosen)

    return Choices(
        sources=list(facet_choices("source", facets.sources)),
        languages=list(facet_choices("language", facets.tables)),
        years=[year_choice(state, str(year), documents, groups) for year, documents, groups in facets.years],
    )


def year_choice(state: PageState, year: str, documents: int, groups: int) -> FacetChoice:
    """Return the choice of a year; choosing the selected year removes it."""
    is_chosen = state.date == year
    return FacetChoice(year, state.address(date="" if is_chosen else year), documents, groups, is_chosen)
