"""The packed value and its look-up values: layout, columns, what is asked for; nothing in it can break a reader."""

import struct
from dataclasses import replace
from typing import Any

import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

from ibidem_ingest.document import Document
from ibidem_ingest.signatures.lookup_keys import LookupField, lookup_keys
from ibidem_ingest.signatures.packed import (
    FULL,
    NO_DATE,
    NO_MINHASH,
    NO_NUMBER,
    NO_SET,
    NO_TERM,
    NO_WORDS,
    WEAK,
    PackedColumns,
    PackedValues,
    guard,
    pack,
    read_length,
    unpack,
)
from ibidem_ingest.signatures.schema import Signatures
from support.packed_verdicts import each_verdict
from support.some import some
from support.windows import SampleWindow, example_settings, windows

STORY = Document("reut-17", "text", date="1987-02-26", source="Reuters", meta={"docket": "86-1", "court": ""})
SIGNED = Signatures(
    length=812,
    shingles=808,
    content="ch4:000102030405060708090a0b0c0d0e0f",
    fingerprint="fp1:" + "ab" * 20,
    weak=False,
    profile="tp1:" + "ef" * 16,
    numbers=3,
    number_sketch=(0, 7, 65535),
    terms=tuple(range(5, 65)),
    full=True,
    slots=tuple(range(1000, 1100)),
    idf="0123456789abcdef",
    words=7,
    signs=65535,
)
WORDLESS = Signatures(0, 0, "ch4:none:reut-17", "", True, "", 0, (), (), False, (), "0123456789abcdef")


@st.composite
def signatures(draw: st.DrawFn) -> Signatures:
    def digits(count: int) -> str:
        return draw(st.binary(min_size=count, max_size=count)).hex()

    if not draw(st.booleans()):
        return WORDLESS
    terms = draw(st.one_of(st.just([]), st.lists(st.integers(0, 2**24 - 1), min_size=20, max_size=60, unique=True)))
    length = draw(st.integers(1, 2**32 - 1))
    sketch = draw(st.lists(st.integers(0, 65535), max_size=min(16, length), unique=True))
    return Signatures(
        length=length,
        shingles=draw(st.integers(1, length)),
        content=f"ch4:{digits(15)}01",
        fingerprint=f"fp1:{digits(20)}",
        weak=draw(st.booleans()),
        profile=f"tp1:{digits(16)}",
        numbers=draw(st.integers(len(sketch), min(length, 255))) if sketch else 0,
        number_sketch=tuple(sorted(sketch)),
        terms=tuple(sorted(terms)),
        full=len(terms) == 60 and draw(st.booleans()),
        slots=tuple(draw(st.lists(st.integers(0, 65535), min_size=100, max_size=100))),
        idf=digits(8),
        words=draw(st.integers(1, 65535)),
        signs=draw(st.integers(0, 65535)),
    )


def test_the_layout_is_the_published_one() -> None:
    value = pack(STORY, replace(SIGNED, title="fed adds reserves", noise=bytes(range(76))))
    expected = (
        struct.pack("<BBIIii", 4, FULL, 812, 808, 2613, 2613)
        + bytes.fromhex("01234567")
        + struct.pack("<HH", 7, 65535)
        + bytes(range(16))
        + b"\xab" * 8
        + b"\xef" * 8
        + struct.pack("<I", xxhash.xxh32_intdigest(b"Reuters"))
        + bytes(4)
        + struct.pack("<I", xxhash.xxh32_intdigest(b"fed adds reserves"))
        + struct.pack("<B16H", 3, 0, 7, 65535, *[0] * 13)
        + struct.pack("<B", 60)
        + b"".join(struct.pack("<I", code)[:3] for code in range(5, 65))
        + struct.pack("<B100H", 100, *range(1000, 1100))
        + struct.pack("<H", 7)
        + b"reut-17"
        + b"n\x01\x4c\x00"
        + bytes(range(76))
    )
    assert value == expected
    assert len(value) == 574


