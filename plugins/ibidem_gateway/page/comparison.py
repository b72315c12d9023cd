"""Comparison of two documents as the page shows it: verdict, shares, redline, and the dot plot of long texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ibidem.comparison.compare import Comparison
from ibidem.comparison.matches import Passage
from ibidem.comparison.word_places import PageNumbers
from ibidem.grouped_search.explanations import format_count, page_range, reason
from ibidem_dedupe.reasons import percent
from ibidem_gateway.page.redline import PagedText, Redline, mark_texts, parts, redline
from ibidem_gateway.page.rendering import printable
from ibidem_ingest.document import Document

MAX_DOTS = 150  # dots along one side; the pages of a longer text are put together

FAINTEST = 0.02  # the least share of a dot's words that is shown


class Dot(NamedTuple):
    """Pages of both texts that share text."""

    column: int  # number of the pages in the first text, from 0
    row: int  # number of the pages in the second text, from 0
    share: float  # share of the shorter one's words that are in a passage of both
    passage: int  # number of the first passage there, from 1


@dataclass(frozen=True, slots=True)
class DotPlot:
    """A dot plot."""

    columns: int  # how many dots wide it is
    rows: int  # how many dots high
    dots: Sequence[Dot]  # in the order of rows
    pages_a: int  # pages of the first text
    pages_b: int  # pages of the second text
    name_a: str  # what these are: `page` or `part`
    name_b: str  # the same for the second text

    def pages(self, dot: Dot) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the first and last page of a dot in each text, from 1."""
        return (
            span(dot.column, self.columns, self.pages_a),
            span(dot.row, self.rows, self.pages_b),
        )


def span(number: int, dots: int, pages: int) -> tuple[int, int]:
    """Return the first and last page that a dot covers in one of the texts, from 1.

    >>> span(0, 3, 3), span(1, 2, 300)
    ((1, 1), (151, 300))
    """
    return -(-number * pages // dots) + 1, -(-(number + 1) * pages // dots)


def dot_plot(passages: Sequence[Passage], a: PageNumbers, b: PageNumbers) -> DotPlot:
    """Draw a dot plot."""
    columns, rows = min(MAX_DOTS, a.count), min(MAX_DOTS, b.count)
    of_a, of_b = a.of_word * columns // a.count, b.of_word * rows // b.count
    shared = np.zeros((rows, columns), np.int64)
    first = np.zeros((rows, columns), np.int64)
    for number, passage in reversed(list(enumerate(passages, 1))):
        words_a = np.concatenate([np.arange(run.a, run.a + run.words) for run in passage.runs])
        words_b = np.concatenate([np.arange(run.b, run.b + run.words) for run in passage.runs])
        np.add.at(shared, (of_b[words_b], of_a[words_a]), 1)
        first[of_b[words_b], of_a[words_a]] = number
    held_a = np.bincount(of_a, minlength=columns)
    held_b = np.bincount(of_b, minlength=rows)
    shares = shared / np.maximum(1, np.minimum(held_b[:, None], held_a[None, :]))
    dots = [
        Dot(int(column), int(row), min(1.0, round(float(shares[row, column]), 3)), int(first[row, column]))
        for row, column in zip(*np.nonzero(shares >= FAINTEST), strict=True)
    ]
    return DotPlot(columns, rows, dots, a.count, b.count, a.name, b.name)


SHADES = 4  # shades of a dot, by the share of words


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two documents."""

    title: str  # its title, or its id
    share: str  # how much of it is in the other, in words
    pages: str  # how many pages or parts it has, in words

    @classmethod
    def build(cls, document: Document, share: object, other: str, pages: PageNumbers) -> "Side":
        """Build the header of a text."""
        return cls(
            title=printable(document.title or document.id),
            share=f"{percent(float(str(share)))} of it is in {other}",
            pages=format_count(pages.count, pages.name) if pages.paged else "",
        )


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Everything that the page shows about two documents."""

    verdict: str  # what the two are to each other
    summary: str  # how much they share
    sides: tuple[Side, Side]  # the two documents
    redline: Redline  # both texts in rows
    plot: DotPlot  # which pages share text
    anchors: Sequence[int]  # for each passage, from 1, the one to go to in the first text

    @classmethod
    def build(cls, comparison: Comparison) -> "ComparedPair":
        """Prepare the page about a comparison."""
        a, b = comparison.a, comparison.b
        pages = PageNumbers.read(a.text, comparison.words_a), PageNumbers.read(b.text, comparison.words_b)
        marks = mark_texts(comparison)
        shares = comparison.signals.get("overlap", {})
        return cls(
            verdict=verdict(comparison),
            summary=summary(comparison),
            sides=(
                Side.build(a, shares.get("a", 0.0), "B", pages[0]),
                Side.build(b, shares.get("b", 0.0), "A", pages[1]),
            ),
            redline=redline(
                list(parts(PagedText.read(a.text), *marks)), list(parts(PagedText.read(b.text), *marks[::-1]))
            ),
            plot=dot_plot(comparison.passages, *pages),
            anchors=marks[0].anchors,
        )

    def shade(self, dot: Dot) -> int:
        """Return the shade of a dot, from 1 to 4."""
        return max(1, min(SHADES, 1 + int(dot.share * SHADES)))

    def caption(self, dot: Dot) -> str:
        """Describe the text that a dot covers."""
        a, b = self.plot.pages(dot)
        places = f"A {page_range(self.plot.name_a, *a)}, B {page_range(self.plot.name_b, *b)}"
        return f"{places}: {percent(dot.share)} of the words"


def verdict(comparison: Comparison) -> str:
    """Return the relation of the two documents."""
    if comparison.evidence is None:
        return "No duplicates: no evidence suffices."
    return f"{comparison.evidence.level}: {reason(comparison.evidence.why, 'B', 'A')}"


def summary(comparison: Comparison) -> str:
    """Return how much text the two documents share."""
    words = sum(passage.words for passage in comparison.passages)
    if not words:
        return "They share no passage of eight words."
    return f"They share {format_count(words, 'word')} in {format_count(len(comparison.passages), 'passage')}."
