"""Build an idf table: count a collection, or take the general counts of `wordfreq`."""

import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable

from ibidem_ingest.errors import TableError
from ibidem_ingest.idf.table import Table
from ibidem_ingest.text.token_classes import is_term
from ibidem_ingest.text.tokens import tokens

LEAST = 1_000


def count_terms(texts: Iterable[str], language: str, origin: str) -> Table:
    """Count in how many texts each term occurs.

    Args:
        texts: One text a document; read once, never held.
        language: ISO 639-1 code.
        origin: What they are, in words.

    Raises:
        TableError: There are fewer than 1,000 texts: rare and common terms could not be told apart.
    """
    counts: Counter[str] = Counter()
    documents = 0
    for text in texts:
        counts.update({token for token in tokens(text) if is_term(token)})
        documents += 1
    if documents < LEAST:
        raise TableError(f"{documents} documents are too few for an idf table", f"count at least {LEAST:,}")
    return Table.of(language, documents, dict(counts), origin)


DOCUMENTS = 3_100_000
WORDS = 800
_LIST = {"bs": "sh", "hr": "sh", "no": "nb", "sr": "sh", "tl": "fil"}  # codes of ISO 639-1, and wordfreq's for the same
_SIGMA, _FINAL_SIGMA = "\u03c3", "\u03c2"
_UNSPACED = {"ja", "km", "lo", "my", "th", "zh"}


def build_general(language: str) -> Table | None:
    """Build the default table of a language, in about a second.

    Args:
        language: ISO 639-1 code.

    Returns:
        The table, under the code that `wordfreq` has for the language; None when it knows none or there are no terms.
    """
    language = _LIST.get(language, language)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what wordfreq's own dependencies deprecate is no concern of its callers
        import wordfreq  # noqa: PLC0415 - half a second, and only where a table is built

        if language in _UNSPACED or language not in wordfreq.available_languages("best"):
            return None
        frequencies = wordfreq.get_frequency_dict(language, "best")
    spelled = ((_spelled(word), frequency) for word, frequency in frequencies.items())
    counts = {word: DOCUMENTS * (1 - (1 - f) ** WORDS) for word, f in spelled if is_one_term(word)}
    return Table.of(language, DOCUMENTS, counts, f"wordfreq {language} best")


def is_one_term(word: str) -> bool:
    """Return whether a word is a term and its own only token; lists of words often hold some that are not normalised.

    >>> is_one_term("paral"), is_one_term("paraŀlel")
    (True, False)
    """
    return is_term(word) and unicodedata.is_normalized("NFKC", word) and word == word.lower()


def _spelled(word: str) -> str:
    return word[:-1] + _FINAL_SIGMA if word.endswith(_SIGMA) else word
