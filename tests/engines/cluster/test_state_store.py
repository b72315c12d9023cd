"""A record that people replace is put in place of what is there, and of nothing that was never read."""

from unittest.mock import Mock, call

import pytest

from ibidem_core.errors import Unavailable
from ibidem_engines.cluster.records import put_in_place
from ibidem_engines.ledger import ATTEMPTS

OURS = {"a": {"by": "us"}, "b": {"by": "us", "at": 2}}
# What is read of the two: at first that of one is there; others write it meanwhile.
STATES = ({}, {"b": (1, 1)}), ({}, {"b": (2, 1)})


@pytest.mark.parametrize("late", [0, 1, ATTEMPTS - 1])
def test_each_record_is_written_until_nobody_else_has_written_it_meanwhile(late: int) -> None:
    store = Mock()
    store.read_states.side_effect = [STATES[0], *[STATES[1]] * late]
    store.put_onto.side_effect = [*[["b"]] * late, []]
    put_in_place(store, "http://cluster", "overrides", OURS)
    first = [call.read_states("overrides", ["a", "b"]), call.put_onto("overrides", OURS, STATES[0][1])]
    again = [call.read_states("overrides", ["b"]), call.put_onto("overrides", {"b": OURS["b"]}, STATES[1][1])]
    assert store.mock_calls == first + again * late


def test_a_record_that_others_write_all_the_time_is_named_and_the_rest_is_written() -> None:
    store = Mock()
    store.read_states.return_value = STATES[0]
    store.put_onto.return_value = ["b"]
    with pytest.raises(Unavailable) as caught:
        put_in_place(store, "http://cluster", "overrides", OURS)
    problem = "http://cluster: the record 'b' of the ledger 'overrides' is constantly changed by others"
    assert (caught.value.what, caught.value.remedy) == (problem, "try again once the other process has ended")
    assert [set(each.args[1]) for each in store.put_onto.call_args_list] == [{"a", "b"}, *[{"b"}] * (ATTEMPTS - 1)]
