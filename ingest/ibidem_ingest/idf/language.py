"""Whether texts are in the language of an idf table: by the hundred terms that it holds for the commonest.

Of the running terms of a text in the table's own language a sixth to a half are among these (in the word lists of the
40 languages that have a default table), in an unrelated language two or three of a hundred. Close relatives, such as
Danish and Norwegian, are not told apart.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from ibidem_ingest.idf.table import Table
from ibidem_ingest.text.token_classes import is_term
from ibidem_ingest.text.tokens import tokens

COMMONEST = 100
LEAST_SHARE = 0.05
LEAST_TERMS = 100
"""A text of fewer is not judged."""

READ = 5_000
"""Characters of a text that are looked at."""


def commonest(table: Table) -> frozenset[str]:
    """Return the terms that most documents hold.

    >>> sorted(commonest(Table.of("en", 1000, {"tort": 7, "court": 600}, "two words")))
    ['court', 'tort']
    """
    return frozenset(table.term(rank) for rank in range(max(0, table.size - COMMONEST), table.size))


def spoken(text: str, common: AbstractSet[str]) -> bool | None:
    """Tell whether a text is in the language of some common terms; None for one that is too short to tell.

    Args:
        text: Its first 5,000 characters are looked at.
        common: The commonest terms of the language.
    """
    terms = [token for token in tokens(text[:READ]) if is_term(token)]
    if len(terms) < LEAST_TERMS:
        return None
    return sum(term in common for term in terms) >= LEAST_SHARE * len(terms)


def strangers(texts: Iterable[str], table: Table) -> tuple[int, int]:
    """Count the texts that are not in a table's language, and those that are long enough to tell.

    Args:
        texts: Texts.
        table: The idf table that they are signed with.
    """
    common = commonest(table)
    judged = [told for text in texts if (told := spoken(text, common)) is not None]
    return judged.count(False), len(judged)
