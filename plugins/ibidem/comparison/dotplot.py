"""Dot plot of pages that share text (Gibbs and McIntyre 1970)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.comparison.matches import Passage
from ibidem.comparison.offsets import PageNumbers

MOST = 150
"""Dots along one side; the pages of a longer text are put together."""

FAINTEST = 0.02
"""The least share of a dot's words that is shown."""


class Dot(NamedTuple):
    """Pages of both texts that share text.

    Args:
        column: Number of the pages in the first text, from 0.
        row: Number of the pages in the second text, from 0.
        share: Share of the shorter one's words that are in a passage of both.
        passage: Number of the first passage there, from 1.
    """

    column: int
    row: int
    share: float
    passage: int


@dataclass(frozen=True, slots=True)
class DotPlot:
    """A dot plot.

    Args:
        columns: How many dots wide it is.
        rows: How many dots high.
        dots: In the order of rows.
        pages_a: Pages of the first text.
        pages_b: Pages of the second text.
        name_a: What these are: `page` or `part`.
        name_b: The same for the second text.
    """

    columns: int
    rows: int
    dots: Sequence[Dot]
    pages_a: int
    pages_b: int
    name_a: str
    name_b: str

    def pages(self, dot: Dot) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the first and last page of a dot in each text, from 1."""
        return (
            span(dot.column, self.columns, self.pages_a),
            span(dot.row, self.rows, self.pages_b),
        )


def span(number: int, dots: int, pages: int) -> tuple[int, int]:
    """Return the first and last page that one of the dots along a side stands for, from 1.

    >>> span(0, 3, 3), span(1, 2, 300)
    ((1, 1), (151, 300))
    """
    return -(-number * pages // dots) + 1, -(-(number + 1) * pages // dots)


def dot_plot(passages: Sequence[Passage], a: PageNumbers, b: PageNumbers) -> DotPlot:
    """Draw a dot plot.

    Args:
        passages: The text that both have.
        a: Pages of the first text.
        b: Pages of the second text.
    """
    columns, rows = min(MOST, a.count), min(MOST, b.count)
    of_a, of_b = a.of_word * columns // a.count, b.of_word * rows // b.count
    shared = np.zeros((rows, columns), np.int64)
    first = np.zeros((rows, columns), np.int64)
    for number, passage in reversed(list(enumerate(passages, 1))):
        words_a, words_b = pairs_of(passage)
        np.add.at(shared, (of_b[words_b], of_a[words_a]), 1)
        first[of_b[words_b], of_a[words_a]] = number
    held_a = np.bincount(of_a, minlength=columns)
    held_b = np.bincount(of_b, minlength=rows)
    shares = shared / np.maximum(1, np.minimum(held_b[:, None], held_a[None, :]))
    return DotPlot(columns, rows, list(dots_of(shares, first)), a.count, b.count, a.name, b.name)


def pairs_of(passage: Passage) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of the words that are the same, in each text."""
    words_a = [np.arange(run.a, run.a + run.words) for run in passage.runs]
    words_b = [np.arange(run.b, run.b + run.words) for run in passage.runs]
    return np.concatenate(words_a), np.concatenate(words_b)


def dots_of(shares: NDArray[np.float64], first: NDArray[np.int64]) -> Iterator[Dot]:
    """Yield the dots that can be seen.

    Args:
        shares: (rows, columns) share of common words.
        first: (rows, columns) number of the first passage there.
    """
    for row, column in zip(*np.nonzero(shares >= FAINTEST), strict=True):
        yield Dot(int(column), int(row), min(1.0, round(float(shares[row, column]), 3)), int(first[row, column]))
