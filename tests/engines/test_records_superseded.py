"""Of records with the same id in one turn one is written; those of other origins wait for a turn of their own."""

from dataclasses import replace
from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.records import divide_by_origin, find_superseded
from support.signed_records import make_record


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3)), max_size=8))
def test_the_newest_version_is_written_and_of_equals_the_latest(calls: list[tuple[str, int]]) -> None:
    records = [make_record(name, version=version) for name, version in calls]
    outcomes = find_superseded(records)
    for name in {name for name, _ in calls}:
        (winner,) = [at for at, record in enumerate(records) if record.document.id == name and at not in outcomes]
        ranks = [(record.version, at) for at, record in enumerate(records) if record.document.id == name]
        assert (records[winner].version, winner) == max(ranks)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(("", "/x", "/y"))), max_size=8))
def test_turns_keep_the_order_of_an_id_and_hold_one_origin_of_it(calls: list[tuple[str, str]]) -> None:
    documents = [replace(make_record(name).document, origin=origin) for name, origin in calls]
    turns = divide_by_origin([replace(make_record("a"), document=document) for document in documents])
    assert sorted(at for turn in turns for at in turn) == list(range(len(calls)))
    for name in "ab":
        places = [[at for at in turn if calls[at][0] == name] for turn in turns]
        assert list(chain.from_iterable(places)) == [at for at, call in enumerate(calls) if call[0] == name]
        assert all(len({calls[at][1] for at in turn}) <= 1 for turn in places)
