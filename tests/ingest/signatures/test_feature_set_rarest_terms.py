"""Candidate terms: in the table, not too rare, the rarest first."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures.feature_set import RarestTerms, candidates
from ibidem_ingest.text.terms import TermGroups, is_term
from ibidem_ingest.text.tokens import TokenBatch, tokens
from ibidem_ingest.text.word_hash import wh1

WORDS = [a + b + c for a in "bcdfg" for b in "aeiou" for c in "lmnrs"]
TABLE = Table.build("en", 10**9, {word: 5.0 * 1.15**place for place, word in enumerate(WORDS)}, "a test")
texts = st.lists(st.sampled_from([*WORDS, "of", "12", "a1", "unheard", "émeute", "東京"]), max_size=80).map(" ".join)


def naive(text: str) -> tuple[list[tuple[float, str, int]], set[str]]:
    words = tokens(text)
    term_counts = {
        (-TABLE.idf_norm(WORDS.index(word)), word, words.index(word))
        for word in words
        if word in WORDS and TABLE.idf_norm(WORDS.index(word)) <= 0.8
    }
    return sorted(term_counts), {word for word in words if is_term(word) and word not in WORDS}


@given(texts)
def test_one_document_is_as_the_definition_says(text: str) -> None:
    term_counts, unknown_terms = naive(text)
    terms, rare_terms = candidates(tokens(text), TABLE)
    assert [(candidate.term, candidate.first) for candidate in terms] == [
        (word, first) for _, word, first in term_counts
    ]
    assert sorted(rare_terms) == sorted(map(wh1, unknown_terms))


@given(st.lists(texts, min_size=1, max_size=8))
def test_a_batch_is_as_one_by_one(several: Sequence[str]) -> None:
    batch = TokenBatch.tokenize(several)
    rarest = RarestTerms.look_up(batch, TermGroups.group(batch), TABLE)
    for number, text in enumerate(several):
        term_counts, unknown_terms = candidates(tokens(text), TABLE)
        span = slice(rarest.offsets[number], rarest.offsets[number + 1])
        assert rarest.rank[span].tolist() == [candidate.rank for candidate in term_counts]
        assert (rarest.first[span] - batch.offsets[number]).tolist() == [candidate.first for candidate in term_counts]
        rare_terms = rarest.unknown_terms[rarest.strange_offsets[number] : rarest.strange_offsets[number + 1]]
        assert sorted(rare_terms.tolist()) == sorted(unknown_terms)


def test_the_table_holds_terms_that_are_too_rare() -> None:
    assert 0 < TABLE.first_allowed < TABLE.size
