"""A search of a real index with its duplicates grouped."""

from typing import Any

import pytest

from ibidem.grouped_search.api import search_index, search_window
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.request import parse_request
from ibidem_engines.engine import Engine, Record
from ibidem_engines.query import parse_query
from ibidem_engines.stored_groups import Order
from ibidem_ingest.errors import UsageError
from support.fake_engine import PAGE, FakeEngine
from support.naive_grouping import leaders
from support.windows import SampleWindow, make_window

QUERY = parse_query("said")


def answer(engine: Engine, page: int = 1, size: int = 10, mode: str = "indent", **options: object) -> dict[str, Any]:
    parameters = {"dedupe": mode, **{f"dedupe_{name}": each for name, each in options.items()}}
    return search_index(engine, QUERY, parse_request(parameters), page, size)


def ids(response: dict[str, Any]) -> list[str]:
    return [hit["_id"] for hit in response["hits"]["hits"]]


@pytest.mark.slow
def test_the_groups_of_a_real_index_are_those_of_the_plain_loop_over_its_ranking(
    library: Engine, records: list[Record]
) -> None:
    ranking = ids(answer(library, size=len(records), mode="off"))
    packed = {each.document.id: each.packed for each in records}
    leads = leaders(SampleWindow([packed[name] for name in ranking]), Policy())
    expected = [name for row in sorted(set(leads)) for name, lead in zip(ranking, leads, strict=True) if lead == row]
    assert ids(answer(library, size=len(records))) == expected
    assert len(set(leads)) < len(ranking)


@pytest.mark.slow
def test_duplicates_beyond_the_window_are_found_by_look_up_in_a_real_index(
    library: Engine, records: list[Record]
) -> None:
    full_answer = answer(library, size=len(records))
    groups: dict[str, set[str]] = {}
    for hit in full_answer["hits"]["hits"]:
        groups.setdefault(hit["_dedupe"]["group"], set()).add(hit["_id"])
    count_beyond = 0
    for page in range(1, 40):
        small_window = answer(library, page, size=1, window=1, scope="matches")
        assert set(ids(small_window)) == groups[small_window["hits"]["hits"][0]["_dedupe"]["group"]]
        count_beyond += small_window["dedupe"]["found_by_scope"]
    assert count_beyond > 0


def test_pages_with_the_cursor_of_the_first_see_its_ranking(library: Engine) -> None:
    first = answer(library)
    next_page = answer(library, page=2, cursor=first["dedupe"]["cursor"])
    assert ids(next_page) == ids(answer(library, page=2))
    with pytest.raises(UsageError):
        answer(library, level="identical", cursor=first["dedupe"]["cursor"])


@pytest.mark.parametrize(("page", "size"), [(0, 10), (1, 0), (1001, 10)])
def test_a_page_that_no_window_reaches_is_refused(library: Engine, page: int, size: int) -> None:
    with pytest.raises(UsageError):
        answer(library, page=page, size=size)


def test_manual_decisions_kept_next_to_the_index_are_followed() -> None:
    window = make_window(11, 40)
    engine = FakeEngine(window)
    hits = answer(engine, size=40)["hits"]["hits"]
    second = next(at for at, hit in enumerate(hits) if hit["_dedupe"]["indent"])
    pair = [["news", hits[at]["_id"]] for at in (second - 1, second)]
    engine.put_records("overrides", {"pair": {"a": pair[0], "b": pair[1], "verdict": "not"}})
    groups = {hit["_id"]: hit["_dedupe"]["group"] for hit in answer(engine, size=40)["hits"]["hits"]}
    assert groups[pair[0][1]] != groups[pair[1][1]]
    response = search_index(engine, PAGE, parse_request({"dedupe": "indent"}), 1, 40, overrides=[])
    assert ids(response) == [hit["_id"] for hit in hits]


@pytest.mark.parametrize(("order", "first"), [("newest", True), ("oldest", False)])
def test_a_window_may_be_put_in_the_order_of_dates(library: Engine, order: Order, first: bool) -> None:
    request = parse_request({"dedupe": "indent", "dedupe_level": "identical"})
    window = search_window(library, QUERY, request, size=500, order=order)
    result = search_index(library, QUERY, request, size=500)
    leads = [hit["_source"] for hit in window.response["hits"]["hits"] if not hit["_dedupe"]["indent"]]
    dates = [lead["date"][:10] for lead in leads if "date" in lead]
    assert dates == sorted(dates, reverse=first)
    assert all("date" not in lead for lead in leads[len(dates) :])
    assert {hit["_id"] for hit in window.response["hits"]["hits"]} == {hit["_id"] for hit in result["hits"]["hits"]}
    assert window.window is not None
