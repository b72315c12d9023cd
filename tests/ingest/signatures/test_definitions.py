"""Content hash and digest are as their definitions say; how well min-hash estimates."""

from hashlib import blake2b, sha1
from itertools import product
from math import sqrt

import numpy as np
import pytest
import xxhash

from ibidem_ingest.document import Document
from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures import content, feature_set, minhash
from ibidem_ingest.signatures.feature_set import FINGERPRINT_SCHEME
from ibidem_ingest.signatures.sign import digest
from ibidem_ingest.text.word_hash import Shingles


def test_signs_and_the_key_of_a_mail_are_hashed_behind_the_words() -> None:
    data = b"pay 5" + b"\x1frent" + b"\x1e1-" + b"\x1dann@example.org 1987"
    expected = f"ch4:{blake2b(data, digest_size=16).hexdigest()}"
    assert content.sign(["pay", "5"], "a", "rent", "1-", "ann@example.org 1987") == expected
    hash_ = content.digest(b"pay 5", "rent", b"1-", "ann@example.org 1987")
    assert content.format_hash(hash_, "a") == expected


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


def test_it_is_the_hash_of_the_canonical_json() -> None:
    document = Document("é", "We", "Preamble", "1787", "Ann", "https://a.org", "fr", 1, {"page": 1})
    fields = '{"date":"1787","id":"é","language":"fr","meta":{"page":1},"schema":"1",'
    members = '"source":"Ann","table":"t","text":"We","title":"Preamble","url":"https://a.org"}'
    assert digest(document, "t", schema="1") == xxhash.xxh3_128_hexdigest((fields + members).encode())


WORDS = ["".join(letters) for letters in product("bcdfg", "aeiou", "lmnrs")]
STRANGE = ["x" + word for word in WORDS[:40]]
TABLE = Table.build("en", 100_000, {word: 50.0 + 9 * (place // 2) for place, word in enumerate(WORDS)}, "a test")


def test_nineteen_terms_make_no_set_and_twenty_are_padded() -> None:
    few, enough = (feature_set.candidates(WORDS[:count] + STRANGE, TABLE) for count in (19, 20))
    assert feature_set.sign(*few, TABLE.size) == ()
    assert len(feature_set.sign(*enough, TABLE.size)) == 60


def test_terms_are_hashed_in_utf_8() -> None:
    table = Table.build("de", 99, {"gericht": 5.0, "öffentlich": 6.0}, "two words")
    terms, _ = feature_set.candidates(["öffentlich", "gericht"], table)
    digest = sha1("gericht:1 öffentlich:0".encode(), usedforsecurity=False).hexdigest()
    assert feature_set.fingerprint(terms) == FINGERPRINT_SCHEME + digest
