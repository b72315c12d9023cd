"""The 60 rarest terms are the feature set, padded when there are fewer; six and their places are the fingerprint."""

from hashlib import sha1
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures import feature_set, fingerprint
from ibidem_ingest.signatures.feature_set import FeatureSet
from ibidem_ingest.signatures.fingerprint import SCHEME, Fingerprint
from ibidem_ingest.text.tokens import tokens
from ibidem_ingest.text.word_hash import wh1

WORDS = ["".join(letters) for letters in product("bcdfg", "aeiou", "lmnrs")]
STRANGE = ["x" + word for word in WORDS[:40]]
TABLE = Table.build("en", 100_000, {word: 50.0 + 9 * (place // 2) for place, word in enumerate(WORDS)}, "a test")
texts = st.lists(st.sampled_from([*WORDS, *STRANGE, "of", "12"]), max_size=200).map(" ".join)


def naive(text: str) -> FeatureSet:
    words = set(text.split())
    term_numbers = sorted(WORDS.index(word) for word in words if word in WORDS)[:60]
    if len(term_numbers) < 20:
        return FeatureSet((), full=False)
    size = len(WORDS)
    pads = sorted({size + wh1(word) % (2**24 - size) for word in words if word in STRANGE})
    return FeatureSet(tuple((term_numbers + pads)[:60]), full=len(term_numbers) == 60)


@given(texts)
def test_a_feature_set_is_as_the_definition_says(text: str) -> None:
    assert feature_set.sign(tokens(text), TABLE) == naive(text)


def test_nineteen_terms_make_no_set_and_twenty_are_padded() -> None:
    assert feature_set.sign(WORDS[:19] + STRANGE, TABLE) == feature_set.NONE
    padded = feature_set.sign(WORDS[:20] + STRANGE, TABLE)
    assert len(padded.codes) == 60
    assert not padded.full


texts_of_few_ranks = st.lists(st.sampled_from([*WORDS, "of", "the", "12"]), max_size=90).map(" ".join)


def hexed(sequence: str) -> str:
    return sha1(sequence.encode(), usedforsecurity=False).hexdigest()


def naive_fingerprint(text: str) -> Fingerprint:
    words = text.split()
    rarest = sorted({word for word in words if word in WORDS}, key=lambda w: (WORDS.index(w) // 2, w))[:6]
    if not rarest:
        return Fingerprint("", weak=True)
    origin = min(words.index(word) for word in rarest)
    written = " ".join(f"{word}:{words.index(word) - origin}" for word in rarest)
    return Fingerprint(SCHEME + hexed(written), len(rarest) < 6)


@given(texts_of_few_ranks)
def test_a_fingerprint_is_as_the_definition_says(text: str) -> None:
    assert fingerprint.sign(tokens(text), TABLE) == naive_fingerprint(text)


def test_terms_are_hashed_in_utf_8() -> None:
    table = Table.build("de", 99, {"gericht": 5.0, "öffentlich": 6.0}, "two words")
    assert fingerprint.sign(["öffentlich", "gericht"], table).value == SCHEME + hexed("gericht:1 öffentlich:0")
