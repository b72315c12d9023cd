"""A hit is read out of its packed value alone, whichever of the two servers wrote it."""

import base64

import pytest

from ibidem_engines.cluster.ranking import read_hit, read_hits
from support.signed_records import make_record

PACKED = make_record("a").packed


def answer(**hit: object) -> dict[str, object]:
    return {"hits": {"hits": [{"_index": "news", "_score": 1.5, **hit}]}}


@pytest.mark.parametrize(
    "packed_value",
    [base64.b64encode(PACKED).decode(), base64.urlsafe_b64encode(PACKED).decode().rstrip("=")],
    ids=["elasticsearch", "opensearch"],
)
def test_id_and_signatures_come_from_the_packed_value(packed_value: str) -> None:
    (hit,) = read_hits(answer(fields={"ibidem.packed": [packed_value]}, _seq_no=6, sort=[1.5]))
    assert (hit.index, hit.id, hit.score, hit.packed, hit.order, hit.sort) == ("news", "a", 1.5, PACKED, 7, (1.5,))


@pytest.mark.parametrize("more", [{}, {"_id": "copy"}, {"_seq_no": 6}, {"sort": [1.5, "a"]}, {"_score": None}])
@pytest.mark.parametrize("value", [PACKED, b"damaged", None])
def test_one_hit_is_read_as_those_of_a_window_are(value: bytes | None, more: dict[str, object]) -> None:
    packed_value = {} if value is None else {"ibidem.packed": [base64.b64encode(value).decode()]}
    response = answer(**{"_id": "a", "fields": packed_value, **more})
    (hit,) = response["hits"]["hits"]  # type: ignore[index] # as made above
    assert [read_hit(hit, 2)] == list(read_hits(response))


def test_the_servers_own_id_goes_before_the_one_that_was_packed() -> None:
    packed_value = base64.b64encode(PACKED).decode()
    assert read_hits(answer(_id="copy", fields={"ibidem.packed": [packed_value]}))[0].id == "copy"


@pytest.mark.parametrize("fields", [{}, {"ibidem.packed": [base64.b64encode(b"damaged").decode()]}])
def test_a_hit_without_readable_signatures_has_no_name(fields: dict[str, object]) -> None:
    assert not read_hits(answer(fields=fields)).ids.complete
