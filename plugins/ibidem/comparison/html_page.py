"""HTML page of a comparison: both texts, shared passages, differences, and the dot plot of pages.

A view model and its template: `ibidem compare --html` writes it as one file that needs nothing else; a server may put
`templates/shared_body.html` into a page of its own and serve `templates/shared.css` next to it. Nothing in the body is
a script or a style, so a strict content security policy holds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from numpy.typing import NDArray

from ibidem.comparison.compare import Comparison
from ibidem.comparison.html import COLOURS, PagedText, Part, mark_texts, parts, printable
from ibidem.comparison.matches import Passage
from ibidem.comparison.word_places import PageNumbers
from ibidem.grouped_search.explanations import format_count, page_range, reason
from ibidem_dedupe.reasons import percent
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
        words_a, words_b = equal_word_numbers(passage)
        np.add.at(shared, (of_b[words_b], of_a[words_a]), 1)
        first[of_b[words_b], of_a[words_a]] = number
    held_a = np.bincount(of_a, minlength=columns)
    held_b = np.bincount(of_b, minlength=rows)
    shares = shared / np.maximum(1, np.minimum(held_b[:, None], held_a[None, :]))
    return DotPlot(columns, rows, list(visible_dots(shares, first)), a.count, b.count, a.name, b.name)


def equal_word_numbers(passage: Passage) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the equal words in each text."""
    words_a = [np.arange(run.a, run.a + run.words) for run in passage.runs]
    words_b = [np.arange(run.b, run.b + run.words) for run in passage.runs]
    return np.concatenate(words_a), np.concatenate(words_b)


def visible_dots(shares: NDArray[np.float64], first: NDArray[np.int64]) -> Iterator[Dot]:
    """Yield the dots that are large enough to be visible."""
    for row, column in zip(*np.nonzero(shares >= FAINTEST), strict=True):
        yield Dot(int(column), int(row), min(1.0, round(float(shares[row, column]), 3)), int(first[row, column]))


SHADES = 4  # shades of a dot, by the share of words

Letter = Literal["a", "b"]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two documents."""

    letter: Letter  # which of the two
    title: str  # its title, or its id
    about: str  # date, source and id
    share: str  # how much of it is in the other, in words
    pages: str  # how many pages or parts it has, in words
    parts: Sequence[Part]  # its whole text

    @classmethod
    def build(
        cls, letter: Letter, document: Document, comparison: Comparison, pages: PageNumbers, parts: Sequence[Part]
    ) -> "Side":
        """Build the header of a text."""
        share = comparison.signals.get("overlap", {}).get(letter, 0.0)
        return cls(
            letter=letter,
            title=printable(document.title or document.id),
            about=printable(" · ".join(part for part in (document.date, document.source, document.id) if part)),
            share=f"{percent(share)} of it is in {'B' if letter == 'a' else 'A'}",
            pages=format_count(pages.count, pages.name) if pages.paged else "",
            parts=parts,
        )


@dataclass(frozen=True, slots=True)
class PassageEntry:
    """A passage in the list of passages."""

    anchors: tuple[int, int]  # numbers of the passages to go to in the two texts
    words: str  # how long it is, in words
    pages_a: str  # its pages in the first text, in words; may be empty
    pages_b: str  # its pages in the second text
    opening: str  # its first words

    @property
    def colour(self) -> int:
        """Number of the passage's highlight colour."""
        return self.anchors[0] % COLOURS


@dataclass(frozen=True, slots=True)
class SharedPage:
    """Everything that the page shows."""

    verdict: str  # what the two are to each other
    summary: str  # how much they share
    sides: tuple[Side, Side]  # the two documents
    entries: Sequence[PassageEntry]  # the longest passages, in the order of the first text
    more: int  # how many passages are not listed
    plot: DotPlot  # which pages share text
    anchors: Sequence[int]  # for each passage, from 1, the one to go to in the first text

    def shade(self, dot: Dot) -> int:
        """Return the shade of a dot, from 1 to 4."""
        return max(1, min(SHADES, 1 + int(dot.share * SHADES)))

    def caption(self, dot: Dot) -> str:
        """Describe the text that a dot covers."""
        a, b = self.plot.pages(dot)
        places = f"A {page_range(self.plot.name_a, *a)}, B {page_range(self.plot.name_b, *b)}"
        return f"{places}: {percent(dot.share)} of the words"


ENTRIES = 50  # passages that are listed; every one is marked in the texts

OPENING = 12  # words that a list entry shows


def shared_page(comparison: Comparison) -> SharedPage:
    """Prepare the page about a comparison."""
    numbers = (
        PageNumbers.read(comparison.a.text, comparison.words_a),
        PageNumbers.read(comparison.b.text, comparison.words_b),
    )
    marks = mark_texts(comparison)
    linked = [
        (number, each) for number, each in enumerate(comparison.passages, 1) if marks[0].anchors[number] == number
    ]
    longest = sorted(linked, key=lambda each: -each[1].words)[:ENTRIES]
    return SharedPage(
        verdict=verdict(comparison),
        summary=summary(comparison),
        sides=(
            Side.build(
                "a", comparison.a, comparison, numbers[0], list(parts(PagedText.read(comparison.a.text), *marks))
            ),
            Side.build(
                "b", comparison.b, comparison, numbers[1], list(parts(PagedText.read(comparison.b.text), *marks[::-1]))
            ),
        ),
        entries=[
            entry(passage, comparison, numbers, (marks[0].anchors[number], marks[1].anchors[number]))
            for number, passage in sorted(longest, key=lambda each: each[0])
        ],
        more=len(linked) - len(longest),
        plot=dot_plot(comparison.passages, *numbers),
        anchors=marks[0].anchors,
    )


def render(page: SharedPage, *, language: str = "en") -> str:
    """Render the page as one self-contained HTML file."""
    return environment().get_template("shared_page.html").render(page=page, language=language)


@cache
def environment() -> Environment:
    """Return the template environment: values are escaped, and unknown names are errors."""
    return Environment(
        loader=PackageLoader("ibidem"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


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


def entry(
    passage: Passage, comparison: Comparison, numbers: tuple[PageNumbers, PageNumbers], anchors: tuple[int, int]
) -> PassageEntry:
    """Describe a passage for the list."""
    a, b = passage.a, passage.b
    opening = comparison.a.text[
        comparison.words_a.starts[a[0]] : comparison.words_a.ends[min(a[0] + OPENING, a[1]) - 1]
    ]
    return PassageEntry(
        anchors,
        format_count(passage.words, "word"),
        numbers[0].label(a[0], a[1] - 1),
        numbers[1].label(b[0], b[1] - 1),
        printable(" ".join(opening.split())),
    )
