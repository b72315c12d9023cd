"""Look-up values: derived from the packed value alone, the same for storing and for asking."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.signatures.lookup_keys import bands, lookup_keys, lookup_keys_batch
from ibidem_ingest.signatures.packed import FULL, NO_MINHASH, NO_SET, NO_WORDS, WEAK, Packed
from support.windows import SampleWindow, example_settings, windows

WHOLE = Packed(
    scheme=4,
    flags=FULL,
    length=900,
    shingles=896,
    date_from=0,
    date_to=0,
    idf=bytes.fromhex("01234567"),
    words=1,
    signs=0,
    content=bytes(range(16)),
    fingerprint=b"\xab" * 8,
    profile=b"\xef" * 8,
    source=bytes(4),
    guard=bytes(4),
    title=bytes(4),
    noise=bytes(76),
    numbers=0,
    number_sketch=(),
    terms=tuple(range(60)),
    slots=tuple(range(100)),
    id="a",
)


def key(letter: str, value: int) -> str:
    digits = f"{value * 0xC2B2AE3D27D4EB4F % (1 << 64) >> 29:035b}"
    return letter + "".join("0123456789abcdefghijklmnopqrstuv"[int(digits[at : at + 5], 2)] for at in range(0, 35, 5))


def test_a_full_document_is_looked_up_by_everything() -> None:
    keys = lookup_keys(WHOLE)
    assert keys["content"] == ["ch4:000102030405060708090a0b0c0d0e0f"]
    assert keys["fingerprint"] == ["fp1:abababababababab"]
    assert keys["profile"] == ["tp1:efefefefefefefef"]
    assert keys["rare"][:2] == [key("r", 0x67452301 << 24), key("r", 0x67452301 << 24 | 1)]
    assert len(keys["rare"]) == 25
    assert len(set(keys["bands"])) == 33


@given(st.lists(st.integers(0, 65535), min_size=100, max_size=100))
def test_a_band_is_its_number_and_three_slots(slots: list[int]) -> None:
    expected = [key("b", slots[3 * i] | slots[3 * i + 1] << 16 | slots[3 * i + 2] << 32 | i << 48) for i in range(33)]
    assert bands(tuple(slots)) == expected


@given(st.binary(min_size=64, max_size=64), st.sampled_from([5, 7, 133]))
def test_a_pair_of_slots_is_its_number_the_slots_the_length_of_the_runs_and_the_table(slots: bytes, run: int) -> None:
    block = slots + bytes([run, 80, 0, 0]) + bytes(8)
    table = 0x67452301 << 32 | run << 24
    pairs = [slots[2 * i] | slots[(2 * i + 5) % 64] << 8 | i << 16 | table for i in range(32)]
    assert lookup_keys(replace(WHOLE, noise=block))["characters"] == [key("c", pair) for pair in pairs]


@example_settings
@given(windows)
def test_many_at_once_have_the_keys_that_each_has_alone(window: SampleWindow) -> None:
    values = [each or b"" for each in window.values]
    assert lookup_keys_batch(values) == [{} if each is None else lookup_keys(each) for each in window.packed]


def test_a_text_without_words_has_only_its_own_content() -> None:
    wordless = replace(WHOLE, flags=NO_WORDS | NO_SET | NO_MINHASH | WEAK, content=bytes(16), slots=(), terms=())
    assert lookup_keys(wordless) == {"content": ["ch4:none:a"]}


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        pytest.param({}, {"content", "fingerprint", "profile", "rare", "bands"}, id="a noise block that says nothing"),
        pytest.param({"flags": 0}, {"content", "fingerprint", "profile", "bands"}, id="a set with pads"),
        pytest.param({"flags": WEAK | NO_SET, "terms": (), "profile": bytes(8)}, {"content", "bands"}, id="weak"),
    ],
)
def test_what_is_never_evidence_is_no_clue(changes: dict[str, Any], fields: set[str]) -> None:
    assert set(lookup_keys(replace(WHOLE, **changes))) == fields
