"""Queries as FTS5 expressions and SQL conditions."""

import pytest

from ibidem_engines.query import Filter, Phrase, Query, parse_query
from ibidem_engines.sqlite.fts_query import conditions, expression


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("grain", '("grain")'),
        ("a OR b c", '("a" OR "b") AND ("c")'),
        ('a "b c" -d -"e f"', '("a") AND ("b c") NOT ("d" OR "e f")'),
        ("title:a b*", '(title : "a") AND ("b" *)'),
        ("a OR (b c -d)", '("a" OR (("b") AND ("c") NOT ("d")))'),
        ("NEAR(a* b:c", '("NEAR(a") AND ("b:c")'),
    ],
)
def test_words_become_phrases_in_quotation_marks(typed: str, expected: str) -> None:
    assert expression(parse_query(typed)) == expected


def test_a_quotation_mark_inside_a_phrase_ends_nothing() -> None:
    assert expression(Query(all_of=((Phrase('a" OR "b\0'),),))) == '("a  OR  b ")'


@pytest.mark.parametrize("query", [None, Query(), Query(none_of=(Phrase("a"),))])
def test_without_words_there_is_no_expression(query: Query | None) -> None:
    assert expression(query) == ""


def test_one_field_is_any_of_its_values_and_fields_are_all_asked_for() -> None:
    filters = (Filter("source", "AP"), Filter("language", "en"), Filter("source", "UPI"))
    condition = conditions(Query(filters=filters))
    assert condition.sql == " and (d.source = ? or d.source = ?) and (d.language = ?)"
    assert condition.values == ("AP", "UPI", "en")


@pytest.mark.parametrize("field", ["id", "thread", "meta.references"])
def test_any_number_of_values_is_one_condition(field: str) -> None:
    one, two, many = (
        conditions(Query(filters=tuple(Filter(field, f"{at}") for at in range(count)))) for count in (1, 2, 2_000)
    )
    assert many.sql == two.sql != one.sql
    assert [len(each.values) for each in (two, many)] == [len(one.values)] * 2


def test_values_are_bound_and_never_written_into_a_statement() -> None:
    evil = "' or 1=1 --"
    for field in ("source", "id", f"meta.{evil}"):
        condition = conditions(Query(filters=(Filter(field, evil),)))
        assert evil not in condition.sql
        assert evil in condition.values


def test_no_filters_are_no_conditions() -> None:
    assert conditions(None) == conditions(Query())
    assert conditions(parse_query("a -b")).sql == ""
