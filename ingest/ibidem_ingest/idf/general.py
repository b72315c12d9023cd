"""The default table of a language: general, of many domains, static; built from the word frequencies of `wordfreq`.

A word with frequency f stands for n = N · (1 - (1 - f)^800) documents of 800 words among N = 3,100,000. Only words that
are one term of `tok1` count. Languages written without spaces have no table: their texts have no terms.
"""

import warnings

from ibidem_ingest.idf.table import Table
from ibidem_ingest.tokenshapes import is_term

DOCUMENTS = 3_100_000
WORDS = 800
_UNSPACED = {"ja", "km", "lo", "my", "th", "zh"}


def general(language: str) -> Table | None:
    """Build the default table of a language, in about a second.

    Args:
        language: ISO 639-1 code.

    Returns:
        The table, or None when `wordfreq` does not know the language or it has no terms.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what wordfreq's own dependencies deprecate is no concern of its callers
        import wordfreq  # noqa: PLC0415 - half a second, and only where a table is built

        if language in _UNSPACED or language not in wordfreq.available_languages("best"):
            return None
        frequencies = wordfreq.get_frequency_dict(language, "best")
    counts = {word: DOCUMENTS * (1 - (1 - f) ** WORDS) for word, f in frequencies.items() if is_term(word)}
    return Table.of(language, DOCUMENTS, counts, f"wordfreq {language} best")
