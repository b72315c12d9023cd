"""The default tables come from word frequencies of general language."""

from ibidem_ingest.idf.general import DOCUMENTS, general
from ibidem_ingest.wordhash import wh1


def test_a_default_table_ranks_rare_words_before_common_ones() -> None:
    table = general("da")
    assert table is not None
    assert table.documents == DOCUMENTS
    assert table.rank(wh1("fuldmægtig")) < table.rank(wh1("ikke"))


def test_languages_without_spaces_and_unknown_ones_have_none() -> None:
    assert general("zh") is None
    assert general("tlh") is None
