"""What a reader may choose beside the list: sources and years of what was examined, with documents and groups."""

from collections.abc import Sequence
from dataclasses import dataclass

from ibidem.dedupe.facets import by_source, by_year
from ibidem.dedupe.window import Window
from ibidem.gateway.page.state import PageState
from ibidem.linkedtext import readable
from ibidem_engines.engine import Engine

MOST = 12
"""Sources that are listed."""


@dataclass(frozen=True, slots=True)
class Choice:
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
        years: Years, the latest first.
    """

    sources: Sequence[Choice] = ()
    years: Sequence[Choice] = ()


def choices(engine: Engine, window: Window | None, state: PageState) -> Choices:
    """Count what the list may be narrowed to.

    Args:
        engine: Where names of sources are read, from one document each.
        window: What was examined; None when nothing was grouped.
        state: What the page shows.
    """
    if window is None or not window.ranked:
        return Choices()
    facets = by_source(window, MOST)
    names = [window.name(facet.row) for facet in facets]
    sources = {(each.index, each.document.id): each.document.source for each in engine.fetch(names)}
    return Choices(
        sources=[
            Choice(
                readable(source),
                state.address(source=state.with_source(source)),
                facet.documents,
                facet.groups,
                source in state.source,
            )
            for name, facet in zip(names, facets, strict=True)
            if (source := sources.get(name, ""))
        ],
        years=[
            Choice(
                str(year),
                state.address(date="" if state.date == str(year) else str(year)),
                facet.documents,
                facet.groups,
                state.date == str(year),
            )
            for year, facet in by_year(window)
        ],
    )
