"""Ids that come twice in a run."""

from hypothesis import given
from hypothesis import strategies as st

from ibidem_workers.submit import SHOWN, SeenIds


@given(st.lists(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), max_size=60))
def test_repeats_are_what_a_set_of_the_ids_counts(ids: list[str]) -> None:
    seen = SeenIds()
    for id_ in ids:
        seen.add(id_)
    repeated = list(dict.fromkeys(id_ for at, id_ in enumerate(ids) if id_ in ids[:at]))
    assert (seen.repeated, seen.repeated_ids) == (len(repeated), repeated[:SHOWN])
