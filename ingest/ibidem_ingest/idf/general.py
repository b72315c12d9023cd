"""The default table of a language: general, of many domains, static; built from the word frequencies of `wordfreq`.

A word with frequency f stands for n = N · (1 - (1 - f)^800) documents of 800 words among N = 3,100,000. Only words that
are one term of `tok1` count. Languages written without spaces have no table: their texts have no terms. The lists are
case-folded: a final sigma is put back; a sharp s cannot be, so German words that hold one are not in the table.
"""

import unicodedata
import warnings

from ibidem_ingest.idf.table import Table
from ibidem_ingest.tokenshapes import is_term

DOCUMENTS = 3_100_000
WORDS = 800
_LIST = {"bs": "sh", "hr": "sh", "no": "nb", "sr": "sh", "tl": "fil"}  # codes of ISO 639-1, and wordfreq's for the same
_SIGMA, _FINAL_SIGMA = "\u03c3", "\u03c2"
_UNSPACED = {"ja", "km", "lo", "my", "th", "zh"}


def general(language: str) -> Table | None:
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
    """Tell whether a word is a term and the only token of itself; in a list of words, that many a time not normalised.

    >>> is_one_term("paral"), is_one_term("paraŀlel")
    (True, False)
    """
    return is_term(word) and unicodedata.is_normalized("NFKC", word) and word == word.lower()


def _spelled(word: str) -> str:
    return word[:-1] + _FINAL_SIGMA if word.endswith(_SIGMA) else word
