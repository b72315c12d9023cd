"""Look-up values as words."""

import pytest

from ibidem_engines.sqlite.tables import lookup_values, word, words
from ibidem_ingest.signatures.lookup_keys import lookup_keys
from ibidem_ingest.signatures.packed import unpack
from support.signed_records import make_record

LONG = " ".join(f"word{number}" for number in range(80))


@pytest.mark.parametrize("text", ["grain prices rose", LONG, ""])
def test_every_value_is_one_word_and_no_two_are_alike(text: str) -> None:
    packed = unpack(make_record("an id", text).packed)
    assert packed is not None
    values = lookup_keys(packed)
    assert words(dict(values)).split() == [word(value) for batch in values.values() for value in batch]
    assert len(set(words(dict(values)).split())) == sum(map(len, values.values()))


@pytest.mark.parametrize("packed", [b"", b"damaged", make_record("a").packed[:-1]])
def test_a_value_that_cannot_be_read_has_none(packed: bytes) -> None:
    assert lookup_values(packed) == {}


@pytest.mark.parametrize("value", ["ch4:none:an id", 'a"b', "", "A", "é", "*"])
def test_what_the_tokenizer_would_cut_is_hashed(value: str) -> None:
    assert word(value).startswith("x:")
    assert len(word(value)) == 34
