"""Records next to an index, read with checks."""

from dataclasses import dataclass

import pytest

from ibidem_core.errors import DamagedRecord
from ibidem_core.records import parse_record


@dataclass(frozen=True)
class Entry:
    """A record, as any room keeps one."""

    name: str
    count: int = 0
    pair: tuple[str, str] = ("", "")


def test_a_record_is_read_as_it_was_kept() -> None:
    assert parse_record(Entry, {"name": "a", "count": 2, "pair": ["b", "c"]}) == Entry("a", 2, ("b", "c"))


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({}, "name: Field required"),
        ({"name": 1}, "name: .*string"),
        ({"name": "a", "count": "2"}, "count: .*integer"),
        ({"name": "a", "pair": ["b"]}, "pair"),
        ({"name": object()}, "not JSON serializable"),
    ],
)
def test_a_damaged_record_is_named_with_the_field_at_fault_and_never_half_understood(
    values: dict[str, object], why: str
) -> None:
    with pytest.raises(DamagedRecord, match=f"kind Entry .*{why}"):
        parse_record(Entry, values)
