"""Signatures of long texts, in pages or chunks, and their unique words: how they are stored, aligned and compared."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.document import Document, read_record
from ibidem_ingest.signatures.long_text import (
    MAX_CHUNK,
    MIN_CHUNK,
    MIN_TOKENS,
    LongSignatures,
    chunk_starts,
    local_minima,
    sign_long,
)
from ibidem_ingest.signatures.unique_words import UniqueWords, common_places, compare, longest, sign
from support.some import some

WORDS = [f"{a}{b}{c}{d}" for a in "bdfgk" for b in "aeiou" for c in "lmnpr" for d in ("ate", "ing", "ous", "ly")]
LONG = np.random.default_rng(3).permutation(WORDS * 6).tolist()


def book(pages: int, words: int = 300) -> Document:
    start = (" ".join(LONG[(at * 37) % 900 : (at * 37) % 900 + words]) for at in range(pages))
    return read_record({"id": "book", "pages": list(start)}, "a test")


def test_a_text_has_them_with_two_pages_or_a_thousand_tokens() -> None:
    assert sign_long(Document("a", " ".join(LONG[:2] * MIN_TOKENS))) is not None
    assert sign_long(Document("a", " ".join(LONG[: MIN_TOKENS - 1]))) is None
    assert sign_long(Document("a", f"{LONG[0]}\f\f\f*")) is None
    paged = some(sign_long(Document("a", f"{LONG[0]}\f\f\f{LONG[1]}")))
    assert (paged.parts, paged.tokens.tolist()) == ("pages", [1, 0, 0, 1])


def test_a_word_broken_over_a_page_break_is_on_the_page_where_it_begins() -> None:
    assert some(sign_long(Document("a", "the defen-\fdant was there\fand so on"))).tokens.tolist() == [2, 2, 3]


@pytest.mark.parametrize("document", [book(5), Document("a", " ".join(LONG)), Document("a", "ab " * 3_000)])
def test_a_stored_value_is_read_as_it_was(document: Document) -> None:
    long_signatures = some(sign_long(document))
    read = some(LongSignatures.decode(long_signatures.encode()))
    assert read.encode() == long_signatures.encode()
    assert (read.parts, len(read)) == (long_signatures.parts, len(long_signatures))
    assert read.lookup_keys() == long_signatures.lookup_keys()


def make_hashes(seed: int, size: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 63, size).astype(np.uint64)


@given(st.integers(0, 99), st.integers(0, 3_000))
def test_a_text_is_cut_into_chunks_of_200_to_600_tokens(seed: int, size: int) -> None:
    places = chunk_starts(make_hashes(seed, size))
    lengths = np.diff(places)
    assert (places[0], places[-1]) == (0, size)
    assert (lengths <= MAX_CHUNK).all()
    assert size < MIN_CHUNK or (lengths >= MIN_CHUNK).all()


@given(st.integers(0, 99), st.integers(0, 1_500), st.integers(1, 5))
def test_the_lowest_places_are_those_of_the_plain_definition(seed: int, size: int, values: int) -> None:
    hashes = make_hashes(seed, size) % np.uint64(10**values)
    expected = [
        at
        for at in range(MIN_CHUNK, size)
        if all(hashes[at] < each for each in hashes[at - MIN_CHUNK : at])
        and all(hashes[at] <= each for each in hashes[at + 1 : at + MIN_CHUNK + 1])
    ]
    assert local_minima(hashes).tolist() == expected


LETTERS = "abcdefghijklmnopqrstuvwxyz"
NAMES = [f"{a}{b}{c}" for a in LETTERS for b in LETTERS for c in "aeiou"]
SHUFFLED = np.random.default_rng(7).permutation(NAMES).tolist()


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


def test_scores_are_those_of_the_paper() -> None:
    a, b = sign(SHUFFLED[:1_000]), sign(SHUFFLED[100:900])
    aligned = some(compare(a, b))
    assert len(aligned) == 800
    assert aligned.its == pytest.approx(log(800) / log(1_000))
    assert aligned.cs == pytest.approx(800 / sqrt(800_000))
    assert aligned.counts


def test_words_in_alphabetical_order_are_compared_with_nothing() -> None:
    directory = sign(sorted(NAMES[:800]))
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
