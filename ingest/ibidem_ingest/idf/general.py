"""The general idf table of a language, from the word list of `wordfreq`.

The list is read without importing that package, whose module loads libraries for half a second that no list needs.

Source of the format: the docstring of `wordfreq.read_cBpack`.
"""

import gzip
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import msgpack

from ibidem_ingest.errors import TableError
from ibidem_ingest.idf.table import Table
from ibidem_ingest.text.folding import fold
from ibidem_ingest.text.terms import MIN_LETTERS, is_term
from ibidem_ingest.text.tokens import normal_form

DOCUMENTS = 3_100_000
WORDS = 800
_HEADER = {"format": "cB", "version": 1}
_LIST = {"bs": "sh", "hr": "sh", "no": "nb", "sr": "sh", "tl": "fil"}  # codes of ISO 639-1, and wordfreq's for the same
_UNSPACED = {"ja", "km", "lo", "my", "th", "zh"}


def build_general(language: str) -> Table | None:
    """Build the default table of a language, in about a third of a second."""
    language = _LIST.get(language, language)
    path = None if language in _UNSPACED else find_list(language)
    if path is None:
        return None
    counts: dict[str, float] = {}
    buckets = read_list(path)
    for centibels, bucket in zip(reversed(range(len(buckets))), reversed(buckets), strict=True):
        documents = DOCUMENTS * (1 - (1 - 10 ** (-centibels / 100)) ** WORDS)
        for word in _terms(bucket):
            counts[word] = min(DOCUMENTS, counts.get(word, 0.0) + documents)  # equal but for diacritics
    return Table.build(language, DOCUMENTS, counts, f"wordfreq {language} best")


def is_one_term(word: str) -> bool:
    """Return whether a word is a term and a single token; word lists often contain unnormalised words.

    >>> is_one_term("paral"), is_one_term("paraŀlel")
    (True, False)
    """
    return is_term(word) and normal_form(word) == word


def find_list(language: str) -> Path | None:
    """Return the longest word list of a language; None if there is none."""
    spec = find_spec("wordfreq")
    folders = (spec.submodule_search_locations if spec else None) or ()
    paths = (Path(folder, "data", f"{size}_{language}.msgpack.gz") for folder in folders for size in ("large", "small"))
    return next((path for path in paths if path.exists()), None)


def read_list(path: Path) -> list[list[str]]:
    """Read the words by frequency: the index is -100 times its logarithm."""
    buckets: list[list[str]]
    with gzip.open(path) as file:
        header, *buckets = msgpack.unpackb(file.read())
    if header != _HEADER:
        raise TableError(f"{path} has an unknown format", "install a release of wordfreq that ibidem was tested with")
    return buckets


def _terms(bucket: Sequence[str]) -> Iterator[str]:
    """Yield the terms among words, folded as tokens are."""
    # Nearly all of the words are ASCII; a call for each of them would take half of the time.
    for word in bucket:
        if word.isascii():
            if len(word) >= MIN_LETTERS and word.isalpha() and word.islower():
                yield word
        elif is_one_term(folded := fold(word)):
            yield folded
