"""Words that were read wrongly in a scan: the letters nearly those of the other text, the word in no list of words."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from ibidem.comparison.word_diff import places
from ibidem_ingest.idf.table import ABSENT, Table
from ibidem_ingest.text.token_classes import is_term
from ibidem_ingest.text.word_hash import wh1

ALIKE = 0.6
"""The least share of letters that a misread word has in common with the word that is there (difflib's ratio)."""

Misread = tuple[str, str]
"""A word as it was read, and as it is in the other text."""


def misread(a: Sequence[str], b: Sequence[str], table: Table) -> Iterator[Misread]:
    """Yield the words that were misread in one of two texts, in the order of the first, each pair once.

    Args:
        a: Tokens of one text.
        b: Tokens of the other.
        table: The idf table of their language: it knows the words.

    >>> table = Table.of("en", 1_000, {"court": 300, "held": 200}, "two words")
    >>> list(misread("the conrt held".split(), "the court hcld".split(), table))
    [('conrt', 'court'), ('hcld', 'held')]
    """
    words: set[Misread] = set()
    for i, j, k, m in places(a, b):
        if j - i != m - k:
            continue
        for one, other in zip(a[i:j], b[k:m], strict=True):
            pair = (one, other) if strange(one, table) else (other, one)
            if pair not in words and strange(pair[0], table) and alike(*pair):
                words.add(pair)
                yield pair


def strange(word: str, table: Table) -> bool:
    """Return whether a word is a term that the table does not know."""
    return is_term(word) and table.rank(wh1(word)) == ABSENT


def alike(a: str, b: str) -> bool:
    """Return whether two words that differ have most of their letters in common."""
    return a != b and SequenceMatcher(None, a, b, autojunk=False).ratio() >= ALIKE
