"""A search of a real index with its duplicates grouped, also in the order of dates, and the way that it takes."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from ibidem.grouped_search.api import note_lines, search_index, search_window
from ibidem.grouped_search.pages import IndexState, choose_way, decides
from ibidem_dedupe.parameters import parse_request
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine, Record
from ibidem_engines.ledger import GroupCheckpoint
from ibidem_engines.query import parse_query
from ibidem_engines.stored_groups import Coverage, Order
from ibidem_ingest.errors import UsageError
from support.fake_engine import PAGE, FakeEngine
from support.naive_grouping import leaders
from support.signed_records import make_record
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


DATES = {
    "none": "",
    "year": "1987",
    "day": "1987-03-17",
    "evening": "1987-03-17T22:15:00+02:00",
    "morning": "1987-03-17T09:30:00Z",
    "unsigned": "1987-03-17T12:00:00Z",
}


@pytest.fixture
def dated(engine: Engine) -> Engine:
    """An index of which one document is unsigned, and one has neither date nor language."""
    signed = {name: make_record(name, f"grain {name} " * 30, date=date) for name, date in DATES.items()}
    signed["none"] = make_record("none", "grain", language="")
    engine.write([replace(each, packed=b"") if name == "unsigned" else each for name, each in signed.items()])
    return engine


def answer_ordered(engine: Engine, order: Order = "relevance", *filters: str, mode: str = "indent") -> dict[str, Any]:
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
    dated: Engine, order: Order, expected: list[str], mode: str
) -> None:
    response = answer_ordered(dated, order, mode=mode)
    assert [hit["_id"] for hit in response["hits"]["hits"]] == expected
    assert response["dedupe"]["undated"] == 1
    assert "1 result has no known date and comes last" in note_lines(response["dedupe"])


def test_a_condition_on_the_language_says_how_many_results_have_none(dated: Engine) -> None:
    response = answer_ordered(dated, "relevance", "language=en")
    assert response["dedupe"]["without_language"] == 1
    assert note_lines(response["dedupe"]) == ["1 more result has no language, so a condition on it leaves it out"]


CASES = Path(__file__).parents[1] / "plugin" / "golden" / "ways.jsonl"


@pytest.mark.parametrize("line", CASES.read_text(encoding="utf-8").splitlines())
def test_each_case_is_decided_as_it_is_written_down(line: str) -> None:
    case: dict[str, Any] = json.loads(line)
    request = parse_request({name if name == "dedupe" else f"dedupe_{name}": v for name, v in case["request"].items()})
    given = case["state"]
    checkpoint = GroupCheckpoint.from_record(given["checkpoint"])
    coverage = Coverage(given["documents"], given["ungrouped"], given["unsettled"], given["has_content"])
    way = choose_way(request, IndexState(checkpoint, coverage, given["decisions"]))
    assert (way.request.by, way.rule, way.why) == (case["by"], case["rule"], case["why"])
    assert asdict(way.request.policy) == {**case["policy"]}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"dedupe": "indent", "dedupe_by": "window"}, True),
        ({"dedupe": "collapse", "dedupe_by": "window", "dedupe_similarity": "40"}, True),
        ({"dedupe": "off"}, False),
        ({"dedupe": "indent", "dedupe_scope": "matches"}, False),
        ({"dedupe": "indent", "dedupe_by": "stored"}, False),
        ({"dedupe": "indent", "dedupe_by": "window", "dedupe_keep": "latest"}, True),
        ({"dedupe": "indent", "dedupe_keep": "current"}, False),
    ],
)
def test_a_window_is_left_to_the_plugin_and_wider_scopes_are_not(parameters: dict[str, str], expected: bool) -> None:
    assert decides(parse_request(parameters)) == expected
