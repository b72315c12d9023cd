"""`wh1`: one number for a token, the same in plain Python and in batches."""

from collections.abc import Sequence

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_ingest.text.word_hash import hash_bytes, hash_tokens, wh1

MASK = (1 << 64) - 1


def naive(token: str) -> int:
    data = token.encode("utf-8", "surrogatepass")
    words = [int.from_bytes(data[start : start + 8], "little") for start in range(0, len(data), 8)] or [0]
    h = words[0] * 0x9E3779B97F4A7C15 & MASK
    h ^= h >> 32
    for word in words[1:]:
        h = h * 0xC4CEB9FE1A85EC53 & MASK
        h ^= h >> 29
        h = (h ^ word) * 0xC2B2AE3D27D4EB4F & MASK
        h ^= h >> 31
    h = h * 0xFF51AFD7ED558CCD & MASK
    return h ^ h >> 29


@given(st.text())
def test_a_hash_is_as_the_definition_says(token: str) -> None:
    assert wh1(token) == naive(token)


@given(st.lists(st.text(st.characters(exclude_characters=" ", exclude_categories=["Cs"]), min_size=1)))
@example(["x" * 64, "y" * 65, "z" * 1000, "a"])
def test_a_buffer_of_tokens_is_hashed_as_one_by_one(several: Sequence[str]) -> None:
    sizes = np.array([len(token.encode()) for token in several], np.int64)
    ends = np.cumsum(sizes + 1) - 1
    buffer = " ".join([*several, " " * 8]).encode()
    hashes, leading = hash_tokens(buffer, ends - sizes, ends)
    assert hashes.tolist() == [wh1(token) for token in several]
    assert leading.tolist() == [int.from_bytes(token.encode()[:8], "little") for token in several]


def test_many_tokens_are_hashed_in_blocks_that_no_one_sees() -> None:
    several = [f"w{number}" for number in range(40_000)]
    sizes = np.array([len(token) for token in several], np.int64)
    ends = np.cumsum(sizes + 1) - 1
    hashes, _ = hash_tokens(" ".join([*several, " " * 8]).encode(), ends - sizes, ends)
    assert hashes.tolist() == [wh1(token) for token in several]


@given(
    st.binary(min_size=8, max_size=8),
    st.binary(min_size=8, max_size=8),
    st.integers(1, 255),
    st.sampled_from([32, 31]),
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
