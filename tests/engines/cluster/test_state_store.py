"""A record that people replace is put in place of what is there, and of nothing that was never read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from ibidem_core.errors import Unavailable
from ibidem_engines.cluster.records import put_in_place
from ibidem_engines.ledger import ATTEMPTS
from ibidem_engines.stored_groups import Ledger, RecordState

Entry = Mapping[str, object]


class Records:
    """A ledger in memory, into which others write some keys each time that it was read."""

    def __init__(self, rivals: Mapping[str, int], there: Mapping[str, Entry]) -> None:
        self.entries: dict[str, Entry] = dict(there)
        self.numbers = Counter(dict.fromkeys(there, 1))
        self.rivals = Counter(rivals)
        self.puts: Counter[str] = Counter()

    def read_states(self, _: Ledger, keys: Sequence[str]) -> tuple[dict[str, Any], dict[str, RecordState]]:
        states = {key: (self.numbers[key], 1) for key in keys if key in self.entries}
        found = {key: self.entries[key] for key in states}
        for key in keys:
            if self.rivals[key] > 0:
                self.rivals[key] -= 1
                self._put(key, {"by": "another"})
        return found, states

    def put_onto(self, _: Ledger, entries: Mapping[str, Entry], states: Mapping[str, RecordState]) -> list[str]:
        self.puts.update(entries.keys())
        late = [key for key in entries if states.get(key, (0, 1)) != (self.numbers[key], 1)]
        for key in entries.keys() - set(late):
            self._put(key, entries[key])
        return late

    def _put(self, key: str, entry: Entry) -> None:
        self.entries[key] = entry
        self.numbers[key] += 1


OURS = {"a": {"by": "us"}, "b": {"by": "us", "at": 2}}


@pytest.mark.parametrize("there", [{}, {"b": {"by": "those before"}, "c": {}}])
@pytest.mark.parametrize(
    ("rivals", "puts"),
    [({}, {"a": 1, "b": 1}), ({"b": 1}, {"a": 1, "b": 2}), ({"a": ATTEMPTS - 1, "b": 3}, {"a": ATTEMPTS, "b": 4})],
)
def test_each_record_is_written_until_nobody_else_has_written_it_meanwhile(
    there: Mapping[str, Entry], rivals: Mapping[str, int], puts: Mapping[str, int]
) -> None:
    records = Records(rivals, there)
    put_in_place(records, "http://cluster", "overrides", OURS)
    assert records.entries == {**there, **OURS}
    assert records.puts == puts


def test_a_record_that_others_write_all_the_time_is_named_and_the_rest_is_written() -> None:
    records = Records({"b": ATTEMPTS}, {})
    with pytest.raises(Unavailable) as caught:
        put_in_place(records, "http://cluster", "overrides", OURS)
    problem = "http://cluster: the record 'b' of the ledger 'overrides' is constantly changed by others"
    assert (caught.value.what, caught.value.remedy) == (problem, "try again once the other process has ended")
    assert (records.entries, records.puts["b"]) == ({"a": OURS["a"], "b": {"by": "another"}}, ATTEMPTS)
