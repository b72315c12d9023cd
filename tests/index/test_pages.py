"""A page of 150 words is found in the long document that has it, from both sides."""

import pytest

from ibidem.comparison.compare import compare
from ibidem.index.documents import inspect, inspect_outside
from ibidem.index.groups import index_groups
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine, Record
from ibidem_engines.ledger import records
from ibidem_ingest.document import PAGE_BREAK, Document
from ibidem_ingest.idf.store import Tables

PARTIAL = Policy(level="partial")
PAGES = [
    " ".join(f"{chr(97 + page)}{chr(97 + word % 26)}{chr(97 + word // 26)}" * 2 for word in range(75))
    for page in range(9)
]
PAGES = [f"{page} {page}" for page in PAGES]  # 150 words, each of them twice
BOOK = Document("book", PAGE_BREAK.join(PAGES), language="en")
PAGE = Document("page", PAGES[5], language="en")
SHORT = Document("short", PAGES[3].rsplit(None, 1)[0], language="en")
OTHER = Document("other", PAGES[2].replace("c", "z"), language="en")


@pytest.fixture
def index(engine: Engine, tables: Tables) -> Engine:
    engine.write(list(records([SHORT, OTHER, PAGE, BOOK], tables)))
    return engine


def test_the_page_joins_its_book_in_whole_index_groups(index: Engine) -> None:
    members = index_groups(index, PARTIAL).members()
    assert [{each.lead, each.id} for each in members if each.lead != each.id] == [{"book", "page"}]


def test_each_is_found_from_the_other(index: Engine, tables: Tables) -> None:
    (book,) = inspect(index, "page", PARTIAL).duplicates
    assert (book.id, book.level, book.evidence.why["direction"]) == ("book", "partial", "contains")
    assert book.evidence.why["own"] == {"from": 6, "to": 6, "of": 9}
    assert [each.id for each in inspect(index, "book", PARTIAL).duplicates] == ["page"]
    outside = inspect_outside(index, Document("x", PAGES[7], language="en"), tables, PARTIAL)
    assert [(each.id, each.evidence.why["own"]["from"]) for each in outside.duplicates] == [("book", 8)]


def test_fewer_words_and_other_words_are_not(index: Engine) -> None:
    assert not inspect(index, "short", PARTIAL).duplicates
    assert not inspect(index, "other", PARTIAL).duplicates
    assert not inspect(index, "page", Policy()).duplicates


def test_a_comparison_names_the_page(tables: Tables) -> None:
    comparison = compare(PAGE, BOOK, tables)
    assert comparison.evidence is not None
    assert (comparison.evidence.why["relation"], comparison.evidence.why["other"]["from"]) == ("part_of", 6)


@pytest.mark.slow
def test_a_document_from_outside_has_the_duplicates_of_its_copy_in_the_index_and_that_copy(
    library: Engine, records: list[Record], tables: Tables
) -> None:
    for record in records[::10]:
        document = library.fetch([(library.index, record.document.id)])[0].document
        own = {each.id for each in inspect(library, document.id, Policy(level="partial")).duplicates}
        if document.text.strip():
            found = inspect_outside(library, document, tables, Policy(level="partial"))
            assert {each.id for each in found.duplicates} == own | {document.id}
            assert found.duplicates[0].level == "identical"
