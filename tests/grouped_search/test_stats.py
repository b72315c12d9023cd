"""The account of an answer, its facets, and a list by date."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ibidem.grouped_search.api import search_window
from ibidem.grouped_search.explanations import advice
from ibidem.grouped_search.response import Json, count_facets
from ibidem.grouped_search.window import Window
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.request import parse_request
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record
from ibidem_engines.query import parse_query
from ibidem_engines.stored_groups import Hit, Order
from support.signed_records import make_record


def make_window(records: list[Record]) -> Window:
    hits = [Hit("i", each.document.id, 1.0, each.packed) for each in records]
    return Window.group([*hits, Hit("i", "unsigned", 1.0, None)], Policy())


def test_each_source_has_its_documents_and_the_groups_that_they_belong_to(records: list[Record]) -> None:
    window = make_window(records)
    expected: dict[str, list[int]] = defaultdict(list)
    for row, each in enumerate(records):
        if each.document.source:
            expected[each.document.source].append(int(window.grouping.lead[row]))
    sources = {each.document.id: each.document.source for each in records}
    assert {sources[name]: counts for (_, name), *counts in count_facets(window).sources} == {
        name: [len(leads), len(set(leads))] for name, leads in expected.items()
    }


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