@pytest.mark.slow
@given(signatures(), st.sampled_from(["", "1987", "1987-02-26", "0001-01-01"]), st.text(min_size=1, max_size=20))
@example(SIGNED, "", "é" * 200)
def test_what_was_packed_is_read(value: Signatures, date: str, name: str) -> None:
    document = replace(STORY, id=name.encode(errors="ignore").decode() or "x", date=date)
    packed = some(unpack(pack(document, value)))
    assert (packed.id, packed.length, packed.shingles) == (document.id, value.length, value.shingles)
    assert (packed.terms, packed.slots, packed.numbers) == (value.terms, value.slots, value.numbers)
    assert packed.number_sketch == value.number_sketch
    assert packed.idf.hex() == value.idf[:8]
    assert (packed.words, packed.signs) == (value.words, value.signs)
    assert packed.fingerprint.hex() == (value.fingerprint[4:20] or "0" * 16)
    assert packed.content.hex() == (value.content[4:] if value.length else "0" * 32)
    assert packed.flags == (
        WEAK * value.weak
        + NO_SET * (value.terms == ())
        + NO_MINHASH * (value.slots == ())
        + NO_WORDS * (value.length == 0)
        + FULL * value.full
    )
    assert (packed.date_from == NO_DATE) == (date == "")
    assert packed.date_from <= packed.date_to


NOISE = b"n\x01\x4c\x00" + bytes(range(76))


@pytest.mark.parametrize(
    ("blocks", "noise"),
    [
        (b"", bytes(76)),
        (NOISE, bytes(range(76))),
        (b"a\x01\x02\x00xy" + NOISE + b"z\x07\x00\x00", bytes(range(76))),
        (b"n\x02\x4c\x00" + bytes(76), bytes(76)),
        (b"n\x01\x4b\x00" + bytes(75), bytes(76)),
    ],
)
def test_blocks_that_a_later_version_may_add_are_passed_over(blocks: bytes, noise: bytes) -> None:
    assert some(unpack(pack(STORY, SIGNED) + blocks)).noise == noise


@pytest.mark.parametrize("blocks", [b"n", NOISE[:-1], NOISE + b"x", NOISE + NOISE, b"z\x01\0\0" + NOISE])
def test_bytes_behind_the_id_that_are_no_blocks_are_damage(blocks: bytes) -> None:
    assert unpack(pack(STORY, SIGNED) + blocks) is None
    assert PackedValues.join([pack(STORY, SIGNED) + blocks]).ids == ["reut-17"]
    assert read_length(pack(STORY, SIGNED) + blocks) == SIGNED.length


@each_verdict
def test_a_value_that_no_document_can_have_counts_as_unsigned(value: bytes, is_read: bool) -> None:
    assert (unpack(value) is not None) == is_read


@pytest.mark.parametrize(
    ("names", "meta", "guards"),
    [
        (["docket"], {"docket": "86-1"}, True),
        (["meta.docket"], {"docket": "86-1"}, True),
        (["docket", "court"], {"docket": "86-1", "court": "9th Cir."}, True),
        (["docket", "court"], {"docket": "86-1"}, False),
        (["docket"], {"docket": ""}, False),
        (["docket"], {"docket": None}, False),
        (["source"], {}, True),
        ([], {"docket": "86-1"}, False),
    ],
)
def test_a_missing_field_guards_nothing(names: list[str], meta: dict[str, object], guards: bool) -> None:
    assert any(guard(replace(STORY, meta=meta), names)) == guards


def test_the_guard_tells_values_and_fields_apart() -> None:
    def guarded(docket: object, court: object) -> bytes:
        return guard(replace(STORY, meta={"docket": docket, "court": court}), ["docket", "court"])

    assert len({guarded("a", "b"), guarded("b", "a"), guarded("ab", " "), guarded(1, "b"), guarded("1", "b")}) == 5
    assert guarded({"a": 1, "b": 2}, "x") == guarded({"b": 2, "a": 1}, "x")


