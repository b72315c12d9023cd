"""Build an idf table from files or from an index, in one language."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ibidem.index.language_check import ForeignShare, LanguageSampler, ReservoirSample
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, TableError
from ibidem_ingest.idf.build import build_general, count_terms
from ibidem_ingest.idf.table import Table


@dataclass(frozen=True, slots=True)
class BuiltTable:
    """A table and what it was counted from.

    Args:
        table: The table.
        others: Documents in other languages, by language; they were left out.
        refused: Documents that could not be read.
        foreign: What says that its documents are in another language.
    """

    table: Table
    others: Mapping[str, int]
    refused: int
    foreign: Sequence[ForeignShare] = ()

    def as_json(self) -> dict[str, object]:
        """Return what `ibidem idf build --json` prints."""
        return {**table_facts(self.table), "left_out": dict(self.others), "refused": self.refused} | {
            "foreign": [each.as_json() for each in self.foreign]
        }


class Tally:
    """Passes the texts of one language on and counts what it leaves out.

    Args:
        language: ISO 639-1 code.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self.others: Counter[str] = Counter()
        self.refused = 0

    def texts(self, items: Iterable[Document | Refusal]) -> Iterator[str]:
        """Yield the texts of the language's documents."""
        for item in items:
            if isinstance(item, Refusal):
                self.refused += 1
            elif item.language != self.language:
                self.others[item.language] += 1
            else:
                yield item.text


def build_table(
    items: Iterable[Document | Refusal], language: str, origin: str, seen: Callable[[int], None] = lambda _: None
) -> BuiltTable:
    """Count an idf table from the documents of one language.

    Args:
        items: Documents and refusals, as readers give them; read once, never held.
        language: ISO 639-1 code; documents in other languages are left out and counted.
        origin: What they are, in words; kept in the table.
        seen: Called with the number of documents counted so far.

    Raises:
        TableError: There are fewer than 1,000 documents in this language.
    """
    tally, heard = Tally(language), LanguageSampler()
    try:
        table = count_terms(count_texts(tally.texts(heard.passing(items)), seen), language, origin)
    except TableError as error:
        if not tally.others:
            raise
        other, times = tally.others.most_common(1)[0]
        raise TableError(
            f"{error.what} of {language!r}; {times:,} documents say that their language is {other!r}",
            f"count these with --language {other}, or give the documents their `language`",
        ) from error
    strange = heard.foreign(lambda code: build_general(code) if code == language else None)
    return BuiltTable(table, tally.others, tally.refused, strange)


def count_texts(texts: Iterable[str], seen: Callable[[int], None]) -> Iterator[str]:
    """Pass texts on and say how many there were."""
    for number, text in enumerate(texts, 1):
        yield text
        seen(number)


def index_documents(engine: Engine) -> Iterator[Document]:
    """Yield the documents of an index, in the order of writing."""
    for hits in engine.scan():
        for stored in engine.fetch([(hit.index, hit.id) for hit in hits]):
            yield stored.document


def sample(items: Iterable[Document | Refusal], language: str, count: int) -> list[str]:
    """Draw texts of one language by lot.

    Args:
        items: Documents and refusals; read once.
        language: ISO 639-1 code.
        count: How many at most.
    """
    lot = ReservoirSample(count)
    for text in Tally(language).texts(items):
        lot.add(text)
    return lot.drawn


def table_facts(table: Table) -> dict[str, object]:
    """Return what is known of a table."""
    return {
        "name": table.name,
        "language": table.language,
        "documents": table.documents,
        "terms": table.size,
        "origin": table.origin,
    }
