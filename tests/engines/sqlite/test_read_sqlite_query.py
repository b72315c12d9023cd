"""Queries as FTS5 expressions and SQL conditions."""

from ibidem_engines.query import Filter, Query
from ibidem_engines.sqlite.read import conditions


def test_values_are_bound_and_never_written_into_a_statement() -> None:
    evil = "' or 1=1 --"
    for field in ("source", "id", f"meta.{evil}"):
        condition = conditions(Query(filters=(Filter(field, evil),)))
        assert evil not in condition.sql
        assert evil in condition.values
