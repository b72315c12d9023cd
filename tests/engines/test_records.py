"""Records beside the index, read back."""

from dataclasses import dataclass

import pytest

from ibidem_engines.errors import Damaged
from ibidem_engines.records import parse_record


@dataclass(frozen=True)
class Kept:
    """A record, as any room keeps one."""

    name: str
    count: int = 0
    pair: tuple[str, str] = ("", "")


def test_a_record_is_read_as_it_was_kept() -> None:
    assert parse_record(Kept, {"name": "a", "count": 2, "pair": ["b", "c"]}) == Kept("a", 2, ("b", "c"))


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
    with pytest.raises(Damaged, match=f"kind Kept .*{why}"):
        parse_record(Kept, values)
