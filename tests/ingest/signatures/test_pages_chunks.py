"""A text without pages is cut into chunks."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.signatures.pages import MAX_CHUNK, MIN_CHUNK, chunk_starts, local_minima


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


def test_an_insertion_moves_no_cut_that_is_far_behind_it() -> None:
    hashes = make_hashes(1, 20_000)
    hashes_after = np.concatenate((hashes[:5_000], make_hashes(2, 37), hashes[5_000:]))
    cuts = {int(cut) for cut in chunk_starts(hashes) if cut > 7_000}
    assert len(cuts & {int(cut) - 37 for cut in chunk_starts(hashes_after)}) >= 0.9 * len(cuts)


def test_a_text_of_one_repeated_word_is_cut_all_the_same() -> None:
    assert np.diff(chunk_starts(np.zeros(10_000, np.uint64))).max() <= MAX_CHUNK
