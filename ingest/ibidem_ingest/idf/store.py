"""Folder of idf tables: one current table for each language, all others by name.

An index whose documents share passages (`text.passages`) has tables of its own, which leave them out: `NAME.passages`
holds the name of the table that it is made of, and the passages; `LANGUAGE@INDEX.current` names it.
"""

import fcntl
import gzip
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import msgpack
import numpy as np
import orjson

from ibidem_ingest.document import Document
from ibidem_ingest.errors import TableError
from ibidem_ingest.idf.table import MIN_DOCUMENTS as LEAST_DOCUMENTS
from ibidem_ingest.idf.table import OWN_WORDS, Table, write_whole
from ibidem_ingest.language import add_languages
from ibidem_ingest.private import make_folder
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.feature_set import candidates
from ibidem_ingest.text.folding import fold
from ibidem_ingest.text.passages import NO_PASSAGES, SharedPassage, find_passages, leave_out
from ibidem_ingest.text.tokens import MIN_LETTERS, is_term, normal_form, tokens
from ibidem_ingest.text.word_hash import Hashes

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
        for word in listed_terms(bucket):
            counts[word] = min(DOCUMENTS, counts.get(word, 0.0) + documents)  # equal but for diacritics
    return Table.build(language, DOCUMENTS, counts, origin(language))


def origin(language: str) -> str:
    """Describe the source of a default table, and how its terms are folded."""
    return f"wordfreq {_LIST.get(language, language)} best, folded by {FOLDING}"


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


def listed_terms(bucket: Sequence[str]) -> Iterator[str]:
    """Yield the terms among words, folded as tokens are."""
    # Nearly all of the words are ASCII; a call for each of them would take half of the time.
    for word in bucket:
        if word.isascii():
            if len(word) >= MIN_LETTERS and word.isalpha() and word.islower():
                yield word
        elif is_term(folded := fold(word)) and normal_form(folded) == folded:  # word lists have unnormalised words
            yield folded


MIN_DOCUMENTS = 1_000


def count_terms(texts: Iterable[str], language: str, origin: str) -> Table:
    counts: Counter[str] = Counter()
    documents = 0
    for text in texts:
        counts.update({token for token in tokens(text) if is_term(token)})
        documents += 1
    if documents < MIN_DOCUMENTS:
        raise TableError(f"{documents} documents are too few for an idf table", f"count at least {MIN_DOCUMENTS:,}")
    return Table.build(language, documents, dict(counts), origin)


