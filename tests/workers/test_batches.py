"""Every document travels once, in batches that are cut by count and size."""

import orjson
from hypothesis import given
from hypothesis import strategies as st
from kombu.utils import json

from ibidem_ingest.document import Document
from ibidem_workers.batches import SerializedDocument, cut, serialize

SIZES = st.lists(st.integers(0, 300), max_size=60)


def serialized(sizes: list[int]) -> list[SerializedDocument]:
    return [serialize(Document(str(number), "x" * size), 1, "a") for number, size in enumerate(sizes)]


@given(SIZES, st.integers(50, 400))
def test_every_document_travels_once_and_in_order(sizes: list[int], characters: int) -> None:
    batches = list(cut(serialized(sizes), characters))
    records = [json.loads(orjson.dumps(body)) for batch in batches for body in batch.body]
    assert [record["id"] for record in records] == [str(at) for at in range(len(sizes))]
    assert [batch.number for batch in batches] == list(range(len(batches)))


@given(SIZES, st.integers(50, 400))
def test_a_batch_holds_no_more_than_it_may_unless_it_is_one_document(sizes: list[int], characters: int) -> None:
    for batch in cut(serialized(sizes), characters):
        assert len(batch.documents) == 1 or sum(each.characters for each in batch.documents) <= characters


def test_a_batch_is_read_no_further_than_it_needs() -> None:
    endless = (serialize(Document("a", "x" * 60), 1, "a") for _ in iter(int, 1))
    assert len(next(cut(endless, 100)).documents) == 1
