"""Content hash, numbers, text profile, min-hash and digest are as their definitions say."""

from collections import Counter
from dataclasses import replace
from hashlib import blake2b
from math import floor, sqrt

import numpy as np
import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_ingest.document import Document
from ibidem_ingest.signatures import content, minhash, numbers, text_profile
from ibidem_ingest.signatures.numbers import Numbers
from ibidem_ingest.signatures.sign import digest
from ibidem_ingest.text.terms import TermGroups
from ibidem_ingest.text.tokens import TokenBatch, tokens
from ibidem_ingest.text.word_hash import Shingles, shingles, wh1

texts = st.lists(st.text(st.sampled_from("aB é.,\n7漢"), max_size=20), max_size=5)


@given(texts)
def test_it_is_blake2b_of_the_tokens_joined_by_a_space(several: list[str]) -> None:
    expected = [
        f"ch4:{blake2b(' '.join(tokens(text)).encode(), digest_size=16).hexdigest()}"
        if tokens(text)
        else f"ch4:none:d{number}"
        for number, text in enumerate(several)
    ]
    names = [f"d{number}" for number in range(len(several))]
    assert [content.sign(tokens(text), name) for text, name in zip(several, names, strict=True)] == expected
    nothing = [""] * len(several)
    hashes = content.sign_batch(TokenBatch.tokenize(several).join_tokens(), nothing, [b""] * len(several), nothing)
    assert list(map(content.format_hash, hashes, names)) == expected


def test_case_punctuation_spaces_and_page_breaks_make_no_difference() -> None:
    a = content.sign(tokens("IT IS ORDERED: that the motion\fbe denied."), "a")
    assert a == content.sign(tokens("it is ordered that the mo-\ntion be (denied)"), "b")


def test_signs_and_the_key_of_a_mail_are_hashed_behind_the_words() -> None:
    data = b"pay 5" + b"\x1frent" + b"\x1e1-" + b"\x1dann@example.org 1987"
    expected = f"ch4:{blake2b(data, digest_size=16).hexdigest()}"
    assert content.sign(["pay", "5"], "a", "rent", "1-", "ann@example.org 1987") == expected
    (hash_,) = content.sign_batch([b"pay 5"], ["rent"], [b"1-"], ["ann@example.org 1987"])
    assert content.format_hash(hash_, "a") == expected


texts_with_numbers = st.lists(
    st.lists(st.sampled_from([*map(str, range(60)), "a1", "word", "٣", "漢"]), max_size=50).map(" ".join)
)


@given(texts_with_numbers)
def test_sketches_are_as_the_definition_says(several: list[str]) -> None:
    batch = TokenBatch.tokenize(several)
    expected = []
    for text in several:
        figures = {token for token in tokens(text) if any(character.isdigit() for character in token)}
        sketch = sorted({wh1(token) >> 48 for token in figures})[:16]
        expected.append(Numbers(min(255, len(figures)), tuple(sketch)))
    columns = numbers.sign_batch(batch, TermGroups.group(batch))
    sketches = [tuple(row[:size]) for row, size in zip(columns.sketch.tolist(), columns.sizes, strict=True)]
    assert list(map(Numbers, columns.distinct.tolist(), sketches)) == expected
    assert [numbers.sign(tokens(text)) for text in several] == expected


WORDS = [
    "the",
    "of",
    "court",
    "courts",
    "jurisdiction",
    "jurisdictional",
    "jurisdictionally",
    "écoles",
    "ab1",
    "漢",
    "एकदम",
]
texts_with_repeats = st.lists(st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join), max_size=5)


