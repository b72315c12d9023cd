"""Records next to the index, read back."""

from dataclasses import replace

from ibidem_engines.records import values_of_records
from ibidem_engines.sqlite.tables import lookup_values
from ibidem_ingest.signatures.packed import pack
from support.signed_records import make_record

LONG = " ".join(f"word{number}" for number in range(80))


def test_several_records_name_the_values_that_each_names_alone() -> None:
    """Short texts, long ones, one without words, one of pages, a weak fingerprint, unsigned and damaged ones."""
    pages = "\f".join(f"page {number} {LONG} {number} and nothing else stands here" for number in range(4))
    records = [make_record(f"d{at}", text) for at, text in enumerate(["grain prices rose", "grain", LONG, "", pages])]
    weak = replace(records[2].signatures, weak=True)
    records += [replace(records[2], packed=pack(records[2].document, weak))]
    records += [replace(records[0], packed=b""), replace(records[4], packed=b"damaged"), records[4]]
    assert values_of_records(records) == [lookup_values(each.packed, each.long) for each in records]
    assert values_of_records([]) == []
