"""The 60 rarest terms are the feature set, padded when there are fewer; six and their places are the fingerprint."""

from hashlib import sha1
from itertools import product

from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures import feature_set, fingerprint
from ibidem_ingest.signatures.fingerprint import SCHEME

WORDS = ["".join(letters) for letters in product("bcdfg", "aeiou", "lmnrs")]
STRANGE = ["x" + word for word in WORDS[:40]]
TABLE = Table.build("en", 100_000, {word: 50.0 + 9 * (place // 2) for place, word in enumerate(WORDS)}, "a test")


def test_nineteen_terms_make_no_set_and_twenty_are_padded() -> None:
    assert feature_set.sign(WORDS[:19] + STRANGE, TABLE) == feature_set.NONE
    padded = feature_set.sign(WORDS[:20] + STRANGE, TABLE)
    assert len(padded.codes) == 60
    assert not padded.full


def hexed(sequence: str) -> str:
    return sha1(sequence.encode(), usedforsecurity=False).hexdigest()


def test_terms_are_hashed_in_utf_8() -> None:
    table = Table.build("de", 99, {"gericht": 5.0, "öffentlich": 6.0}, "two words")
    assert fingerprint.sign(["öffentlich", "gericht"], table).value == SCHEME + hexed("gericht:1 öffentlich:0")
