"""`wh1` and `sh1`: one number for a token and for five in a row; the shapes of tokens."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_ingest.text.tokens import TermGroups, TokenBatch, TokenShapes, has_digit, is_term, tokens
from ibidem_ingest.text.word_hash import Shingles, hash_bytes, hash_tokens, shingles, wh1

MASK = (1 << 64) - 1


@given(st.lists(st.text(st.characters(exclude_characters=" ", exclude_categories=["Cs"]), min_size=1)))
@example(["x" * 64, "y" * 65, "z" * 1000, "a"])
def test_a_buffer_of_tokens_is_hashed_as_one_by_one(several: Sequence[str]) -> None:
    sizes = np.array([len(token.encode()) for token in several], np.int64)
    ends = np.cumsum(sizes + 1) - 1
    buffer = " ".join([*several, " " * 8]).encode()
    hashes, leading = hash_tokens(buffer, ends - sizes, ends)
    assert hashes.tolist() == [wh1(token) for token in several]
    assert leading.tolist() == [int.from_bytes(token.encode()[:8], "little") for token in several]


@given(
    st.binary(min_size=8, max_size=8), st.binary(min_size=8, max_size=8), st.integers(1, 255), st.sampled_from([32, 31])
)
def test_a_difference_in_a_words_last_letter_is_not_taken_back_by_the_next_word(
    first: bytes, second: bytes, flipped: int, shift: int
) -> None:
    """Multiplied once, a difference in the highest byte stays there, and shifted it is in one more place."""
    high = (int.from_bytes(first, "little") ^ flipped << 56).to_bytes(8, "little")
    apart = [int.from_bytes(word, "little") * 0x9E3779B97F4A7C15 & MASK for word in (first, high)]
    undone = (apart[0] ^ apart[0] >> shift) ^ (apart[1] ^ apart[1] >> shift)
    other = (int.from_bytes(second, "little") ^ undone).to_bytes(8, "little")
    assert hash_bytes(first + second) != hash_bytes(high + other)


def test_short_tokens_never_collide_and_every_bit_is_used() -> None:
    hashes = [wh1(f"{a}{b}{c}{d}") for a in "abcdefgh" for b in "ijklmno" for c in "pqrstu" for d in "vwxyz"]
    assert len(set(hashes)) == len(hashes)
    for bit in range(64):
        assert 0.4 < sum(each >> bit & 1 for each in hashes) / len(hashes) < 0.6


texts = st.lists(st.lists(st.sampled_from("abc"), max_size=14).map(" ".join), max_size=8)


@given(texts)
@example(["a b c d", "a", "", "a b c d e", "a b"])
@example(["", "a b c d e f", ""])
@example(["a b c a b c a b c a b c", "a b c a b c a b c", "x y z", "a a a a a a a", "a a a a a", "b b b b b b b"])
def test_shingles_of_a_batch_are_those_of_each_text(several: Sequence[str]) -> None:
    batch = TokenBatch.tokenize(several)
    columns = Shingles.hash(batch.hashes, batch.offsets)
    assert columns.offsets.tolist() == batch.offsets.tolist()
    for document, text in enumerate(several):
        expected = shingles([wh1(word) for word in tokens(text)])
        mine = columns.hashes[columns.offsets[document] : columns.offsets[document + 1]].tolist()
        assert mine[: len(expected)] == expected
        assert set(mine) == set(expected)
        assert columns.distinct()[document] == len(set(expected))


# ruff: noqa: RUF001 - characters that look like others are what is tested


text = st.text(st.sampled_from("abz019 éßजा\u0301漢ไ٣๓𝒜ж"), max_size=80)


@given(st.lists(text, max_size=5))
@example(["a" * 70 + "1", "é" * 40, "b" * 63 + "9", "c" * 200])
def test_tokens_of_a_batch_have_the_shapes_of_each(texts_terms: Sequence[str]) -> None:
    batch = TokenBatch.tokenize(texts_terms)
    shapes = TokenShapes.classify(batch.buffer, batch.starts, batch.ends)
    columns = zip(shapes.characters.tolist(), shapes.is_term.tolist(), shapes.has_digit.tolist(), strict=True)
    several = [batch.token(place) for place in range(batch.starts.size)]
    assert list(columns) == [(len(token), is_term(token), has_digit(token)) for token in several]


texts_terms = st.lists(st.lists(st.sampled_from(["a", "b", "the", "12", "é"]), max_size=12).map(" ".join), max_size=6)


@given(texts_terms)
def test_groups_are_the_distinct_tokens_of_each_document(several: Sequence[str]) -> None:
    batch = TokenBatch.tokenize(several)
    groups = TermGroups.group(batch)
    starts, ends = groups.vocabulary.starts, groups.vocabulary.ends
    words = [batch.buffer[starts[number] : ends[number]].decode() for number in groups.word]
    assert len(set(words)) == groups.vocabulary.hashes.size
    assert groups.vocabulary.hashes.take(groups.word).tolist() == [wh1(word) for word in words]
    for document, text in enumerate(several):
        expected = {word: (tokens(text).index(word), count) for word, count in Counter(tokens(text)).items()}
        assert {
            words[group]: (int(groups.first[group] - batch.offsets[document]), int(groups.count[group]))
            for group in np.flatnonzero(groups.document == document)
        } == expected
