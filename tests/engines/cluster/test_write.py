"""Errors of a document and errors of the whole request are distinguished."""

import pytest

from ibidem_engines.cluster.sequence_numbers import write_order
from ibidem_engines.cluster.write import refused_field


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
    assert refused_field(reason) == field


def test_the_first_write_has_an_order_that_is_not_zero() -> None:
    assert (write_order(0), write_order(-1)) == (1, 0)