def naive(words: list[str]) -> str:
    counts = Counter(word for word in words if len(word) > 2)
    if not counts:
        return ""
    highest = max(counts.values())
    quantum = floor(highest * 0.01 + 0.5)
    if quantum < 2:
        quantum = 2 if highest > 1 else 1
    coarse = {word: count // quantum * quantum for word, count in counts.items() if count >= quantum}
    if len(coarse) < 5:
        return ""
    lines = [f"{word} {value}" for word, value in sorted(coarse.items(), key=lambda item: (-item[1], item[0]))]
    return "tp1:" + xxhash.xxh3_128_hexdigest("\n".join(lines).encode())


@given(texts_with_repeats)
@example([" ".join(["court"] * 1234 + ["law"] * 250 + ["a b c one two six"] * 12 + WORDS * 3)])
@example(["one two three four five", "one one two two three three four four five five"])
def test_profiles_are_as_the_definition_says(several: list[str]) -> None:
    batch = TokenBatch.tokenize(several)
    expected = [naive(tokens(text)) for text in several]
    assert text_profile.sign_batch(batch, TermGroups.group(batch)) == [bytes.fromhex(each[4:]) for each in expected]
    assert [text_profile.sign(tokens(text)) for text in several] == expected


MASK = (1 << 64) - 1
several_texts = st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=40).map(" ".join), max_size=5)


def naive_minhash(hashes: set[int], k: int) -> list[int]:
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
@given(several_texts, st.sampled_from([100, 34]))
@example(["a b c", "", "a", "a b c d e f g"], 100)
@example([" ".join(f"w{n}" for n in range(1500)), "a b c"], 34)
@example(["a b c d e f " * 400, "a b c d e f g", "x " * 1200], 100)
@example(["a b c d e f " * 150] * 3, 100)
def test_slots_are_as_the_definition_says(several: list[str], k: int) -> None:
    batch = TokenBatch.tokenize(several)
    sketches = minhash.sketch_batch(Shingles.hash(batch.hashes, batch.offsets), k).tolist()
    for text, slots in zip(several, sketches, strict=True):
        hashes = shingles([wh1(token) for token in tokens(text)])
        expected = naive_minhash(set(hashes), k) if hashes else [MASK] * k
        assert slots == expected
        assert minhash.sketch(hashes, k) == (expected if hashes else [])
        assert minhash.sign(tokens(text), k) == (tuple(slot & 0xFFFF for slot in expected) if hashes else ())


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


def test_containment_finds_an_excerpt_and_says_nothing_of_few_slots() -> None:
    words = [f"w{number}" for number in range(1200)]
    sketch_a, part = minhash.sign(words), minhash.sign(words[300:700])
    assert minhash.containment(sketch_a, part, 1196, 396) > 0.8
    assert minhash.containment(part, sketch_a, 396, 1196) == minhash.containment(sketch_a, part, 1196, 396)
    assert minhash.containment(sketch_a, minhash.sign(words[:40]), 1196, 36) == 0.0
    assert minhash.containment((), (), 0, 0) == 0.0
    assert minhash.containment(sketch_a, sketch_a, 1196, 1196) == 1.0


DOCUMENT = Document(
    "a",
    "We the People",
    "Preamble",
    "1787-09-17",
    "Convention",
    "https://a.org",
    "en",
    1,
    {"page": 1, "judge": {"x": 1}},
)


@pytest.mark.parametrize(
    "change",
    [
        {"id": "b"},
        {"text": "We"},
        {"title": ""},
        {"date": "1787"},
        {"source": ""},
        {"url": ""},
        {"language": "fr"},
        {"meta": {}},
    ],
)
def test_every_other_field_counts(change: dict[str, object]) -> None:
    assert digest(replace(DOCUMENT, **change), "t") != digest(DOCUMENT, "t")


def test_it_is_the_hash_of_the_canonical_json() -> None:
    fields = '{"date":"","id":"é","language":"en","meta":{},'
    members = '"schema":"1","source":"","table":"","text":"","title":"","url":""}'
    assert digest(Document("é", ""), "", schema="1") == xxhash.xxh3_128_hexdigest((fields + members).encode())


def test_the_share_shown_is_corrected_for_chance() -> None:
    assert minhash.correct_for_chance(0.5) == (0.5 - 2**-16) / (1 - 2**-16)
    assert minhash.correct_for_chance(0.0) == 0.0
