"""A list by date goes by times, has unsigned documents in their place, and says what it could not place."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ibidem.grouped_search.api import search_window
from ibidem.grouped_search.explanations import advice
from ibidem.grouped_search.response import Json
from ibidem_dedupe.request import parse_request
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_engines.stored_groups import Order
from support.signed_records import make_record

DATES = {
    "none": "",
    "year": "1987",
    "day": "1987-03-17",
    "evening": "1987-03-17T22:15:00+02:00",
    "morning": "1987-03-17T09:30:00Z",
    "unsigned": "1987-03-17T12:00:00Z",
}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Engine]:
    """An index of which one document is unsigned, and one has neither date nor language."""
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", "news")
    engine.create()
    signed = {name: make_record(name, f"grain {name} " * 30, date=date) for name, date in DATES.items()}
    signed["none"] = make_record("none", "grain", language="")
    engine.write([replace(each, packed=b"") if name == "unsigned" else each for name, each in signed.items()])
    yield engine
    engine.close()


def answer(engine: Engine, order: Order = "relevance", *filters: str, mode: str = "indent") -> Json:
    request = parse_request({"dedupe": mode})
    return search_window(engine, parse_query("grain", filters), request, order=order).response


@pytest.mark.parametrize("mode", ["indent", "off"])
@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("newest", ["year", "evening", "unsigned", "morning", "day", "none"]),
        ("oldest", ["year", "day", "morning", "unsigned", "evening", "none"]),
    ],
)
def test_a_window_goes_by_times_and_says_what_has_no_date(
    library: Engine, order: Order, expected: list[str], mode: str
) -> None:
    response = answer(library, order, mode=mode)
    assert [hit["_id"] for hit in response["hits"]["hits"]] == expected
    assert response["dedupe"]["undated"] == 1
    assert "1 result has no known date and comes last" in advice(response)


def test_a_condition_on_the_language_says_how_many_results_have_none(library: Engine) -> None:
    response = answer(library, "relevance", "language=en")
    assert response["dedupe"]["without_language"] == 1
    assert advice(response) == ["1 more result has no language, so a condition on it leaves it out"]


def test_without_such_a_condition_or_order_nothing_is_counted(library: Engine) -> None:
    assert not {"undated", "without_language"} & answer(library)["dedupe"].keys()
