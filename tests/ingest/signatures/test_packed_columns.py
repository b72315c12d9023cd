"""Many packed values as columns: what one by one would read."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.document import Document
from ibidem_ingest.signatures.packed import NO_MINHASH, NO_SET, NO_WORDS, WEAK, pack, unpack
from ibidem_ingest.signatures.packed_columns import NO_NUMBER, NO_TERM, PackedColumns
from ibidem_ingest.signatures.schema import Signatures
from support.packed_verdicts import each_verdict


@st.composite
def values(draw: st.DrawFn) -> bytes | None:
    """Packed values: whole ones, damaged ones, none."""
    seed = draw(st.integers(0, 10_000))
    numbers = np.random.default_rng(seed)
    size = draw(st.sampled_from([0, 20, 59, 60]))
    words = draw(st.booleans())
    figures = draw(st.sampled_from([0, 1, 5, 16])) if words else 0
    signatures = Signatures(
        length=seed + 20 if words else 0,
        shingles=seed + 1 if words else 0,
        content=f"ch4:{numbers.bytes(16).hex()}" if words else "ch4:none:x",
        fingerprint=f"fp1:{numbers.bytes(20).hex()}" if words else "",
        weak=draw(st.booleans()),
        profile=f"tp1:{numbers.bytes(16).hex()}" if draw(st.booleans()) else "",
        numbers=figures,
        number_sketch=tuple(sorted(numbers.choice(1 << 16, figures, replace=False).tolist())),
        terms=tuple(sorted(numbers.choice(1 << 20, size, replace=False).tolist())) if words else (),
        full=words and size == 60,
        slots=tuple(numbers.integers(0, 1 << 16, 100).tolist()) if words else (),
        idf=numbers.bytes(8).hex(),
    )
    date = draw(st.sampled_from(["", "1987", "2001-09-30"]))
    if words:
        signatures = replace(signatures, title=draw(st.sampled_from(["", "rates"])))
        noise = draw(st.sampled_from([b"", numbers.bytes(76)]))
        signatures = replace(signatures, noise=noise, titled=bool(signatures.title) and draw(st.booleans()))
    value = bytearray(pack(Document(f"é{seed}", "", date=date, source="Reuters", meta={"d": seed}), signatures, ["d"]))
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


@given(st.lists(st.binary(max_size=600), max_size=4))
def test_no_values_can_break_the_columns(several: list[bytes]) -> None:
    columns = PackedColumns.decode(several)
    assert columns.is_signed.tolist() == [unpack(value) is not None for value in several]


@each_verdict
def test_columns_refuse_what_no_document_can_have(value: bytes, is_read: bool) -> None:
    assert PackedColumns.decode([value]).is_signed.tolist() == [is_read]


def test_an_empty_window_has_empty_columns() -> None:
    columns = PackedColumns.decode([])
    assert len(columns) == 0
    assert columns.terms.shape == (0, 60)
    assert columns.slots.shape == (0, 100)


def test_flags_are_read_by_their_bits() -> None:
    wordless = Signatures(0, 0, "ch4:none:a", "", True, "", 0, (), (), False, (), "")
    columns = PackedColumns.decode([pack(Document("a", ""), wordless)])
    assert columns.flags.tolist() == [WEAK | NO_SET | NO_MINHASH | NO_WORDS]


@given(st.lists(values(), max_size=4))
def test_columns_that_are_decoded_once_one_is_asked_for_hold_the_same(packed_values: list[bytes | None]) -> None:
    at_once = PackedColumns.decode(packed_values)
    for name in PackedColumns.__slots__:
        later = PackedColumns.decode_lazily(packed_values)
        assert [later.unpack_row(row) for row in range(len(packed_values))] == [
            at_once.unpack_row(row) for row in range(len(packed_values))
        ]
        assert np.array_equal(np.array(getattr(later, name)), np.array(getattr(at_once, name)))
