"""A lead names all that it stands for, and metadata of any type do no harm."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from ibidem.retrieval.passages import leads_of, passage

RENT = "The tenant shall pay the rent on the first day of each month, in advance and without demand."
KEYS = "The tenant shall hand the keys over to the landlord on the last day of the lease, at noon."


def noted(name: str, **more: str) -> dict[str, str]:
    return {"id": name, "level": "near", "reason": "", **more}


def leads(
    *found: tuple[str, str, dict[str, Any]], keep: str = "rank"
) -> list[tuple[str, list[tuple[str, str | None]]]]:
    """Return each lead with the ids of its duplicates and what these belong to."""
    passages = [passage(text, metadata, None, "date") for _, text, metadata in found]
    known = [(name, metadata) for name, _, metadata in found]
    return [
        (known[lead][0], [(each["id"], each.get("of")) for each in duplicates])
        for lead, duplicates in leads_of(passages, known, None, "en", keep)
    ]


def test_a_lead_keeps_what_a_retriever_noted_of_it_and_of_those_that_are_left_out() -> None:
    found = leads(
        ("a", RENT, {"duplicates": [noted("copy of a")]}),
        ("b", RENT, {"duplicates": [noted("copy of b"), noted("window of b", of="next")]}),
        ("c", KEYS, {"duplicates": [noted("copy of c")]}),
    )
    expected = [("b", None), ("copy of a", None), ("copy of b", "b"), ("window of b", "next")]
    assert found == [("a", expected), ("c", [("copy of c", None)])]


def test_a_duplicate_is_named_once_and_a_lead_is_not_its_own() -> None:
    found = leads(
        ("a", RENT, {"date": "2020", "duplicates": [noted("b"), noted("c")]}),
        ("b", RENT, {"date": "2024", "duplicates": [noted("c")]}),
        keep="latest",
    )
    assert found == [("b", [("a", None), ("c", None)])]


@pytest.mark.parametrize("value", ["two", 7, None, ["x"], [{"id": 7}], {"id": "b"}])
def test_a_field_of_the_same_name_that_holds_no_duplicates_is_passed_over(value: Any) -> None:
    assert leads(("a", RENT, {"duplicates": value})) == [("a", [])]


@pytest.mark.parametrize(
    "value", [20240501, 1714521600, 17.5, "May 1, 2024", "2024-13", ["x"], {"y": 1}, True, None, b"2024"]
)
def test_a_value_that_is_no_date_fails_no_retrieval(value: Any) -> None:
    assert leads(("a", RENT, {"date": value}), ("b", KEYS, {"date": "2024"}), keep="latest") == [("a", []), ("b", [])]


@pytest.mark.parametrize(
    "value", [date(2024, 5, 1), datetime(2024, 5, 1, 3, 4, tzinfo=UTC), "2024-05-01T03:04:00Z", "2024"]
)
def test_dates_of_each_form_choose_the_latest(value: Any) -> None:
    found = leads(("a", RENT, {"date": "2023"}), ("b", RENT, {"date": value}), keep="latest")
    assert found == [("b", [("a", None)])]
