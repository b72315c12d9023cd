"""Comparison of two documents as the page shows it: verdict, shares, and the redline.

Both texts are cut into shared passages, each linked to its counterpart, with differences marked. A passage that both
texts have is one row, or one for each of its paragraphs; what is between two passages is a row of its own. Passages in
the same order in both texts stay where they are, as many words of them as possible; the others were moved.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.comparison.compare import Comparison, blocks
from ibidem.comparison.word_diff import PageNumbers, Words, page_breaks
from ibidem.grouped_search.api import format_count, reason
from ibidem_dedupe.evidence import percent
from ibidem_gateway.page.state import printable
from ibidem_ingest.document import Document

Numbers = NDArray[np.int64]


class TextSpan(NamedTuple):
    text: str  # the text, as in the document
    differs: bool = False  # whether the other text has other words here, or none; only inside a passage
    page: int = 0  # number of the page that begins before it, from 1; 0 when none does


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text: a shared passage, or the text between two passages."""

    stretches: Sequence[TextSpan]  # its text
    passage: int = 0  # number of the passage, from 1; 0 for what only this text has
    target: int = 0  # number of the passage to go to in the other text


@dataclass(frozen=True, slots=True)
class PagedText:
    """A text with the positions of its page breaks."""

    text: str
    breaks: Numbers  # offsets of its page breaks

    @classmethod
    def read(cls, text: str) -> "PagedText":
        """Find the page breaks."""
        return cls(text, page_breaks(text))

    def stretches(self, start: int, end: int, *, differs: bool = False) -> Iterator[TextSpan]:
        """Yield a part of the text, split at its page breaks."""
        first_break, last_break = np.searchsorted(self.breaks, (start, end)).tolist()
        page = 1 if start == 0 and len(self.breaks) else 0
        for number in range(first_break, last_break):
            position = int(self.breaks[number])
            if start < position or page:
                yield TextSpan(printable(self.text[start:position]), differs, page)
            start, page = position + 1, number + 2
        if start < end or page:
            yield TextSpan(printable(self.text[start:end]), differs, page)


@dataclass(frozen=True, eq=False, slots=True)
class Marks:
    """The passage that each word of a text belongs to."""

    words: Words
    owner: Numbers  # (n,) number of the passage that holds a word, from 1; 0 for a word that none holds
    is_equal: NDArray[np.bool_]  # (n,) whether both texts have it there
    # For each passage the one that holds its first word, itself unless the text repeats it; 0 for none.
    anchors: Sequence[int]

    @classmethod
    def build(cls, words: Words, extents: Sequence[tuple[int, int]], blocks: Iterable[tuple[int, int]]) -> "Marks":
        """Assign each word to the first passage that covers it."""
        owner = np.zeros(len(words.tokens), np.int64)
        reached = 0
        for number, (start, end) in sorted(enumerate(extents, 1), key=lambda each: each[1]):
            owner[max(start, reached) : end] = number
            reached = max(reached, end)
        mask = np.zeros(len(words.tokens), bool)
        for start, end in blocks:
            mask[start:end] = True
        return cls(words, owner, mask, [0, *(int(owner[start]) for start, _ in extents)])


def mark_texts(comparison: Comparison) -> tuple[Marks, Marks]:
    tokens = comparison.words_a.tokens, comparison.words_b.tokens
    equal_blocks = [block for passage in comparison.passages for block in blocks(passage, *tokens) if block.is_equal]
    return (
        Marks.build(
            comparison.words_a, [passage.a for passage in comparison.passages], [block.a for block in equal_blocks]
        ),
        Marks.build(
            comparison.words_b, [passage.b for passage in comparison.passages], [block.b for block in equal_blocks]
        ),
    )


def parts(text: PagedText, marks: Marks, other_marks: Marks) -> Iterator[Part]:
    """Split a text into its passages and the text between them."""
    words = marks.words
    reached = 0
    for number, first, last in equal_runs(marks.owner):
        if not number:
            continue
        start, end = words.starts[first], words.ends[last]
        if start > reached:
            yield Part(list(text.stretches(reached, start)))
        yield Part(
            list(mark_differences(text, words, marks.is_equal[first : last + 1], first)),
            number,
            other_marks.anchors[number],
        )
        reached = end
    if reached < len(text.text):
        yield Part(list(text.stretches(reached, len(text.text))))


