"""The idf fingerprint depends on the six rarest terms and their places alone."""

from collections.abc import Sequence
from hashlib import sha1

from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures import fingerprint
from ibidem_ingest.signatures.feature_set import RarestTerms
from ibidem_ingest.signatures.fingerprint import SCHEME, Fingerprint
from ibidem_ingest.text.terms import TermGroups
from ibidem_ingest.text.tokens import TokenBatch, tokens

WORDS = [a + b + c for a in "bcdfg" for b in "aeiou" for c in "lmnrs"]
TABLE = Table.build("en", 100_000, {word: 50.0 + 9 * (place // 2) for place, word in enumerate(WORDS)}, "a test")
texts = st.lists(st.sampled_from([*WORDS, "of", "the", "12"]), max_size=90).map(" ".join)


def hexed(sequence: str) -> str:
    return sha1(sequence.encode(), usedforsecurity=False).hexdigest()


def naive(text: str) -> Fingerprint:
    words = text.split()
    rarest = sorted({word for word in words if word in WORDS}, key=lambda w: (WORDS.index(w) // 2, w))[:6]
    if not rarest:
        return Fingerprint("", weak=True)
    origin = min(words.index(word) for word in rarest)
    written = " ".join(f"{word}:{words.index(word) - origin}" for word in rarest)
    return Fingerprint(SCHEME + hexed(written), len(rarest) < 6)


@given(texts)
def test_one_document_is_as_the_definition_says(text: str) -> None:
    assert fingerprint.sign(tokens(text), TABLE) == naive(text)


@given(st.lists(texts, min_size=1, max_size=8))
def test_a_batch_is_as_one_by_one(several: Sequence[str]) -> None:
    batch = TokenBatch.tokenize(several)
    rarest = RarestTerms.look_up(batch, TermGroups.group(batch), TABLE)
    expected = [fingerprint.sign(tokens(text), TABLE) for text in several]
    assert fingerprint.sign_batch(batch, rarest).rows() == expected


def test_what_is_before_the_first_of_the_six_does_not_matter() -> None:
    text = " ".join(WORDS[:6])
    assert fingerprint.sign(tokens("of the of " + text), TABLE) == fingerprint.sign(tokens(text), TABLE)


def test_a_word_put_between_the_six_changes_the_fingerprint() -> None:
    value = fingerprint.sign(tokens(" ".join(WORDS[:6])), TABLE)
    assert value != fingerprint.sign(tokens(f"{WORDS[0]} of {' '.join(WORDS[1:6])}"), TABLE)


def test_terms_are_hashed_in_utf_8() -> None:
    table = Table.build("de", 99, {"gericht": 5.0, "öffentlich": 6.0}, "two words")
    assert fingerprint.sign(["öffentlich", "gericht"], table).value == SCHEME + hexed("gericht:1 öffentlich:0")


def test_fewer_than_six_terms_make_a_weak_fingerprint() -> None:
    assert fingerprint.sign(tokens(" ".join(WORDS[:5])), TABLE).weak
    assert not fingerprint.sign(tokens(" ".join(WORDS[:6])), TABLE).weak


def test_no_candidate_makes_no_fingerprint() -> None:
    assert fingerprint.sign(["of", "the"], TABLE) == fingerprint.NONE
