"""Unique words: which they are, how two sequences are aligned, and what is never compared."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.signatures.unique_words import UniqueWords, common_places, compare, longest, sign, sign_batch
from ibidem_ingest.text.terms import TermGroups
from ibidem_ingest.text.tokens import TokenBatch, tokens
from support.some import some

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = [f"{a}{b}{c}" for a in LETTERS for b in LETTERS for c in "aeiou"]
SHUFFLED = np.random.default_rng(7).permutation(WORDS).tolist()


def words(values: list[int]) -> UniqueWords:
    return UniqueWords(np.array(values, np.uint32))


def length_of_lcs(a: list[int], b: list[int]) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        new = [0]
        for at, y in enumerate(b):
            new.append(row[at] + 1 if x == y else max(row[at + 1], new[at]))
        row = new
    return row[-1]


SEQUENCES = st.lists(st.integers(0, 60), unique=True, max_size=40)


@given(SEQUENCES, SEQUENCES)
def test_the_longest_common_subsequence_is_that_of_the_textbook(a: list[int], b: list[int]) -> None:
    left, right = longest(*common_places(words(a), words(b)))
    assert left.size == length_of_lcs(a, b)
    assert [a[at] for at in left] == [b[at] for at in right]
    assert (np.diff(left) > 0).all()
    assert (np.diff(right) > 0).all()


def test_a_batch_is_signed_as_one_by_one() -> None:
    texts = [" ".join(SHUFFLED[:900] + SHUFFLED[200:300] + ["12", "no"]), "too short a text", " ".join(WORDS[:500])]
    batch = TokenBatch.tokenize(texts)
    signatures, places = sign_batch(batch, TermGroups.group(batch))
    for number, text in enumerate(texts):
        value = sign(tokens(text))
        assert signatures[number].words.tolist() == value.words.tolist()
        assert signatures[number].alphabetical == value.alphabetical
        assert len(places[number]) == len(value.words)
    assert [batch.token(at) for at in places[0][198:202]] == [SHUFFLED[at] for at in (198, 199, 300, 301)]


def test_scores_are_those_of_the_paper() -> None:
    a, b = sign(SHUFFLED[:1_000]), sign(SHUFFLED[100:900])
    aligned = some(compare(a, b))
    assert len(aligned) == 800
    assert aligned.its == pytest.approx(log(800) / log(1_000))
    assert aligned.cs == pytest.approx(800 / sqrt(800_000))
    assert aligned.counts


def test_words_in_alphabetical_order_are_compared_with_nothing() -> None:
    directory = sign(sorted(WORDS[:800]))
    assert directory.alphabetical
    assert compare(directory, directory) is None
    assert not directory.sample_keys().size


def test_a_part_and_its_whole_meet_in_sampled_pairs_though_their_steps_differ() -> None:
    words_a, part = sign(SHUFFLED), sign(SHUFFLED[1_000:1_400])
    assert 40 <= words_a.sample_keys().size <= 160
    assert np.intersect1d(words_a.sample_keys(), part.sample_keys()).size >= 2


def test_other_texts_and_short_ones_are_not_aligned() -> None:
    assert compare(sign(SHUFFLED[:900]), sign(SHUFFLED[900:1_800])) is None
    assert compare(sign(SHUFFLED[:99]), sign(SHUFFLED[:99])) is None
    assert sign(["the"] * 5_000).words.size == 0
