"""A table of one's own counts documents, not occurrences."""

import pytest

from ibidem_ingest.errors import TableError
from ibidem_ingest.idf.build import LEAST, count_terms
from ibidem_ingest.text.word_hash import wh1


def test_a_term_counts_once_for_each_document() -> None:
    texts = ["court court court of 1787" if number % 2 else "the appeal" for number in range(LEAST)]
    table = count_terms(texts, "en", "a test")
    assert table.counts[table.rank(wh1("court"))] == LEAST / 2
    assert [table.term(rank) for rank in range(table.size)] == ["appeal", "court", "the"]


def test_too_few_documents_are_refused_with_the_least_that_is_needed() -> None:
    with pytest.raises(TableError, match=r"10 documents are too few.*1,000"):
        count_terms(["a text"] * 10, "en", "a test")
