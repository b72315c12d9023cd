"""Of records with the same id in one call one is written, and the others say why they were not."""

from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.records import find_superseded
from support.signed_records import make_record


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3)), max_size=8))
def test_the_newest_version_is_written_and_of_equals_the_latest(calls: list[tuple[str, int]]) -> None:
    records = [make_record(name, version=version) for name, version in calls]
    outcomes = find_superseded(records)
    for name in {name for name, _ in calls}:
        (winner,) = [at for at, record in enumerate(records) if record.document.id == name and at not in outcomes]
        ranks = [(record.version, at) for at, record in enumerate(records) if record.document.id == name]
        assert (records[winner].version, winner) == max(ranks)
