"""Cutting documents into batches."""

from hypothesis import given
from hypothesis import strategies as st

from ibidem_workers.batches import MOST_DOCUMENTS, Batch, cut, serialize

SIZES = st.lists(st.integers(0, 300), max_size=60)


def records(sizes: list[int]) -> list[dict[str, object]]:
    return [{"id": str(number), "text": "x" * size} for number, size in enumerate(sizes)]


@given(SIZES, st.integers(50, 400))
def test_every_document_travels_once_and_in_order(sizes: list[int], characters: int) -> None:
    batches = list(cut(map(serialize, records(sizes)), characters))
    assert [record["id"] for batch in batches for record in batch.records] == [str(at) for at in range(len(sizes))]
    assert [batch.number for batch in batches] == list(range(len(batches)))


@given(SIZES, st.integers(50, 400))
def test_a_batch_holds_no_more_than_it_may_unless_it_is_one_document(sizes: list[int], characters: int) -> None:
    for batch in cut(map(serialize, records(sizes)), characters):
        assert len(batch.records) == 1 or sum(len(str(record["text"])) for record in batch.records) <= characters


def test_fields_beside_the_text_fill_a_batch_too() -> None:
    long = [{"id": str(number), "text": "x", "meta": {"note": "n" * 300}} for number in range(4)]
    assert [len(batch.records) for batch in cut(map(serialize, long), 100)] == [1, 1, 1, 1]


def test_documents_without_words_fill_a_batch_by_their_number() -> None:
    batches = list(cut((serialize({"id": str(at), "text": ""}) for at in range(MOST_DOCUMENTS + 1)), 5_000_000))
    assert [len(batch.records) for batch in batches] == [MOST_DOCUMENTS, 1]


def test_a_batch_is_read_no_further_than_it_needs() -> None:
    endless = (serialize({"id": "a", "text": "x" * 60}) for _ in iter(int, 1))
    assert len(next(cut(endless, 100)).records) == 1


def test_single_documents_keep_the_number_of_their_batch() -> None:
    singles = Batch(3, records([1, 1])).singles()
    assert [one.key("run") for one in singles] == ["run/00000003/000000", "run/00000003/000001"]
    assert [one.records[0]["id"] for one in singles] == ["0", "1"]
