"""A cursor belongs to one index and one query, and what is none is said to be none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.cluster.ranking import Cursor, read_cursor, read_newest, write_cursor
from ibidem_engines.query import Query, parse_query
from ibidem_ingest.errors import UsageError

GRAIN = parse_query("grain")


@pytest.mark.parametrize("cursor", [Cursor(newest=17), Cursor(newest=-1), Cursor(point="abc=")])
def test_a_cursor_is_read_as_it_was_written(cursor: Cursor) -> None:
    assert read_cursor(write_cursor(cursor, "news", GRAIN), "news", GRAIN) == cursor


def test_the_same_meaning_has_the_same_cursor_however_it_was_typed() -> None:
    assert read_cursor(write_cursor(Cursor(3), "news", GRAIN), "news", parse_query("  grain ")) == Cursor(3)


@pytest.mark.parametrize(
    ("index", "query", "why"),
    [
        ("law", GRAIN, "another index"),
        ("news", parse_query("wheat"), "another query"),
        ("news", parse_query("grain", ["source=AP"]), "other filters"),
        ("news", Query(native={"match": {}}), "another query"),
    ],
)
def test_a_cursor_of_something_else_is_refused(index: str, query: Query, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read_cursor(write_cursor(Cursor(3), "news", GRAIN), index, query)


@given(st.text())
def test_what_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="none that a search has given"):
        read_cursor(text, "news", GRAIN)


def test_where_nothing_matched_nothing_is_let_in_later() -> None:
    assert read_newest({"aggregations": {"ibidem": {"value": None}}}) == -1
