"""The default tables come from word frequencies of general language."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_ingest.idf.store import DOCUMENTS, build_general, is_one_term
from ibidem_ingest.text.terms import is_term
from ibidem_ingest.text.tokens import TokenBatch, tokens
from ibidem_ingest.text.word_hash import wh1


def test_a_default_table_ranks_rare_words_before_common_ones() -> None:
    table = build_general("da")
    assert table is not None
    assert table.documents == DOCUMENTS
    assert table.rank(wh1("fuldmaegtig")) < table.rank(wh1("ikke"))


@given(st.text(st.characters(categories=["L", "M"]), max_size=6))
@example("paraŀlel")
@example("artº")
@example("Court")
@example("μαΐου")
def test_a_word_of_the_table_is_one_token_of_a_text_and_a_term(word: str) -> None:
    assert not is_one_term(word) or (tokens(word) == [word] and is_term(word))


@pytest.mark.slow
def test_greek_words_are_found_as_texts_spell_them() -> None:
    table = build_general("el")
    assert table is not None
    terms = [table.term(rank) for rank in range(table.size)]
    batch = TokenBatch.tokenize(terms)
    assert table.ranks(batch.hashes).tolist() == list(range(table.size))
    assert "οπωσ" in terms


def test_a_language_is_known_by_its_code_of_iso_639() -> None:
    table = build_general("hr")
    assert table is not None
    assert table.language == "sh"


def test_languages_without_spaces_and_unknown_ones_have_none() -> None:
    assert build_general("zh") is None
    assert build_general("tlh") is None


@pytest.mark.slow
def test_no_two_words_of_a_language_share_a_hash() -> None:
    greek = build_general("el")
    assert greek is not None
    assert np.unique(greek.hashes()).size == greek.size > 40_000