@st.composite
def values(draw: st.DrawFn) -> bytes | None:
    """Packed values: whole ones, damaged ones, none."""
    signed = draw(signatures())
    if signed.length:
        noise, title = draw(st.sampled_from([b"", bytes(range(76))])), draw(st.sampled_from(["", "rates"]))
        signed = replace(signed, noise=noise, title=title, titled=bool(title) and draw(st.booleans()))
    document = replace(
        STORY, id=draw(st.sampled_from(["é7", "x"])), date=draw(st.sampled_from(["", "1987", "2001-09-30"]))
    )
    value = bytearray(pack(document, signed, ["docket"]))
    value += draw(st.sampled_from([b"", b"", b"z\x01\x02\x00ab", b"z\x01\x02\x00a"]))
    if draw(st.integers(0, 3)) == 0:
        value[draw(st.integers(0, len(value) - 1))] ^= 1 << draw(st.integers(0, 7))
    cut = draw(st.integers(0, 9)) == 0
    return None if draw(st.integers(0, 9)) == 0 else bytes(value[: len(value) // 2] if cut else value)


@given(st.lists(values(), max_size=5))
def test_columns_hold_what_each_value_says(several: list[bytes | None]) -> None:
    columns = PackedColumns.decode(several)
    assert len(columns) == len(several)
    for row, value in enumerate(several):
        packed = unpack(value) if value is not None else None
        assert columns.unpack_row(row) == packed
        assert bool(columns.is_signed[row]) == (packed is not None)
        if packed is None:
            assert columns.ids[row] == ""
            assert not columns.slots[row].any()
            assert not columns.content[row].any()
            assert columns.terms[row].tolist() == [NO_TERM] * 60
            continue
        filled = [*packed.terms, *[NO_TERM] * (60 - len(packed.terms))]
        assert columns.terms[row].tolist() == filled
        sketch = [*packed.number_sketch, *[NO_NUMBER] * (16 - len(packed.number_sketch))]
        assert columns.number_sketch[row].tolist() == sketch
        assert columns.slots[row].tolist() == list(packed.slots or [0] * 100)
        assert columns.content[row].tobytes() == packed.content
        for name in ("fingerprint", "profile", "source", "guard", "title", "noise"):
            assert getattr(columns, name)[row].tobytes() == getattr(packed, name)
        for name in ("scheme", "flags", "length", "shingles", "date_from", "date_to", "words", "signs", "numbers"):
            assert getattr(columns, name)[row] == getattr(packed, name)
        assert columns.idf[row] == int.from_bytes(packed.idf, "little")
        assert columns.ids[row] == packed.id
        assert (columns.term_count[row], columns.slot_count[row]) == (len(packed.terms), len(packed.slots))


def keys_of(**changes: Any) -> dict[LookupField, list[str]]:
    return lookup_keys([pack(Document("a", "text"), replace(SIGNED, **changes))])[0]


def key(letter: str, value: int) -> str:
    digits = f"{value * 0xC2B2AE3D27D4EB4F % (1 << 64) >> 29:035b}"
    return letter + "".join("0123456789abcdefghijklmnopqrstuv"[int(digits[at : at + 5], 2)] for at in range(0, 35, 5))


def test_a_full_document_is_looked_up_by_everything() -> None:
    keys = keys_of()
    assert keys["content"] == ["ch4:000102030405060708090a0b0c0d0e0f"]
    assert keys["fingerprint"] == ["fp1:abababababababab"]
    assert keys["profile"] == ["tp1:efefefefefefefef"]
    assert keys["rare"][:2] == [key("r", 0x67452301 << 24 | 5), key("r", 0x67452301 << 24 | 6)]
    assert len(keys["rare"]) == 25
    assert len(set(keys["bands"])) == 33


@given(st.binary(min_size=64, max_size=64), st.sampled_from([5, 7, 133]))
def test_a_pair_of_slots_is_its_number_the_slots_the_length_of_the_runs_and_the_table(slots: bytes, run: int) -> None:
    block = slots + bytes([run, 80, 0, 0]) + bytes(8)
    table = 0x67452301 << 32 | run << 24
    pairs = [slots[2 * i] | slots[(2 * i + 5) % 64] << 8 | i << 16 | table for i in range(32)]
    assert keys_of(noise=block)["characters"] == [key("c", pair) for pair in pairs]


@example_settings
@given(windows)
def test_many_at_once_have_the_keys_that_each_has_alone(window: SampleWindow) -> None:
    found = lookup_keys(window.values)
    assert found == [lookup_keys([each])[0] for each in window.values]
    assert [bool(keys) for keys in found] == [bool(each and unpack(each)) for each in window.values]


def test_a_text_without_words_has_only_its_own_content() -> None:
    assert lookup_keys([pack(Document("a", ""), WORDLESS)]) == [{"content": ["ch4:none:a"]}]


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        pytest.param({}, {"content", "fingerprint", "profile", "rare", "bands"}, id="a noise block that says nothing"),
        pytest.param({"full": False}, {"content", "fingerprint", "profile", "bands"}, id="a set with pads"),
        pytest.param({"full": False, "weak": True, "terms": (), "profile": ""}, {"content", "bands"}, id="weak"),
    ],
)
def test_what_is_never_evidence_is_no_clue(changes: dict[str, Any], fields: set[str]) -> None:
    assert set(keys_of(**changes)) == fields
