"""A window that is read in columns holds what reading it hit by hit gives."""

import base64
from binascii import a2b_base64
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.cluster import lookup
from ibidem_engines.cluster.index import write_order
from ibidem_engines.cluster.lookup import read_hits
from ibidem_engines.stored_groups import Hit, HitNames, read_packed
from ibidem_ingest.signatures.packed import read_id
from support.signed_records import make_record

VALUES = [make_record(name).packed for name in ("a", "b", "é1", "reuters-12345", "x" * 70)]


def read_plainly(answer: Mapping[str, Any]) -> list[Hit]:
    return [make_hit(hit) for hit in answer["hits"]["hits"]]


def make_hit(hit: Mapping[str, Any]) -> Hit:
    values = hit.get("fields", {}).get("ibidem.packed")
    try:
        packed = a2b_base64(f"{values[0]}==".replace("-", "+").replace("_", "/")) if values else None
    except ValueError:
        packed = None
    if "_id" in hit and not (packed and read_id(packed) == hit["_id"]):  # it is of another document, or of none
        packed = None
    return Hit(
        hit["_index"],
        hit.get("_id") or (read_id(packed) if packed else ""),
        hit.get("_score") or 0.0,
        packed,
        write_order(hit["_seq_no"]) if "_seq_no" in hit else 0,
        tuple(hit["sort"]) if "sort" in hit else (),
    )


@st.composite
def packed_values(draw: st.DrawFn) -> bytes:
    """Packed values: whole ones, of an earlier scheme, damaged, cut, none at all."""
    value = bytearray(draw(st.sampled_from(VALUES)))
    if draw(st.booleans()):
        value[:] = b"\x01" + value[1:74] + value[154:]
    if draw(st.integers(0, 3)) == 0:
        value[draw(st.integers(0, len(value) - 1))] ^= 1 << draw(st.integers(0, 7))
    return bytes(value[: draw(st.integers(0, len(value)))] if draw(st.integers(0, 5)) == 0 else value)


@st.composite
def fields(draw: st.DrawFn) -> dict[str, Any]:
    """Forms of a packed value in answers: as OpenSearch, as Elasticsearch, missing, or no base64."""
    value = draw(packed_values())
    hits_by_row, safe = base64.b64encode(value).decode(), base64.urlsafe_b64encode(value).decode().rstrip("=")
    packed_value = draw(
        st.one_of(
            st.sampled_from([hits_by_row, safe]),
            st.sampled_from([safe, safe[:-1], hits_by_row + "=", "=", "", "é", "a b=c", safe[:40] + "==" + safe[40:]]),
            st.text("AZaz09+/-_= \né", max_size=9),
        )
    )
    wrong: list[dict[str, Any]] = [{}, {"fields": {}}, {"fields": {"ibidem.packed": []}}]
    return draw(st.sampled_from([{"fields": {"ibidem.packed": [packed_value]}}] * 9 + wrong))


@st.composite
def answers(draw: st.DrawFn) -> dict[str, Any]:
    """Answers with hits of several indexes, with or without ids, numbers of writes and sort values."""
    ids, numbered_runs, sorted_by = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    hits = []
    for at in range(draw(st.integers(0, 8))):
        hit: dict[str, Any] = {"_index": draw(st.sampled_from(["news", "olds"])), **draw(fields())}
        hit["_score"] = None if sorted_by else draw(st.sampled_from([2.5, 1.0, 0.0]))
        if ids:
            hit["_id"] = draw(st.sampled_from(["a", "b", "é", "a\0", "copy" * 20]))
        if numbered_runs:
            hit["_seq_no"] = at
        if sorted_by:
            hit["sort"] = [draw(st.integers(0, 3)), "x"]
        hits.append(hit)
    return {"hits": {"hits": hits}}


@pytest.fixture(params=["pybase64", "binascii"], scope="module")
def _decoder(request: pytest.FixtureRequest) -> Iterator[None]:
    """Decode with the library that may be installed, and without it."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "binascii":
            patch.setattr(lookup, "FAST_BASE64", None)
        else:
            pytest.importorskip("pybase64")
        yield


@pytest.mark.usefixtures("_decoder")
@given(answers())
def test_columns_hold_what_each_hit_says(answer: dict[str, Any]) -> None:
    hits_by_row, columns = read_plainly(answer), read_hits(answer)
    assert list(columns) == hits_by_row
    assert list(HitNames(columns)) == [(hit.index, hit.id) for hit in hits_by_row]
    assert list(read_packed(columns)) == list(read_packed(hits_by_row)) == [hit.packed for hit in hits_by_row]
    assert columns.ids.complete == all(hit.id for hit in hits_by_row)


@given(answers(), st.integers(0, 8))
def test_columns_are_cut_and_put_in_order_as_hits_are(answer: dict[str, Any], size: int) -> None:
    hits_by_row, columns = read_plainly(answer), read_hits(answer)
    ranked = sorted(hits_by_row, key=lambda hit: (-hit.score, hit.index, hit.id))
    assert list(columns.sort()) == ranked
    assert list(columns.sort()[:size]) == ranked[:size]
    assert list(columns[size:]) == hits_by_row[size:]


@pytest.mark.parametrize("equal", ["news-10", "news-9"])
def test_ids_of_equal_scores_are_ordered_as_text_is(equal: str) -> None:
    names = [equal, "news-100000", "news-1", "a", "news-10000000000", equal + "\0"]
    hits = [{"_index": "news", "_id": name, "_score": 1.0} for name in names]
    assert [hit.id for hit in read_hits({"hits": {"hits": hits}}).sort()] == sorted(names)
