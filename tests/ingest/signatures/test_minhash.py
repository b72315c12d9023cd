"""Min-hash: as the definition says, unbiased, with an error no greater than that of 100 permutations."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_ingest.signatures import minhash
from ibidem_ingest.text.tokens import TokenBatch, tokens
from ibidem_ingest.text.word_hash import Shingles, shingles, wh1

MASK = (1 << 64) - 1
texts = st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=40).map(" ".join), max_size=5)


def naive(hashes: set[int], k: int) -> list[int]:
    """From the definition: for each slot the first round that fills it, and there the smallest value."""
    slots = []
    rounds = []
    for number, multiplier in enumerate((1, *minhash.ROUND_MULTIPLIERS)):
        values: dict[int, set[int]] = {}
        for s in hashes:
            x = s
            if number:
                x = s * multiplier & MASK
                x = (x ^ x >> 29) * 0xC4CEB9FE1A85EC53 & MASK
                x ^= x >> 32
            values.setdefault((x >> 32) * k >> 32, set()).add(number * 2**61 + (x >> 3))
        rounds.append(values)
    for b in range(k):
        own = set()
        for s in hashes:
            x = s * minhash.SLOT_MULTIPLIERS[b] & MASK
            x = (x ^ x >> 32) * 0xC2B2AE3D27D4EB4F & MASK
            own.add(7 * 2**61 + (x >> 3))
        slots.append(min(next((values[b] for values in rounds if b in values), own)))
    return slots


@pytest.mark.slow
@given(texts, st.sampled_from([100, 34]))
@example(["a b c", "", "a", "a b c d e f g"], 100)
@example([" ".join(f"w{n}" for n in range(1500)), "a b c"], 34)
@example(["a b c d e f " * 400, "a b c d e f g", "x " * 1200], 100)
@example(["a b c d e f " * 150] * 3, 100)
def test_slots_are_as_the_definition_says(several: list[str], k: int) -> None:
    batch = TokenBatch.tokenize(several)
    sketches = minhash.sketch_batch(Shingles.hash(batch.hashes, batch.offsets), k).tolist()
    for text, slots in zip(several, sketches, strict=True):
        hashes = shingles([wh1(token) for token in tokens(text)])
        expected = naive(set(hashes), k) if hashes else [MASK] * k
        assert slots == expected
        assert minhash.sketch(hashes, k) == (expected if hashes else [])
        assert minhash.sign(tokens(text), k) == (tuple(slot & 0xFFFF for slot in expected) if hashes else ())


@given(st.sets(st.integers(0, MASK), min_size=1, max_size=30), st.sets(st.integers(0, MASK), min_size=1, max_size=30))
def test_the_sketch_of_a_union_is_the_smaller_of_each_slot(a: set[int], b: set[int]) -> None:
    minima = [min(pair) for pair in zip(minhash.sketch(sorted(a)), minhash.sketch(sorted(b)), strict=True)]
    assert minhash.sketch(sorted(a | b)) == minima


def estimates(size: int, jaccard: float, pairs: int, seed: int) -> "np.typing.NDArray[np.float64]":
    """Estimate the similarity of pairs of sets of random shingles, each set of the given size."""
    numbers = np.random.default_rng(seed)
    shared = round(2 * size * jaccard / (1 + jaccard))
    pool = numbers.integers(0, 1 << 64, (pairs, 2 * size - shared), np.uint64)
    offsets = np.arange(pairs + 1) * size
    a, b = (
        minhash.sign_batch(Shingles(np.ascontiguousarray(part).reshape(-1), offsets))
        for part in (pool[:, :size], pool[:, -size:])
    )
    return (a == b).mean(axis=1)


@pytest.mark.parametrize("size", [12, 100, 800, 5000])
@pytest.mark.parametrize("jaccard", [0.2, 0.5, 0.8])
def test_the_estimate_is_unbiased_and_its_error_that_of_the_theory(size: int, jaccard: float) -> None:
    pairs = 600 if size < 5000 else 150
    shared = round(2 * size * jaccard / (1 + jaccard))
    exact = shared / (2 * size - shared)
    shares = estimates(size, jaccard, pairs, seed=size)
    theory = sqrt(exact * (1 - exact) / 100)
    assert sqrt(((shares - exact) ** 2).mean()) <= 1.15 * theory
    assert abs(shares.mean() - exact) <= 4 * theory / sqrt(pairs)


def test_unrelated_documents_share_almost_no_slot() -> None:
    assert estimates(800, 0.0, 200, seed=1).mean() < 0.001


def test_words_that_differ_in_a_letter_make_other_slots() -> None:
    words = [f"section{number}" for number in range(400)]
    assert minhash.compare(minhash.sign(words), minhash.sign([word + "s" for word in words])) < 0.02


def slots_with(equal: int, *, bands: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
    a = tuple(range(100))
    order = list(range(100)) if bands else sorted(range(100), key=lambda slot: (slot % 3 == 0, slot))
    elements = set(order[equal:])
    return a, tuple(slot + 1000 if slot in elements else slot for slot in a)


def test_equal_slots_are_counted_and_may_share_no_band() -> None:
    assert minhash.equal_slots(*slots_with(60, bands=False)) == 60
    assert not minhash.shares_band(*slots_with(60, bands=False))
    assert minhash.shares_band(*slots_with(60, bands=True))


def test_the_last_slot_is_in_no_band() -> None:
    a = tuple(range(100))
    assert not minhash.shares_band(a, (*range(1000, 1099), 99))


def test_the_share_shown_is_corrected_for_chance() -> None:
    assert minhash.correct_for_chance(0.5) == (0.5 - 2**-16) / (1 - 2**-16)
    assert minhash.correct_for_chance(0.0) == 0.0


def test_containment_finds_an_excerpt_and_says_nothing_of_few_slots() -> None:
    words = [f"w{number}" for number in range(1200)]
    sketch_a, part = minhash.sign(words), minhash.sign(words[300:700])
    assert minhash.containment(sketch_a, part, 1196, 396) > 0.8
    assert minhash.containment(part, sketch_a, 396, 1196) == minhash.containment(sketch_a, part, 1196, 396)
    assert minhash.containment(sketch_a, minhash.sign(words[:40]), 1196, 36) == 0.0
    assert minhash.containment((), (), 0, 0) == 0.0
    assert minhash.containment(sketch_a, sketch_a, 1196, 1196) == 1.0