def are_misread(documents: Sequence[Document], tables: Mapping[str, Table]) -> bool:
    """Return whether a collection of such documents looks misread, by its first ones and before they are signed."""
    some = [each for each in add_languages(documents[:: max(1, len(documents) // SAMPLE)]) if each.language in tables]
    unknown = [len(candidates(tokens(each.text), tables[each.language])[1]) for each in some]
    misread = sum(
        noise.RUNS_OF_A_WORD * words >= noise.UNKNOWN * len(each.text)
        for words, each in zip(unknown, some, strict=True)
    )
    return len(documents) >= noise.MIN_DOCUMENTS and misread >= noise.MISREAD_SHARE * len(some)


LEAST_TEXTS, LEAST_WORDS = 300, 100_000  # texts in a language from which its words are counted, and their words
COMMON_WORDS = 1_500  # words of a list, for each of which a run of letters is in one more word before it is common
RUN = 3


def count_words(texts: Sequence[str], language: str) -> Table | None:
    """Count the words of a language without a list: those of two texts, and rare ones whose runs of letters are common.

    Words of one text alone are names and forms of words, which are written like others, or misread, which are not.

    Returns:
        The table, in which all rare words count alike; None if there are too few texts.
    """
    words = [tokens(text) for text in texts]
    if len(texts) < LEAST_TEXTS or sum(map(len, words)) < LEAST_WORDS:
        return None
    counts = Counter(chain.from_iterable({token for token in each if is_term(token)} for each in words))
    listed = [word for word, count in counts.items() if count > 1]
    runs = Counter(chain.from_iterable(_runs_of_letters(word) for word in listed))
    least = max(2, len(listed) // COMMON_WORDS)
    once = [word for word, count in counts.items() if count == 1]
    listed += [word for word in once if all(runs[run] >= least for run in _runs_of_letters(word))]
    rare = float(LEAST_DOCUMENTS)
    return Table.build(language, len(texts), {word: max(rare, counts[word]) for word in listed}, OWN_WORDS)


def _runs_of_letters(word: str) -> set[str]:
    word = f"^{word}$"
    return {word[start : start + RUN] for start in range(len(word) - RUN + 1)}


T = TypeVar("T")

_NONE = "none"
_CODE = re.compile("[a-z]{2,3}")
_NAME = re.compile("[0-9a-f]{16}")
_REMEDY = "restore it from a copy, or delete it and sign the index again"
MIN_KNOWN_SHARE = 0.9  # share of the runs found that are already left out, from which the list stays as it is


SAMPLE_DOCUMENTS, SAMPLE_CHARACTERS = 1_000, 5_000_000  # of a new index, which are looked through
SAMPLE = 100  # documents whose language is detected to see which languages there are
LOOKED_AT, LOOKED_AT_CHARACTERS = 10_000, 20_000_000  # documents of an index that are looked through, and characters


def first_documents(documents: Iterable[T], most: int, characters: int) -> Iterator[T]:
    """Yield documents until their number or their length reaches a limit; other items have no length."""
    for document in islice(documents, most):
        yield document
        characters -= len(document.text) if isinstance(document, Document) else 0
        if characters < 0:
            return


class Tables:
    """The tables of a folder, each opened once.

    Args:
        folder: Where the tables are; made when missing.
        index: The index whose passages are left out; none by default.
    """

    def __init__(self, folder: Path | str, index: str = "") -> None:
        self.folder, self.index = Path(folder), index
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
        if name not in self._by_name and _NAME.fullmatch(name):
            path, passages = self._path(name), self._passages_path(name)
            if passages.exists():
                base_name, runs, _ = self._read_passages(name)
                if (base := self.named(base_name)) is None:
                    return None
                table = base.without(runs)
                if table.name != name:
                    raise TableError(f"{passages} holds {table.name}", _REMEDY)
                self._by_name[name] = table
            elif path.exists():
                table = Table.open(path)
                if table.name != name:
                    raise TableError(f"{path} holds the idf table {table.name}", f"rename it to {table.name}.idf")
                self._by_name[name] = table
        return self._by_name.get(name)

    def all(self) -> list[Table]:
        """Return every table of the folder, by language and name.

        Raises:
            TableError: A table's file is damaged.
        """
        paths = chain(self.folder.glob("*.idf"), self.folder.glob("*.passages"))
        names = sorted(path.stem for path in paths if _NAME.fullmatch(path.stem))
        tables = [table for name in names if (table := self.named(name))]
        return sorted(tables, key=lambda table: (table.language, table.name))

    def current(self) -> dict[str, str]:
        """Return the name of each language's current table, if any."""
        stems = {path.stem.partition("@")[0] for path in self.folder.glob("*.current")}
        pointers = {language: self._read_pointer(language) for language in sorted(stems) if _CODE.fullmatch(language)}
        return {language: name for language, name in pointers.items() if name not in ("", _NONE)}

    def keep(self, table: Table) -> None:
        """Store a table in the folder, without making it the current one of a language."""
        if not table.passages.size and not self._path(table.name).exists():
            table.save(self._path(table.name))

    def use(self, table: Table) -> None:
        """Store a table and make it the current one of its language."""
        self.keep(table)
        self._point(table.language, table.name)
        for own in self.folder.glob(f"{table.language}@*.current"):  # made of the one that was current before
            own.unlink(missing_ok=True)
        self._current.pop(table.language, None)

    def look_through(self, documents: Iterable[Document], *keep: str) -> Sequence[SharedPassage]:
        """Look for passages that the first documents of an index share, leave them out, and keep that for some.

        Languages without a list of words get one of the words of these documents. Where many look misread, nothing is
        left out: a passage with misread words is not found, so that a scan and its clean copy would differ by it.

        Returns:
            All passages that are left out now; empty if the list did not change.
        """
        documents = list(first_documents(documents, LOOKED_AT, LOOKED_AT_CHARACTERS))
        self._count_words(documents, keep)
        found = find_passages(documents)
        tables = {each.language: self.of(each.language) for each in add_languages(documents)} if found.passages else {}
        chosen = {language: table for language, table in tables.items() if table}
        before = np.unique(np.concatenate([NO_PASSAGES, *(table.passages for table in chosen.values())]))
        if not chosen or np.isin(found.runs, before).mean() >= MIN_KNOWN_SHARE or are_misread(documents, chosen):
            return ()
        known = {each.text: each for table in chosen.values() for each in self.passages(table)}
        left_out = [*(known | {each.text: each for each in found.passages}).values()]
        runs, passages = np.union1d(before, found.runs), [*map(asdict, left_out)]
        for language, table in chosen.items():
            base = Tables(self.folder).of(language) or table
            self._current[language] = new = base.without(runs)
            facts = {"table": base.name, "runs": runs.tolist(), "passages": passages}
            for index in keep:
                write_whole(self._passages_path(new.name), [orjson.dumps(facts)])
                self._point(language, new.name, index)
        return left_out

    def look_through_first(self, items: Iterable[T], *keep: str) -> Iterator[T]:
        """Yield all items, after the first documents among them were looked through."""
        rest = iter(items)
        first = list(first_documents(rest, SAMPLE_DOCUMENTS, SAMPLE_CHARACTERS))
        self.look_through((item for item in first if isinstance(item, Document)), *keep)
        yield from chain(first, rest)

    def _count_words(self, documents: Sequence[Document], keep: Sequence[str]) -> None:
        """Count the words of languages that have no list, if some documents are in one."""
        some = add_languages(documents[:: max(1, len(documents) // SAMPLE)])
        languages = {each.language for each in some if each.language not in _UNSPACED and not self.of(each.language)}
        if not any(map(_CODE.fullmatch, languages)):
            return
        texts = [(each.language, each.text) for each in add_languages(documents)]
        for language in sorted(filter(_CODE.fullmatch, languages)):
            table = count_words([text for of, text in texts if of == language], language)
            if table is None:
                continue
            self._current[language] = self._by_name[table.name] = table
            for index in keep:
                self.keep(table)
                self._point(language, table.name, index)

    def passages(self, table: Table) -> list[SharedPassage]:
        """Return the passages that a table leaves out."""
        return self._read_passages(table.name)[2] if table.passages.size else []

    def left_out(self, language: str, a: Sequence[str], b: Sequence[str]) -> dict[str, dict[str, object]]:
        """Return how many words of two texts are left out, and the passages that both have; empty for none."""
        table = self.of(language)
        if table is None or not table.passages.size:
            return {}
        words = [len(each) - len(leave_out([each], table.passages)[0]) for each in (a, b)]
        texts = " ".join(a), " ".join(b)
        shared = [asdict(each) for each in self.passages(table) if all(each.text in text for text in texts)]
        return {"left_out": {"a": words[0], "b": words[1], "passages": shared}} if any(words) else {}

    def _read_passages(self, name: str) -> tuple[str, Hashes, list[SharedPassage]]:
        """Read the name of the table behind a list, its runs, and its passages."""
        path = self._passages_path(name)
        try:
            facts = orjson.loads(path.read_bytes())
            passages = [SharedPassage(**each) for each in facts["passages"]]
            return str(facts["table"]), np.array(facts["runs"], np.uint64), passages
        except OSError as error:
            remedy = "name another folder for the idf tables"
            raise TableError(f"cannot read {path}: {error.strerror}", remedy) from error
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise TableError(f"{path} is damaged ({error})", _REMEDY) from error

    def _open_current(self, language: str) -> Table | None:
        pointed, table = self._open_pointed(language)
        if pointed:
            return table
        with self._lock():
            pointed, table = self._open_pointed(language)  # all workers start at the same time, and one builds it
            if pointed:
                return table
            built = build_general(language)
            if built:
                built.save(self._path(built.name))
            self._point(language, built.name if built else _NONE)
            return self.named(built.name) if built else None

    def _open_pointed(self, language: str) -> tuple[bool, Table | None]:
        """Return whether the pointer file is valid, and the table that it names; an outdated table is not valid."""
        name = self._read_pointer(language)
        table = None if name == _NONE else self.named(name)
        # A default table may be of a version that folded letters in another way.
        is_current = table and not (table.origin.startswith("wordfreq ") and table.origin != origin(table.language))
        return name == _NONE or bool(is_current), table

    def _read_pointer(self, language: str) -> str:
        """Return the table name in the language's pointer file; empty if there is none."""
        own = self._pointer(language, self.index)
        pointer = own if own.exists() else self._pointer(language)
        try:
            name = pointer.read_bytes().decode(errors="replace").strip()
        except FileNotFoundError:
            return ""
        except OSError as error:
            remedy = "name another folder for the idf tables"
            raise TableError(f"cannot read {pointer}: {error.strerror}", remedy) from error
        if name != _NONE and not _NAME.fullmatch(name):
            remedy = "delete the file; the default table is then current"
            raise TableError(f"{pointer} does not name an idf table", remedy)
        return name

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

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.idf"

    def _pointer(self, language: str, index: str = "") -> Path:
        owner = f"@{quote(index, safe='')}" if index else ""
        return self.folder / f"{language}{owner}.current"

    def _passages_path(self, name: str) -> Path:
        return self.folder / f"{name}.passages"

    def _point(self, language: str, name: str, index: str = "") -> None:
        write_whole(self._pointer(language, index), [f"{name}\n".encode()])


class GeneralTables(Tables):
    """The general tables of all languages, made in memory when they are needed; no folder is read or written."""

    def __init__(self) -> None:
        super().__init__(os.devnull)

    def _open_current(self, language: str) -> Table | None:
        return build_general(language)
