"""The numbers of a text: a guard, since recurring notices have the same words and other figures.

Kept are how many distinct tokens hold a digit, and the 16 smallest of their 16-bit hashes (a bottom-k sketch): the
highest 16 bits of `wh1`.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ibidem_ingest.text.term_groups import TermGroups
from ibidem_ingest.text.token_classes import has_digit
from ibidem_ingest.text.tokens import TokenBatch
from ibidem_ingest.text.word_hash import wh1

SKETCH = 16
MOST = 255
FEW = 3
LEAST_SHARE = 1 / 3
_SHIFT = 48


class Numbers(NamedTuple):
    """The numbers of one document.

    Args:
        distinct: Distinct tokens that hold a digit, to 255.
        sketch: The (at most) 16 smallest of their hashes, ascending.
    """

    distinct: int
    sketch: tuple[int, ...]


def sign(tokens: Sequence[str]) -> Numbers:
    """Sketch the numbers of one document.

    >>> sign("the m1 rose 12 pct to 730 bln in week 12".split()).distinct
    3
    """
    numbers = {token for token in tokens if has_digit(token)}
    hashes = sorted({wh1(token) >> _SHIFT for token in numbers})
    return Numbers(min(len(numbers), MOST), tuple(hashes[:SKETCH]))


def sign_batch(batch: TokenBatch, groups: TermGroups) -> list[Numbers]:
    """Sketch the numbers of several documents, as `sign` does each."""
    words = groups.vocabulary
    numbers = np.flatnonzero(words.shapes.has_digit.take(groups.word))
    document = groups.document.take(numbers)
    keys = document << 16 | (words.hashes.take(groups.word.take(numbers)) >> np.uint64(_SHIFT)).view(np.int64)
    keys.sort()
    keys = keys[np.diff(keys, prepend=-1) != 0]
    counts = np.minimum(np.bincount(document, minlength=len(batch)), MOST).tolist()
    starts = np.searchsorted(keys, np.arange(len(batch) + 1) << 16).tolist()
    sketch = (keys & 0xFFFF).tolist()
    return [
        Numbers(count, tuple(sketch[start : min(end, start + SKETCH)]))
        for count, (start, end) in zip(counts, pairwise(starts), strict=True)
    ]


def compare(a: Numbers, b: Numbers) -> float:
    """Return the share of the 16 smallest hashes of the union that both have; 1.0 when there are no numbers."""
    left, right = set(a.sketch), set(b.sketch)
    union = sorted(left | right)[:SKETCH]
    return len(left & right & set(union)) / len(union) if union else 1.0


def differing_numbers(a: Numbers, b: Numbers) -> float:
    """Estimate how many numbers are in one text only."""
    share = compare(a, b)
    return (1 - share) / (1 + share) * (a.distinct + b.distinct)


def agree(a: Numbers, b: Numbers) -> bool:
    """Return whether the numbers agree: one document has fewer than 3, or the share is at least 1/3.

    >>> agree(sign("born 1787".split()), sign("1 2 3 4 5".split()))
    True
    """
    return min(a.distinct, b.distinct) < FEW or compare(a, b) >= LEAST_SHARE
