"""Language check: warns of documents whose words the idf table of their language does not know."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ibidem.grouped_search.explanations import format_count
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.idf.table import Table
from ibidem_ingest.languages import alike, detect


class ReservoirSample:
    """Draws some texts, each as likely as any other (reservoir sampling); the same ones of the same stream.

    Args:
        count: How many at most.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.drawn: list[str] = []
        self._seen = 0
        self._random = random.Random(1)  # noqa: S311 - a sample, nothing secret

    def add(self, text: str) -> None:
        """Let one more take part."""
        self._seen += 1
        if len(self.drawn) < self.count:
            self.drawn.append(text)
        elif (place := self._random.randrange(self._seen)) < self.count:
            self.drawn[place] = text


SAMPLED = 200
LEAST_CHARACTERS = 300
"""Shorter texts are not judged."""

READ = 5_000
"""Characters of a text that are kept."""

LEAST_JUDGED = 5
LEAST_SHARE = 0.2
"""Share of documents in another language from which it is said: some Latin pages are no mistake."""


@dataclass(frozen=True, slots=True)
class ForeignShare:
    """Documents that say they are in a language and are in another.

    Args:
        language: The language that they say, or that is meant when they say nothing.
        documents: How many of the sample.
        sampled: The documents of the sample that are long enough to tell.
    """

    language: str
    documents: int
    sampled: int

    def as_json(self) -> dict[str, object]:
        """Return what `--json` prints."""
        return {"language": self.language, "documents": self.documents, "sampled": self.sampled}

    def __str__(self) -> str:
        sample = format_count(self.sampled, "sampled document")
        return f"{self.documents:,} of {sample} of language {self.language!r} are in another language"


REMEDY = "give each document its `language`; rare words of one language say nothing about another"


def find_foreign(language: str, texts: Iterable[str]) -> ForeignShare | None:
    """Look whether texts are in the language that their documents say.

    Args:
        language: What the documents say.
        texts: Theirs.

    Returns:
        What is wrong; None when nothing is, or when too few texts are long enough to tell.
    """
    languages = [heard for text in texts if (heard := detect(text))]
    strange, judged = sum(not alike(language, heard) for heard in languages), len(languages)
    foreign = judged >= LEAST_JUDGED and strange >= LEAST_SHARE * judged
    return ForeignShare(language, strange, judged) if foreign else None


class LanguageSampler:
    """Passes documents on and keeps the beginnings of some, to tell whether they are in the language that they say."""

    def __init__(self) -> None:
        self._lots: defaultdict[str, ReservoirSample] = defaultdict(lambda: ReservoirSample(SAMPLED))

    def passing(self, items: Iterable[Document | Refusal]) -> Iterator[Document | Refusal]:
        """Pass documents and refusals on."""
        for item in items:
            if isinstance(item, Document) and len(item.text) > LEAST_CHARACTERS:
                self._lots[item.language].add(item.text[:READ])
            yield item

    def foreign(self, table_of: Callable[[str], Table | None]) -> list[ForeignShare]:
        """Return what is wrong, by language; nothing of languages without a table.

        Args:
            table_of: Gives the idf table of a language.
        """
        known = [language for language in sorted(self._lots) if table_of(language) is not None]
        shares = (find_foreign(language, self._lots[language].drawn) for language in known)
        return [each for each in shares if each is not None]
