"""Noise blocks of many texts at once: the same figures as one by one, whatever the blocks hold."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.signatures import minhash, noise
from ibidem_ingest.signatures.noise_columns import equal_runs, is_noisy
from support.windows import example_settings

SIZE = noise.SLOTS + 12
# Blocks of few values, so that many slots are equal.
BLOCKS = st.lists(st.lists(st.integers(0, 3), min_size=SIZE, max_size=SIZE).map(bytes), min_size=2, max_size=6)


def columns(blocks: list[bytes]) -> np.ndarray:
    return np.frombuffer(b"".join(blocks), np.uint8).reshape(-1, SIZE)


@example_settings
@given(BLOCKS)
def test_a_block_is_noisy_in_columns_where_it_is_noisy_alone_and_says_something(blocks: list[bytes]) -> None:
    read = [noise.read(block) for block in blocks]
    assert is_noisy(columns(blocks)).tolist() == [block.run > 0 and block.is_noisy() for block in read]


@example_settings
@given(BLOCKS)
def test_slots_and_pairs_of_slots_are_counted_as_for_one_pair(blocks: list[bytes]) -> None:
    a, b = np.zeros(len(blocks), np.int64), np.arange(len(blocks))
    equal, pairs_of_slots, band = equal_runs(columns(blocks), a, b)
    slots = noise.read(blocks[0]).slots
    for row, block in enumerate(blocks):
        other = noise.read(block).slots
        assert equal[row] == minhash.equal_slots(slots, other)
        assert noise.shares_keys(slots, other, int(pairs_of_slots[row])) == bool(band[row])
        assert not noise.shares_keys(slots, other, int(pairs_of_slots[row]) + 1)
