"""Records next to the index, read back."""

from dataclasses import dataclass, replace

import pytest

from ibidem_engines.errors import DamagedRecord
from ibidem_engines.records import parse_record, values_of_records
from ibidem_engines.sqlite.tables import lookup_values
from ibidem_ingest.signatures.packed import pack
from support.signed_records import make_record

LONG = " ".join(f"word{number}" for number in range(80))


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


def test_several_records_name_the_values_that_each_names_alone() -> None:
    """Short texts, long ones, one without words, one of pages, a weak fingerprint, unsigned and damaged ones."""
    pages = "\f".join(f"page {number} {LONG} {number} and nothing else stands here" for number in range(4))
    records = [make_record(f"d{at}", text) for at, text in enumerate(["grain prices rose", "grain", LONG, "", pages])]
    weak = replace(records[2].signatures, weak=True)
    records += [replace(records[2], packed=pack(records[2].document, weak))]
    records += [replace(records[0], packed=b""), replace(records[4], packed=b"damaged"), records[4]]
    assert values_of_records(records) == [lookup_values(each.packed, each.long) for each in records]
    assert values_of_records([]) == []
