"""Errors of a document and errors of the whole request are distinguished."""

import pytest

from ibidem_engines.cluster.bulk import order_of
from ibidem_engines.cluster.write import field_of


@pytest.mark.parametrize(
    ("reason", "field"),
    [
        ("failed to parse field [meta.pages] of type [long] in document with id 'a'", "meta.pages"),
        ("[1:20] failed to parse field [date] of type [date]", "date"),
        ('Document contains at least one immense term in field="source"', ""),
        ("", ""),
    ],
)
def test_the_field_at_fault_is_read_out_of_the_servers_words(reason: str, field: str) -> None:
    assert field_of(reason) == field


def test_the_first_write_has_an_order_that_is_not_zero() -> None:
    assert (order_of(0), order_of(-1)) == (1, 0)
