"""Facets of a window: its documents and groups by source, idf table and year."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from ibidem.grouped_search.window import Window
from ibidem_dedupe.overrides import DocumentRef
from ibidem_ingest.dates import EPOCH
from ibidem_ingest.signatures.packed import NO_DATE

MAX_SOURCES = 12  # sources that are listed


FacetBucket = tuple[DocumentRef, int, int]  # one document, and how many documents and groups have its value in common


@dataclass(frozen=True, slots=True)
class Facets:
    """The facets of a window."""

    sources: Sequence[FacetBucket] = ()  # the most frequent first
    tables: Sequence[FacetBucket] = ()  # idf tables, each of one language; the most frequent first
    years: Sequence[tuple[int, int, int]] = ()  # year, documents and groups, the latest first


def count_facets(window: Window) -> Facets:
    """Count a window's documents and groups."""

    def to_counts(facets: Sequence[Facet]) -> list[FacetBucket]:
        """Return each count with the name of one of its documents."""
        return [(window.name(facet.row), facet.documents, facet.groups) for facet in facets]

    years = [(year, facet.documents, facet.groups) for year, facet in count_years(window)]
    return Facets(to_counts(count_sources(window, MAX_SOURCES)), to_counts(count_tables(window)), years)


@dataclass(frozen=True, slots=True)
class Facet:
    """The documents of a window that share a value."""

    row: int  # one of them, from which the value can be read
    documents: int  # how many they are
    groups: int  # how many groups they belong to


def count_sources(window: Window, limit: int) -> list[Facet]:
    """Count the documents of each source, the most frequent first."""
    values = window.columns.source[: window.ranked].astype(np.int64)
    return sorted(count_values(window, values, values != 0), key=lambda facet: (-facet.documents, facet.row))[:limit]


def count_tables(window: Window) -> list[Facet]:
    """Count the documents signed with each idf table, the most frequent first; a table has one language."""
    values = window.columns.idf[: window.ranked].view(np.int64)
    return sorted(count_values(window, values, values != 0), key=lambda facet: (-facet.documents, facet.row))


def count_years(window: Window) -> list[tuple[int, Facet]]:
    """Count the documents by the year in which their dates begin, the latest first."""
    days = window.columns.date_from[: window.ranked]
    years = np.array([year(day) if day != NO_DATE else 0 for day in days.tolist()], np.int64)
    counts = count_values(window, years, (years > 0) & window.columns.is_signed[: window.ranked])
    return sorted(((int(years[facet.row]), facet) for facet in counts), reverse=True, key=lambda each: each[0])


def year(day: int) -> int:
    """Return the year of a day number, counted from 1980-01-01.

    >>> year(0), year(-1)
    (1980, 1979)
    """
    return (EPOCH + timedelta(days=day)).year


def count_values(window: Window, values: NDArray[np.int64], mask: NDArray[np.bool_]) -> Sequence[Facet]:
    """Count documents and groups by value."""
    rows = np.flatnonzero(mask)
    _, first, place, documents = np.unique(values[rows], return_index=True, return_inverse=True, return_counts=True)
    pairs = np.unique(np.stack((place, window.grouping.lead[rows])), axis=1)
    groups = np.bincount(pairs[0], minlength=first.size) if pairs.size else np.zeros(first.size, np.int64)
    return [
        Facet(int(rows[position]), int(count), int(group_count))
        for position, count, group_count in zip(first, documents, groups, strict=True)
    ]
