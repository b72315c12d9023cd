"""Folder of idf tables: one current table for each language, all others by name; and the differences of two."""

import fcntl
import gzip
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import accumulate
from operator import or_
from pathlib import Path

import msgpack
import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.errors import TableError
from ibidem_ingest.idf.table import ABSENT, Table, write_whole
from ibidem_ingest.private import make_folder
from ibidem_ingest.signatures.feature_set import candidates
from ibidem_ingest.text.folding import fold
from ibidem_ingest.text.terms import MIN_LETTERS, is_term
from ibidem_ingest.text.tokens import normal_form, tokens

FOLDING = "tok3"
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
    return Table.build(language, DOCUMENTS, counts, origin(language))


def origin(language: str) -> str:
    """Describe the source of a default table, and how its terms are folded."""
    return f"wordfreq {_LIST.get(language, language)} best, folded by {FOLDING}"


def is_outdated(table: Table) -> bool:
    """Return whether a default table was made with another folding of letters."""
    return table.origin.startswith("wordfreq ") and table.origin != origin(table.language)


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


MIN_DOCUMENTS = 1_000


def count_terms(texts: Iterable[str], language: str, origin: str) -> Table:
    """Count the texts that contain each term."""
    counts: Counter[str] = Counter()
    documents = 0
    for text in texts:
        counts.update({token for token in tokens(text) if is_term(token)})
        documents += 1
    if documents < MIN_DOCUMENTS:
        raise TableError(f"{documents} documents are too few for an idf table", f"count at least {MIN_DOCUMENTS:,}")
    return Table.build(language, documents, dict(counts), origin)


_NONE = "none"
_CODE = re.compile("[a-z]{2,3}")
_NAME = re.compile("[0-9a-f]{16}")


