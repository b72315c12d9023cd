"""The numbers in a text, as a guard: recurring notices have the same words, but different numbers.

Kept are how many distinct tokens hold a digit, and the 16 smallest of their 16-bit hashes (a bottom-k sketch): the
highest 16 bits of `wh1`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.kernel import loops
from ibidem_ingest.text.tokens import TermGroups, TokenBatch, has_digit
from ibidem_ingest.text.word_hash import Places, wh1

SKETCH = 16
MAX_COUNT = 255
FEW = 3
MIN_SHARE = 1 / 3
FORM = 6  # a text is a form, such as a till receipt, where one in so many of its tokens or more is a number of its own

# The least share of their numbers that two forms have in common: one shop's receipts differ in nothing else.
FORM_SHARE = 3 / 4

_SHIFT = 48


class Numbers(NamedTuple):
    distinct: int  # distinct tokens that hold a digit, to 255
    sketch: tuple[int, ...]  # the (at most) 16 smallest of their hashes, ascending


def sign(tokens: Sequence[str]) -> Numbers:
    """Sketch the numbers of one document.

    >>> sign("the m1 rose 12 pct to 730 bln in week 12".split()).distinct
    3
    """
    numbers = {token for token in tokens if has_digit(token)}
    hashes = sorted({wh1(token) >> _SHIFT for token in numbers})
    return Numbers(min(len(numbers), MAX_COUNT), tuple(hashes[:SKETCH]))


def sign_batch(batch: TokenBatch, groups: TermGroups) -> tuple[Places, NDArray[np.uint16]]:
    """Sketch the numbers of several documents, as `sign` does: how many, and 16 hashes, zeros behind the last."""
    words, (counts, sizes) = groups.vocabulary, np.zeros((2, len(batch)), np.int64)
    sketch = np.zeros((len(batch), SKETCH), np.uint16)
    columns = (groups.word, groups.document, groups.word.size, words.shapes.has_digit.view(np.uint8), words.hashes)
    loops.call("ibidem_numbers", *columns, counts, sketch, sizes)
    return np.minimum(counts, MAX_COUNT), sketch


def compare(a: Numbers, b: Numbers) -> float:
    """Return which share of the 16 smallest hashes of the union both texts have; 1.0 if there are no numbers."""
    left, right = set(a.sketch), set(b.sketch)
    union = sorted(left | right)[:SKETCH]
    return len(left & right & set(union)) / len(union) if union else 1.0


def differing_numbers(a: Numbers, b: Numbers) -> float:
    """Estimate how many numbers are in only one text."""
    share = compare(a, b)
    return (1 - share) / (1 + share) * (a.distinct + b.distinct)


def agree(a: Numbers, b: Numbers) -> bool:
    """Return whether the numbers agree: one document has fewer than 3, or the share is at least 1/3.

    >>> agree(sign("born 1787".split()), sign("1 2 3 4 5".split()))
    True
    """
    return min(a.distinct, b.distinct) < FEW or compare(a, b) >= MIN_SHARE


def forms_differ(a: Numbers, b: Numbers, lengths: tuple[int, int]) -> bool:
    """Return whether both texts are forms whose numbers differ.

    >>> receipts = [sign(text.split()) for text in ("total 12.50 vat 2.10 till 3", "total 17.20 vat 2.90 till 4")]
    >>> forms_differ(*receipts, (6, 6)), forms_differ(*receipts, (60, 60))
    (True, False)
    """
    are_forms = all(FORM * each.distinct >= length for each, length in zip((a, b), lengths, strict=True))
    return are_forms and compare(a, b) < FORM_SHARE
