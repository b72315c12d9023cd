"""`wh1` and `sh1`: one number for a token and for five in a row; the shapes of tokens."""

from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.text.word_hash import hash_bytes, wh1

MASK = (1 << 64) - 1


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