def equal_runs(values: NDArray[np.generic]) -> Iterator[tuple[int, int, int]]:
    """Yield runs of equal values: the value, the first and the last position.

    >>> list(equal_runs(np.array([0, 0, 3])))
    [(0, 0, 1), (3, 2, 2)]
    """
    ends = [*(np.flatnonzero(values[1:] != values[:-1]) + 1).tolist(), len(values)]
    start = 0
    for end in ends:
        if start < end:
            yield int(values[start]), start, end - 1
        start = end


def mark_differences(text: PagedText, words: Words, mask: NDArray[np.bool_], first: int) -> Iterator[TextSpan]:
    """Yield the text of a passage, with the words that differ as separate parts."""
    reached = words.starts[first]
    end = words.ends[first + len(mask) - 1]
    for is_same, start, last in equal_runs(mask):
        if not is_same:
            begin = words.starts[first + start]
            yield from text.stretches(reached, begin)
            reached = words.ends[first + last]
            yield from text.stretches(begin, reached, differs=True)
    yield from text.stretches(reached, end)


Kind = Literal["same", "changed", "moved", "page"]

PARAGRAPH = "\n"


@dataclass(frozen=True, slots=True)
class Run:
    text: str  # what it says; for a page break the number of the page
    # `same`: both have it; `changed`: only this text has it; `moved`: the other has it elsewhere; `page`.
    kind: Kind = "same"
    passage: int = 0  # of a moved one the number of its passage
    target: int = 0  # the number of the passage in the other text that is the same


@dataclass(frozen=True, slots=True)
class Row:
    a: Sequence[Run]  # runs of the first text
    b: Sequence[Run]  # runs of the second text
    number: int = 0  # number of the difference, from 1; 0 for a row without one
    passages: tuple[int, int] = (0, 0)  # numbers of the passages that begin with it, in each text; 0 for none

    @property
    def differs(self) -> bool:
        """Whether a part of the row was removed, added or moved."""
        return any(run.kind in ("changed", "moved") for run in (*self.a, *self.b))


@dataclass(frozen=True, slots=True)
class Redline:
    """Two texts in two columns, row by row."""

    rows: Sequence[Row]  # the rows, in the order of what both texts have
    differences: int  # how many of them differ
    moved: int  # how many passages were moved


def redline(a: Sequence[Part], b: Sequence[Part]) -> Redline:
    """Align two texts in two columns."""
    known = {part.passage for part in a if part.passage}
    lengths: dict[int, int] = {}
    for part in b:
        characters = sum(len(each.text) for each in part.stretches)
        lengths.setdefault(part.target, characters)  # of a repeated passage the first one counts, as in `split_at`
    in_place = frozenset(stay([each for each in lengths.items() if each[0] in known]))
    rows: list[Row] = []
    differences = 0
    for row in arrange(a, b, in_place):
        differences += row.differs
        rows.append(replace(row, number=differences if row.differs else 0))
    moved = {run.passage for row in rows for run in row.b if run.kind == "moved"}
    return Redline(rows, differences, len(moved))


def stay(passages: Sequence[tuple[int, int]]) -> list[int]:
    """Return the ascending numbers with the greatest total weight: a heaviest increasing subsequence.

    >>> stay([(1, 5), (4, 9), (2, 3), (3, 3), (5, 1)])
    [1, 4, 5]
    """
    ends: list[int] = []  # numbers that a subsequence may end with, ascending; so are the weights of the best ones
    chains: list[tuple[int, int | None]] = []  # of each step the number and the step before it
    steps: list[int] = []
    weights: list[int] = []
    for number, weight in passages:
        position = bisect_left(ends, number)
        chains.append((number, steps[position - 1] if position else None))
        total = weight + (weights[position - 1] if position else 0)
        behind = position
        while behind < len(ends) and weights[behind] <= total:
            behind += 1
        if behind == position and position < len(ends) and ends[position] == number:
            continue
        ends[position:behind], weights[position:behind], steps[position:behind] = [number], [total], [len(chains) - 1]
    result: list[int] = []
    step = steps[-1] if steps else None
    while step is not None:
        number, step = chains[step]
        result.append(number)
    return result[::-1]


