"""Passages that two texts share, side by side on a terminal: the beginning of each, with the words that differ."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from ibidem.cli.console import NARROWEST
from ibidem.cli.terminal_text import sanitize
from ibidem.comparison.compare import Comparison
from ibidem.comparison.matches import Block, Passage, blocks
from ibidem.comparison.offsets import PageNumbers, Words
from ibidem.grouped_search.explanations import format_count

SHOWN = 10
"""Passages that are shown, the longest."""

GUTTER = 3
"""Blanks between the two columns."""

OPENING = 60
"""Words of a passage that are shown."""


def side_by_side(comparison: Comparison) -> Iterator[RenderableType]:
    """Yield how much two texts share, and the longest passages of it in the order of the first text."""
    words = sum(one.words for one in comparison.passages)
    if not words:
        yield Text("They share no passage of eight words.")
        return
    some = f"; the longest {SHOWN}" if len(comparison.passages) > SHOWN else ""
    yield Text(
        f"They share {format_count(words, 'word')} in {format_count(len(comparison.passages), 'passage')}{some}:"
    )
    pages = PageNumbers.of(comparison.a.text, comparison.words_a), PageNumbers.of(comparison.b.text, comparison.words_b)
    longest = sorted(comparison.passages, key=lambda one: -one.words)[:SHOWN]
    for passage in sorted(longest, key=lambda one: one.a):
        yield Text()
        yield from passage_columns(passage, comparison, pages)


@dataclass(frozen=True, slots=True)
class Columns:
    """Two texts in columns of equal width, without blanks at the ends of lines.

    Args:
        left: What stands on the left.
        right: What stands on the right.
    """

    left: Text
    right: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield its lines."""
        width = max(NARROWEST, (options.max_width - GUTTER) // 2)
        for left, right in zip_longest(self.left.wrap(console, width), self.right.wrap(console, width)):
            line = (left or Text()).copy()
            line.rstrip()
            if right:
                line.append(" " * (width + GUTTER - line.cell_len)).append_text(right)
                line.rstrip()
            yield line


def passage_columns(
    passage: Passage, comparison: Comparison, pages: tuple[PageNumbers, PageNumbers]
) -> Iterator[Columns]:
    """Yield one passage as it is in both texts.

    Args:
        passage: The passage.
        comparison: The comparison that it is of.
        pages: Pages of both texts.
    """
    opening = list(first_blocks(blocks(passage, comparison.words_a.tokens, comparison.words_b.tokens)))
    a = excerpt(comparison.a.text, comparison.words_a, [(block.same, block.a) for block in opening], "removed")
    b = excerpt(comparison.b.text, comparison.words_b, [(block.same, block.b) for block in opening], "added")
    more = opening[-1].a[1] < passage.a[1]
    yield Columns(
        passage_place("A", comparison.words_a, passage.a, pages[0]),
        passage_place("B", comparison.words_b, passage.b, pages[1]),
    )
    yield Columns(a.append(" …" * more), b.append(" …" * more))


def passage_place(letter: str, words: Words, extent: tuple[int, int], pages: PageNumbers) -> Text:
    """Say where a passage is in a text, and how long it is there."""
    first, last = extent[0], extent[1] - 1
    characters = f"{words.starts[first]:,}-{words.ends[last]:,}"
    parts = (pages.named(first, last) if pages.paged else "", characters, format_count(last + 1 - first, "word"))
    return Text.assemble((letter, "place"), ("  " + ", ".join(part for part in parts if part), "about"))


def first_blocks(passage: Iterator[Block], most: int = OPENING) -> Iterator[Block]:
    """Yield the first blocks of a passage, the last one cut."""
    left = most
    for block in passage:
        yield Block(block.same, cut(block.a, left), cut(block.b, left))
        left -= max(block.a[1] - block.a[0], block.b[1] - block.b[0])
        if left <= 0:
            return


def cut(extent: tuple[int, int], most: int) -> tuple[int, int]:
    """Keep the first words of some.

    >>> cut((10, 90), 60)
    (10, 70)
    """
    return extent[0], min(extent[1], extent[0] + most)


def excerpt(text: str, words: Words, spans: Sequence[tuple[bool, tuple[int, int]]], style: str) -> Text:
    """Write the beginning of a passage as it is in one text; words that differ are in brackets.

    Args:
        text: The text.
        words: Its words.
        spans: Whether both texts have some words, and which these are: from, to.
        style: The style of what differs.
    """
    shown = Text()
    for same, (start, end) in spans:
        if start == end:
            continue
        run = sanitize(text[words.starts[start] : words.ends[end - 1]])
        shown.append(" " * bool(shown))
        shown.append(run if same else f"[{run}]", None if same else style)
    return shown
