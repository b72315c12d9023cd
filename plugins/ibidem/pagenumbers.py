"""On which page of its text a word stands; a text without page breaks is cut into parts of equal length instead."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.wordplaces import Words
from ibidem_ingest.document import PAGE_BREAK

PART = 400
"""Words of a part, which is about what a page of a book holds."""


@dataclass(frozen=True, eq=False, slots=True)
class PageNumbers:
    """The page of each word.

    Args:
        count: How many pages, or parts.
        of_word: (n,) for each word the number of its page, from 0.
        paged: Whether the text has page breaks.
    """

    count: int
    of_word: NDArray[np.int64]
    paged: bool

    @classmethod
    def of(cls, text: str, words: Words) -> "PageNumbers":
        """Number the pages of a text.

        Args:
            text: The text.
            words: Its words.
        """
        breaks = breaks_of(text)
        if not len(breaks):
            parts = max(1, -(-len(words.tokens) // PART))
            return cls(parts, np.arange(len(words.tokens)) // PART, paged=False)
        of_word = np.searchsorted(breaks, np.array(words.starts, np.int64))
        return cls(len(breaks) + 1, of_word, paged=True)

    @property
    def name(self) -> str:
        """What the numbers number: `page` or `part`."""
        return "page" if self.paged else "part"

    def named(self, first: int, last: int) -> str:
        """Name the pages of a stretch of words; empty for a text that is one part.

        Args:
            first: Number of its first word.
            last: Number of its last word.
        """
        if self.count < 2:
            return ""
        low, high = int(self.of_word[first]) + 1, int(self.of_word[last]) + 1
        return spanned(self.name, low, high)


def spanned(name: str, first: int, last: int) -> str:
    """Name pages from the first to the last.

    >>> spanned("page", 12, 31).partition("pages ")[2].split("\N{EN DASH}"), spanned("part", 2, 2)
    (['12', '31'], 'part 2')
    """
    return f"{name} {first:,}" if first == last else f"{name}s {first:,}\N{EN DASH}{last:,}"


def breaks_of(text: str) -> NDArray[np.int64]:
    r"""Return the offsets of the page breaks in a text.

    >>> breaks_of("one\ftwo\fthree").tolist()
    [3, 7]
    """
    return np.fromiter((at for at, character in enumerate(text) if character == PAGE_BREAK), np.int64)