def arrange(a: Sequence[Part], b: Sequence[Part], in_place: frozenset[int]) -> Iterator[Row]:
    """Yield the rows: the text between two fixed passages, then the passage."""
    left = list(split_at([(part.passage, part) for part in a], in_place))
    right = list(split_at([(part.target, part) for part in b], in_place))
    by_number = {number: (before, passage) for number, before, passage in right}
    for number, before, passage in left:
        other_before, other = by_number.get(number, ((), None))
        between = Row(list(lone_runs(before)), list(lone_runs(other_before)))
        if between.a or between.b:
            yield between
        if passage is not None and other is not None:
            yield from paragraphs(passage, other)


def split_at(
    parts: Sequence[tuple[int, Part]], in_place: frozenset[int]
) -> Iterator[tuple[int, Sequence[Part], Part | None]]:
    """Yield each fixed passage with the numbers of the parts before it, and finally the remaining parts, under 0."""
    before: list[Part] = []
    seen: set[int] = set()
    for number, part in parts:
        if number not in in_place or number in seen:
            before.append(part)
            continue
        seen.add(number)
        yield number, before, part
        before = []
    yield 0, before, None


def lone_runs(parts: Sequence[Part]) -> Iterator[Run]:
    """Yield the runs of parts that are elsewhere in the other text, or missing there."""
    for part in parts:
        for span in part.stretches:
            if span.page:
                yield Run(str(span.page), "page")
            if span.text:
                kind: Kind = "moved" if part.passage else "changed"
                yield Run(span.text, kind if has_words(span.text) else "same", part.passage, part.target)


def has_words(text: str) -> bool:
    """Return whether a text has a letter or digit, so that removing it would matter."""
    return any(map(str.isalnum, text))


def paragraphs(a: Part, b: Part) -> Iterator[Row]:
    """Yield the rows of a passage: one per paragraph if both texts have the same number of paragraphs, else one."""
    left, right = (list(cut_paragraphs(part.stretches)) for part in (a, b))
    if len(left) != len(right):
        left, right = ([[run for each in side for run in each]] for side in (left, right))
    for position, (own, other) in enumerate(zip(left, right, strict=True)):
        yield Row(own, other, passages=(0, 0) if position else (a.passage, b.passage))


def cut_paragraphs(spans: Sequence[TextSpan]) -> Iterator[list[Run]]:
    """Yield the runs of each paragraph, with its line breaks at the end."""
    lines = (
        Run(line, "changed" if span.differs and has_words(line) else "same") if line else Run(str(span.page), "page")
        for span in spans
        for line in [*([""] if span.page else []), *span.text.splitlines(keepends=True)]
    )
    number = 0
    numbered_runs: list[tuple[int, Run]] = []
    for run in lines:
        numbered_runs.append((number, run))
        number += run.kind != "page" and run.text.endswith(PARAGRAPH)
    for _, group in groupby(numbered_runs, lambda each: each[0]):
        yield [run for _, run in group]


@dataclass(frozen=True, slots=True)
class Side:
    title: str  # its title, or its id
    share: str  # how much of it is in the other, in words
    pages: str  # how many pages or parts it has, in words

    @classmethod
    def build(cls, document: Document, share: object, other: str, pages: PageNumbers) -> "Side":
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

    @classmethod
    def build(cls, comparison: Comparison) -> "ComparedPair":
        """Prepare the page about a comparison."""
        a, b = comparison.a, comparison.b
        pages = PageNumbers.read(a.text, comparison.words_a), PageNumbers.read(b.text, comparison.words_b)
        marks = mark_texts(comparison)
        shares = comparison.signals.get("overlap", {})
        evidence, words = comparison.evidence, sum(passage.words for passage in comparison.passages)
        verdict, summary = "No duplicates: no evidence suffices.", "They share no passage of eight words."
        if evidence is not None:
            verdict = f"{evidence.level}: {reason(evidence.why, 'B', 'A')}"
        if words:
            passages = format_count(len(comparison.passages), "passage")
            summary = f"They share {format_count(words, 'word')} in {passages}."
        return cls(
            verdict=verdict,
            summary=summary,
            sides=(
                Side.build(a, shares.get("a", 0.0), "B", pages[0]),
                Side.build(b, shares.get("b", 0.0), "A", pages[1]),
            ),
            redline=redline(
                list(parts(PagedText.read(a.text), *marks)), list(parts(PagedText.read(b.text), *marks[::-1]))
            ),
        )
