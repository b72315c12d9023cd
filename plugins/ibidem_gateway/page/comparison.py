"""Comparison of two documents as the page shows it: verdict, shares, and the redline.

Both texts are cut into shared passages, each linked to its counterpart, with differences marked. A passage that both
texts have is one row, or one for each of its paragraphs; what is between two passages is a row of its own. Passages in
the same order in both texts stay where they are, as many words of them as possible; the others were moved.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.comparison.compare import Comparison, blocks
from ibidem.comparison.word_diff import Words, page_breaks
from ibidem.grouped_search.api import format_count, reason
from ibidem_dedupe.evidence import percent
from ibidem_gateway.page.state import printable
from ibidem_ingest.document import PAGE_BREAK

Numbers = NDArray[np.int64]


Kind = Literal["same", "changed", "moved", "page"]


class Run(NamedTuple):
    text: str  # what it says; for a page break the number of the page
    # `same`: both have it; `changed`: only this text has it; `moved`: the other has it elsewhere; `page`.
    kind: Kind = "same"
    passage: int = 0  # of a moved one the number of its passage
    target: int = 0  # the number of the passage in the other text that is the same


class Part(NamedTuple):
    """A part of a text: a shared passage, or the text between two passages."""

    runs: Sequence[Run]  # its text
    passage: int = 0  # number of the passage, from 1; 0 for what only this text has
    target: int = 0  # number of the passage to go to in the other text


def cut_pages(text: str, breaks: Numbers, start: int, end: int, kind: Kind = "same") -> Iterator[Run]:
    """Yield a part of a text, split at its page breaks."""
    if start == 0 and len(breaks):
        yield Run("1", "page")
    for number in range(*np.searchsorted(breaks, (start, end)).tolist()):
        position = int(breaks[number])
        if start < position:
            yield Run(printable(text[start:position]), kind)
        yield Run(str(number + 2), "page")
        start = position + 1
    if start < end:
        yield Run(printable(text[start:end]), kind)


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
    a, b, passages = comparison.words_a, comparison.words_b, comparison.passages
    equal = [block for passage in passages for block in blocks(passage, a.tokens, b.tokens) if block.is_equal]
    return (
        Marks.build(a, [passage.a for passage in passages], [block.a for block in equal]),
        Marks.build(b, [passage.b for passage in passages], [block.b for block in equal]),
    )


def parts(text: str, marks: Marks, other_marks: Marks) -> Iterator[Part]:
    """Split a text into its passages and the text between them."""
    words, cut = marks.words, partial(cut_pages, text, page_breaks(text))
    reached = 0
    for number, first, last in equal_runs(marks.owner):
        if not number:
            continue
        start, end = words.starts[first], words.ends[last]
        if start > reached:
            yield Part(list(cut(reached, start)))
        runs: list[Run] = []
        for is_same, begin, finish in equal_runs(marks.is_equal[first : last + 1]):
            if not is_same:
                changed, behind = words.starts[first + begin], words.ends[first + finish]
                runs += [*cut(start, changed), *cut(changed, behind, "changed")]
                start = behind
        yield Part([*runs, *cut(start, end)], number, other_marks.anchors[number])
        reached = end
    if reached < len(text):
        yield Part(list(cut(reached, len(text))))


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


PARAGRAPH = "\n"


class Row(NamedTuple):
    a: Sequence[Run]  # runs of the first text
    b: Sequence[Run]  # runs of the second text
    number: int = 0  # number of the difference, from 1; 0 for a row without one
    passages: tuple[int, int] = (0, 0)  # numbers of the passages that begin with it, in each text; 0 for none

    @property
    def differs(self) -> bool:
        """Whether a part of the row was removed, added or moved."""
        return any(run.kind in ("changed", "moved") for run in (*self.a, *self.b))


class Redline(NamedTuple):
    """Two texts in two columns, row by row."""

    rows: Sequence[Row]  # the rows, in the order of what both texts have
    differences: int  # how many of them differ
    moved: int  # how many passages were moved


def redline(a: Sequence[Part], b: Sequence[Part]) -> Redline:
    """Align two texts in two columns."""
    known = {part.passage for part in a if part.passage}
    lengths: dict[int, int] = {}
    for part in b:
        characters = sum(len(run.text) for run in part.runs if run.kind != "page")
        lengths.setdefault(part.target, characters)  # of a repeated passage the first one counts, as in `split_at`
    in_place = frozenset(stay([each for each in lengths.items() if each[0] in known]))
    rows: list[Row] = []
    differences = 0
    for row in arrange(a, b, in_place):
        differences += row.differs
        rows.append(row._replace(number=differences if row.differs else 0))
    moved = {run.passage for row in rows for run in row.b if run.kind == "moved"}
    return Redline(rows, differences, len(moved))


Chain = tuple[int, "Chain"] | None  # numbers, the last first


def stay(passages: Sequence[tuple[int, int]]) -> list[int]:
    """Return the ascending numbers with the greatest total weight: a heaviest increasing subsequence.

    >>> stay([(1, 5), (4, 9), (2, 3), (3, 3), (5, 1)])
    [1, 4, 5]
    """
    # The best subsequence for each last number, both ascending: that number, its weight, and its chain of numbers.
    best: list[tuple[int, int, Chain]] = []
    for number, weight in passages:
        at = behind = bisect_left(best, number, key=itemgetter(0))
        _, before, chain = best[at - 1] if at else (0, 0, None)
        while behind < len(best) and best[behind][1] <= before + weight:
            behind += 1
        if behind > at or at == len(best) or best[at][0] != number:
            best[at:behind] = [(number, before + weight, (number, chain))]
    result: list[int] = []
    chain = best[-1][2] if best else None
    while chain is not None:
        number, chain = chain
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
        kind: Kind = "moved" if part.passage else "changed"
        for run in part.runs:
            if run.kind == "page":
                yield run
            else:
                yield Run(run.text, kind if has_words(run.text) else "same", part.passage, part.target)


def has_words(text: str) -> bool:
    """Return whether a text has a letter or digit, so that removing it would matter."""
    return any(map(str.isalnum, text))


def paragraphs(a: Part, b: Part) -> Iterator[Row]:
    """Yield the rows of a passage: one per paragraph if both texts have the same number of paragraphs, else one."""
    left, right = (list(cut_paragraphs(part.runs)) for part in (a, b))
    if len(left) != len(right):
        left, right = ([[run for each in side for run in each]] for side in (left, right))
    for position, (own, other) in enumerate(zip(left, right, strict=True)):
        yield Row(own, other, passages=(0, 0) if position else (a.passage, b.passage))


def cut_paragraphs(runs: Sequence[Run]) -> Iterator[list[Run]]:
    """Yield the runs of each paragraph, with its line breaks at the end."""
    paragraph: list[Run] = []
    for run in runs:
        for line in [run.text] if run.kind == "page" else run.text.splitlines(keepends=True):
            if paragraph and paragraph[-1].kind != "page" and paragraph[-1].text.endswith(PARAGRAPH):
                yield paragraph
                paragraph = []
            paragraph.append(Run(line, run.kind if run.kind == "page" or has_words(line) else "same"))
    if paragraph:
        yield paragraph


class Side(NamedTuple):
    title: str  # its title, or its id
    share: str  # how much of it is in the other, in words
    pages: str  # how many pages it has, in words; empty for a text without page breaks


class ComparedPair(NamedTuple):
    """Everything that the page shows about two documents."""

    verdict: str  # what the two are to each other
    summary: str  # how much they share
    sides: Sequence[Side]  # the two documents
    redline: Redline  # both texts in rows

    @classmethod
    def build(cls, comparison: Comparison) -> "ComparedPair":
        """Prepare the page about a comparison."""
        a, b, marks, shares = comparison.a, comparison.b, mark_texts(comparison), comparison.signals["overlap"]
        sides = []
        for document, letter, other in ((a, "a", "B"), (b, "b", "A")):
            breaks, share = document.text.count(PAGE_BREAK), percent(float(str(shares[letter])))
            count = format_count(breaks + 1, "page") if breaks else ""
            sides.append(Side(printable(document.title or document.id), f"{share} of it is in {other}", count))
        evidence, shared = comparison.evidence, sum(passage.words for passage in comparison.passages)
        verdict, summary = "No duplicates: no evidence suffices.", "They share no passage of eight words."
        if evidence is not None:
            verdict = f"{evidence.level}: {reason(evidence.why, 'B', 'A')}"
        if shared:
            passages = format_count(len(comparison.passages), "passage")
            summary = f"They share {format_count(shared, 'word')} in {passages}."
        rows = redline(list(parts(a.text, *marks)), list(parts(b.text, *marks[::-1])))
        return cls(verdict, summary, sides, rows)
