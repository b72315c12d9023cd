"""Ids that come twice in a run."""

from hypothesis import given
from hypothesis import strategies as st

from ibidem_workers.submit import SHOWN, SeenIds

IDS = st.lists(st.lists(st.sampled_from("abcdefghijkl"), max_size=20), max_size=12)


@given(IDS)
def test_repeats_are_what_a_set_of_the_ids_counts(batches: list[list[str]]) -> None:
    repeats, ids, count = SeenIds(), set[str](), 0
    for batch in batches:
        repeats.add(batch)
        for record in batch:
            count += record in ids
            ids.add(record)
    assert repeats.count == count
    assert len(repeats.ids) == min(count, SHOWN)
    assert set(repeats.ids) <= ids


def test_many_ids_take_eight_bytes_each() -> None:
    repeats = SeenIds()
    for start in range(0, 200_000, 1_000):
        repeats.add([f"id-{number}" for number in range(start, start + 1_000)])
    assert sum(run.nbytes for run in repeats._runs) == 8 * 200_000
    assert len(repeats._runs) <= 10
    repeats.add(["id-0", "id-199999", "other"])
    assert repeats.ids == ["id-0", "id-199999"]
