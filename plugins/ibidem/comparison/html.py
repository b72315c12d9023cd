"""Linked text: a text cut into shared passages, each linked to its counterpart, with differences marked."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.comparison.compare import Comparison
from ibidem.comparison.matches import blocks
from ibidem.comparison.word_places import Words, page_breaks

COLOURS = 6  # colours that passages have in turn

Numbers = NDArray[np.int64]

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class TextSpan(NamedTuple):
    """Text of one kind."""

    text: str  # the text, as in the document
    differs: bool = False  # whether the other text has other words here, or none; only inside a passage
    page: int = 0  # number of the page that begins before it, from 1; 0 when none does


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text: a shared passage, or the text between two passages."""

    stretches: Sequence[TextSpan]  # its text
    passage: int = 0  # number of the passage, from 1; 0 for what only this text has
    target: int = 0  # number of the passage to go to in the other text

    @property
    def colour(self) -> int:
        """Number of the part's highlight colour."""
        return self.passage % COLOURS


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
    """Mark both texts of a comparison."""
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


def printable(text: str) -> str:
    r"""Remove control characters, which are not allowed in HTML.

    >>> printable("a\x00b\tc")
    'ab\tc'
    """
    return _CONTROL.sub("", text)
