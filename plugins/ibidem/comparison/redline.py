"""Redline of two texts: removed, added and moved text, in rows of two parallel columns.

A passage that both texts have is one row, or one for each of its paragraphs; what is between two passages is a row of
its own. Passages in the same order in both texts stay where they are, as many words of them as possible; the others
were moved.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from ibidem.comparison.html import Part, TextSpan

Kind = Literal["same", "changed", "moved", "page"]

PARAGRAPH = "\n"


@dataclass(frozen=True, slots=True)
class Run:
    """A run of one text."""

    text: str  # what it says; for a page break the number of the page
    # `same`: both have it; `changed`: only this text has it; `moved`: the other has it elsewhere; `page`.
    kind: Kind = "same"
    passage: int = 0  # of a moved one the number of its passage
    target: int = 0  # the number of the passage in the other text that is the same


@dataclass(frozen=True, slots=True)
class Row:
    """One row: text side by side."""

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
    """A redline."""

    rows: Sequence[Row]  # the rows, in the order of what both texts have
    differences: int  # how many of them differ
    moved: int  # how many passages were moved


def redline(a: Sequence[Part], b: Sequence[Part]) -> Redline:
    """Align two texts in two columns."""
    known = numbers(a)
    lengths: dict[int, int] = {}
    for part in b:
        lengths.setdefault(part.target, length(part))  # of a repeated passage the first one counts, as in `split_at`
    in_place = frozenset(stay([each for each in lengths.items() if each[0] in known]))
    rows: list[Row] = []
    differences = 0
    for row in arrange(a, b, in_place):
        differences += row.differs
        rows.append(replace(row, number=differences if row.differs else 0))
    moved = {run.passage for row in rows for run in row.b if run.kind == "moved"}
    return Redline(rows, differences, len(moved))


def numbers(parts: Sequence[Part]) -> frozenset[int]:
    """Return the numbers of the passages in a text."""
    return frozenset(part.passage for part in parts if part.passage)


def length(part: Part) -> int:
    """Return the characters of a part."""
    return sum(len(each.text) for each in part.stretches)


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
