"""Build an idf table from files or from an index, in one language.

The language check warns of documents whose words the idf table of their language does not know.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from ibidem.grouped_search.api import format_count
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, TableError
from ibidem_ingest.idf.store import build_general, count_terms
from ibidem_ingest.idf.table import Table
from ibidem_ingest.language import RELATIVES, detect

SAMPLE_SIZE = 200
MIN_CHARACTERS = 300  # shorter texts are not judged
MAX_CHARACTERS = 5_000  # characters of a text that are kept
MIN_JUDGED = 5
MIN_SHARE = 0.2  # share of documents in another language from which it is said: some Latin pages are no mistake
REMEDY = "give each document its `language`; rare words of one language say nothing about another"


@dataclass(frozen=True, slots=True)
class ForeignShare:
    """The share of documents that are not in their declared language."""

    language: str  # the language that they say, or that is meant when they say nothing
    documents: int  # how many of the sample
    sampled: int  # documents of the sample that are long enough to judge

    def __str__(self) -> str:
        sample = format_count(self.sampled, "sampled document")
        return f"{self.documents:,} of {sample} of language {self.language!r} are in another language"


class LanguageSampler:
    """Samples the beginnings of documents in a stream, to check their declared languages.

    Of each language a uniform sample (reservoir sampling); the same stream gives the same.
    """

    def __init__(self) -> None:
        self.texts: defaultdict[str, list[str]] = defaultdict(list)
        self._totals = Counter[str]()
        self._random = random.Random(1)  # noqa: S311 - a sample, nothing secret

    def sample(self, items: Iterable[Document | Refusal]) -> Iterator[Document | Refusal]:
        for item in items:
            if isinstance(item, Document) and len(item.text) > MIN_CHARACTERS:
                self._totals[item.language] += 1
                place, texts = self._random.randrange(self._totals[item.language]), self.texts[item.language]
                if len(texts) < SAMPLE_SIZE:
                    texts.append(item.text[:MAX_CHARACTERS])
                elif place < SAMPLE_SIZE:
                    texts[place] = item.text[:MAX_CHARACTERS]
            yield item

    def find_foreign(self, find_table: Callable[[str], Table | None]) -> list[ForeignShare]:
        """Return the problems by language; none for languages without a table."""
        shares: list[ForeignShare] = []
        for language in filter(find_table, sorted(self.texts)):
            detected = [code for text in self.texts[language] if (code := detect(text))]
            # A short text does not tell a language from its close relatives.
            alike = {language}.union(*(relatives for relatives in RELATIVES if language in relatives))
            share = ForeignShare(language, sum(code not in alike for code in detected), len(detected))
            if share.sampled >= MIN_JUDGED and share.documents >= MIN_SHARE * share.sampled:
                shares.append(share)
        return shares


class BuiltTable(NamedTuple):
    """A table and the documents it was counted from."""

    table: Table
    others: Mapping[str, int]  # documents in other languages, by language; they were left out
    refused: int  # documents that could not be read
    foreign: Sequence[ForeignShare] = ()  # what says that its documents are in another language

    def as_json(self) -> dict[str, object]:
        """Return what `ibidem idf build --json` prints."""
        foreign = [asdict(each) for each in self.foreign]
        return table_facts(self.table) | {"left_out": dict(self.others), "refused": self.refused, "foreign": foreign}


def build_table(
    items: Iterable[Document | Refusal], language: str, origin: str, progress: Callable[[int], None] = lambda _: None
) -> BuiltTable:
    """Count the texts of one language; the others are counted by theirs."""
    sampler, others = LanguageSampler(), Counter[str]()
    refused = 0

    def texts() -> Iterator[str]:
        nonlocal refused
        count = 0
        for item in sampler.sample(items):
            if isinstance(item, Refusal):
                refused += 1
            elif item.language != language:
                others[item.language] += 1
            else:
                yield item.text
                progress(count := count + 1)

    try:
        table = count_terms(texts(), language, origin)
    except TableError as error:
        if not others:
            raise
        other, times = others.most_common(1)[0]
        raise TableError(
            f"{error.what} of {language!r}; {times:,} documents say that their language is {other!r}",
            f"count these with --language {other}, or give the documents their `language`",
        ) from error
    foreign = sampler.find_foreign(lambda code: build_general(code) if code == language else None)
    return BuiltTable(table, others, refused, foreign)


def table_facts(table: Table) -> dict[str, object]:
    return {
        "name": table.name,
        "language": table.language,
        "documents": table.documents,
        "terms": table.size,
        "origin": table.origin + ", without shared passages" * (table.passages.size > 0),
    }