class Tables:
    """The tables of a folder, each opened once.

    Args:
        folder: Where the tables are; made when missing.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._current: dict[str, Table | None] = {}
        self._by_name: dict[str, Table] = {}

    def of(self, language: str) -> Table | None:
        """Return the current table of a language; None if there is none.

        Raises:
            TableError: The table's file is damaged, or the folder cannot be read or written.
        """
        if not _CODE.fullmatch(language):
            return None
        if language not in self._current:
            self._current[language] = self._open_current(language)
        return self._current[language]

    def named(self, name: str) -> Table | None:
        """Return a table by its name; None if it is not in the folder.

        Raises:
            TableError: The table's file is damaged, or holds another table.
        """
        if name not in self._by_name:
            path = self._path(name)
            if not _NAME.fullmatch(name) or not path.exists():
                return None
            table = Table.open(path)
            if table.name != name:
                raise TableError(f"{path} holds the idf table {table.name}", f"rename it to {table.name}.idf")
            self._by_name[name] = table
        return self._by_name[name]

    def all(self) -> list[Table]:
        """Return every table of the folder, by language and name.

        Raises:
            TableError: A table's file is damaged.
        """
        paths = self.folder.glob("*.idf")
        names = sorted(path.stem for path in paths if _NAME.fullmatch(path.stem))
        tables = [table for name in names if (table := self.named(name))]
        return sorted(tables, key=lambda table: (table.language, table.name))

    def current(self) -> dict[str, str]:
        """Return the name of each language's current table, if any."""
        languages = sorted(path.stem for path in self.folder.glob("*.current") if _CODE.fullmatch(path.stem))
        pointers = {language: self._read_pointer(language) for language in languages}
        return {language: name for language, name in pointers.items() if name not in ("", _NONE)}

    def keep(self, table: Table) -> None:
        """Store a table in the folder, without making it the current one of a language."""
        if not self._path(table.name).exists():
            table.save(self._path(table.name))

    def use(self, table: Table) -> None:
        """Store a table and make it the current one of its language."""
        self.keep(table)
        self._point(table.language, table.name)
        self._current.pop(table.language, None)

    def _open_current(self, language: str) -> Table | None:
        name = self._read_pointer(language)
        if name == _NONE:
            return None
        table = self.named(name)
        return table if table and not is_outdated(table) else self._build(language)

    def _read_pointer(self, language: str) -> str:
        """Return the table name in the language's pointer file; empty if there is none."""
        pointer = self._pointer(language)
        try:
            name = pointer.read_bytes().decode(errors="replace").strip()
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise TableError(
                f"cannot read {pointer}: {error.strerror}", "name another folder for the idf tables"
            ) from error
        if name != _NONE and not _NAME.fullmatch(name):
            raise TableError(
                f"{pointer} does not name an idf table", "delete the file; the default table is then current"
            )
        return name

    def _build(self, language: str) -> Table | None:
        """Build a default table, unless another process has built it: all workers start at the same time."""
        with self._lock():
            name = self._read_pointer(language)
            table = None if name == _NONE else self.named(name)
            if name == _NONE or (table and not is_outdated(table)):
                return table
            return self._build_general(language)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Lock the folder, so that one process builds a table; if it cannot be locked, several may build it."""
        try:
            make_folder(self.folder)
            handle = os.open(self.folder, os.O_RDONLY)
        except OSError as error:
            remedy = "make it writable, or name another folder for the idf tables"
            raise TableError(f"cannot write {self.folder}: {error.strerror}", remedy) from error
        try:
            with suppress(OSError):  # some network drives do not support locks
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _build_general(self, language: str) -> Table | None:
        table = build_general(language)
        if table is None:
            self._point(language, _NONE)
            return None
        table.save(self._path(table.name))
        self._point(language, table.name)
        return self.named(table.name)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.idf"

    def _pointer(self, language: str) -> Path:
        return self.folder / f"{language}.current"

    def _point(self, language: str, name: str) -> None:
        write_whole(self._pointer(language), [f"{name}\n".encode()])


class GeneralTables(Tables):
    """The general tables of all languages, made in memory when they are needed; no folder is read or written."""

    def __init__(self) -> None:
        super().__init__(os.devnull)

    def _open_current(self, language: str) -> Table | None:
        return build_general(language)


LENGTHS = range(1, 31)  # lengths of fingerprints that are compared, in terms: those of the paper's Figures 1 to 4

Ranks = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Correlation:
    """The correlation of the order of terms in two tables."""

    common: int  # number of terms that both hold
    spearman: float | None  # spearman's rank correlation of their idf; 1 for the same order, None with fewer than two


def correlation(a: Table, b: Table) -> Correlation:
    """Correlate the ranks of the terms that two tables have in common.

    >>> old = Table.build("en", 1000, {"tort": 5, "lien": 7, "court": 600}, "old")
    >>> new = Table.build("en", 1100, {"tort": 8, "lien": 7, "court": 650, "byte": 9}, "new")
    >>> correlation(old, new)
    Correlation(common=3, spearman=0.5)
    """
    rank = b.ranks(a.hashes())
    common = rank != ABSENT
    if np.count_nonzero(common) < 2:
        return Correlation(int(np.count_nonzero(common)), None)
    left, right = average_ranks(a.counts[common]), average_ranks(b.counts[rank[common]])
    if not (left.std() and right.std()):
        return Correlation(left.size, None)
    return Correlation(left.size, round(float(np.corrcoef(left, right)[0, 1]), 4))


def average_ranks(values: NDArray[np.float64]) -> Ranks:
    """Rank values; ties get their mean rank.

    >>> average_ranks(np.array([5.0, 7.0, 5.0])).tolist()
    [1.5, 3.0, 1.5]
    """
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(count)
    ranks: Ranks = (ends - (count - 1) / 2)[place]
    return ranks


def changed_fingerprints(texts: Iterable[str], a: Table, b: Table) -> Mapping[int, float]:
    """Return the share of fingerprints that differ between two tables, for fingerprints of 1 to 30 terms.

    A fingerprint of n terms is the n rarest terms in the order of their idf, as far as the text has so many.
    """
    differ = np.zeros(len(LENGTHS), np.int64)
    counts = 0
    for text in texts:
        words = tokens(text)
        left, right = ([each.term for each in candidates(words, table)[0]] for table in (a, b))
        pairs = (left[at : at + 1] != right[at : at + 1] for at in range(len(LENGTHS)))
        differ += list(accumulate(pairs, or_))
        counts += 1
    return (
        {length: round(int(count) / counts, 4) for length, count in zip(LENGTHS, differ, strict=True)} if counts else {}
    )
