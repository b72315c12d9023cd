"""Facets: documents and groups of a window by source, idf table and year."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from ibidem.dedupe.overrides import DocumentRef
from ibidem.dedupe.window import Window
from ibidem_ingest.dates import EPOCH
from ibidem_ingest.signatures.packed import NO_DATE

MOST = 12
"""Sources that are listed."""

Counted = tuple[DocumentRef, int, int]
"""One document, and how many documents and groups have its value in common."""


@dataclass(frozen=True, slots=True)
class Facets:
    """What a window may be narrowed to.

    Args:
        sources: The most frequent first.
        tables: Idf tables, each of one language; the most frequent first.
        years: Year, documents and groups, the latest first.
    """

    sources: Sequence[Counted] = ()
    tables: Sequence[Counted] = ()
    years: Sequence[tuple[int, int, int]] = ()


def facets_of(window: Window) -> Facets:
    """Count a window's documents and groups."""

    def named(facets: Sequence[Facet]) -> list[Counted]:
        return [(window.name(facet.row), facet.documents, facet.groups) for facet in facets]

    years = [(year, facet.documents, facet.groups) for year, facet in by_year(window)]
    return Facets(named(by_source(window, MOST)), named(by_table(window)), years)


@dataclass(frozen=True, slots=True)
class Facet:
    """Documents of a window that have a value in common.

    Args:
        row: One of them, from which the value can be read.
        documents: How many they are.
        groups: How many groups they belong to.
    """

    row: int
    documents: int
    groups: int


def by_source(window: Window, most: int) -> list[Facet]:
    """Count the documents of each source, the most frequent first.

    Args:
        window: The grouped hits.
        most: How many sources at most.
    """
    values = window.columns.source[: window.ranked].astype(np.int64)
    return sorted(count_values(window, values, values != 0), key=lambda facet: (-facet.documents, facet.row))[:most]


def by_table(window: Window) -> list[Facet]:
    """Count the documents that each idf table signed, the most frequent first; a table is of one language."""
    values = window.columns.idf[: window.ranked].view(np.int64)
    return sorted(count_values(window, values, values != 0), key=lambda facet: (-facet.documents, facet.row))


def by_year(window: Window) -> list[tuple[int, Facet]]:
    """Count the documents of each year in which their dates begin, the latest first."""
    days = window.columns.date_from[: window.ranked]
    years = np.array([year(day) if day != NO_DATE else 0 for day in days.tolist()], np.int64)
    counts = count_values(window, years, (years > 0) & window.columns.signed[: window.ranked])
    return sorted(((int(years[facet.row]), facet) for facet in counts), reverse=True, key=lambda each: each[0])


def year(day: int) -> int:
    """Return the year of a day that is counted from 1980 on.

    >>> year(0), year(-1)
    (1980, 1979)
    """
    return (EPOCH + timedelta(days=day)).year


def count_values(window: Window, values: NDArray[np.int64], there: NDArray[np.bool_]) -> Sequence[Facet]:
    """Count documents and groups by value."""
    rows = np.flatnonzero(there)
    _, first, place, documents = np.unique(values[rows], return_index=True, return_inverse=True, return_counts=True)
    pairs = np.unique(np.stack((place, window.grouping.lead[rows])), axis=1)
    groups = np.bincount(pairs[0], minlength=first.size) if pairs.size else np.zeros(first.size, np.int64)
    return [
        Facet(int(rows[at]), int(count), int(several))
        for at, count, several in zip(first, documents, groups, strict=True)
    ]
