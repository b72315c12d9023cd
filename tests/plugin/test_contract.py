"""Searches through the plugin: supported parts, refused parts, and the rest of the response."""

import json
from contextlib import closing
from typing import Any

import pytest

import ibidem
from ibidem_dedupe.overrides import Override
from ibidem_dedupe.parameters import Preset
from ibidem_dedupe.policy import Policy, Slots
from ibidem_engines.connect import open_engine
from ibidem_engines.ledger import save_preset
from plugin.answers import Json, differences, read_account, run_search, through_layer, through_plugin
from plugin.conftest import QUERY
from servers.indices import ask, create_index
from support.wrapped_clients import open_point

pytestmark = pytest.mark.server
INDENT = {"dedupe": "indent"}


def read_refusal(cluster: str, body: Json, index: str = "stories", params: str = "") -> str:
    """The reason for which the server refuses a search; it has to be the caller's fault."""
    with pytest.raises(RuntimeError) as error:
        ask(cluster, "POST", f"/{index}/_search{params}", json.dumps(body))
    assert '"status":400' in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ({"collapse": {"field": "ibidem.content"}}, "collapse cannot be combined with dedupe"),
        ({"sort": ["_score"], "search_after": [1.0]}, "search_after cannot be combined with dedupe"),
        ({"terminate_after": 3}, "terminate_after cannot be combined with dedupe"),
        ({"stored_fields": "_none_"}, "stored_fields=_none_ cannot be combined with dedupe"),
    ],
)
def test_what_does_not_go_with_groups_is_refused_with_the_reason(cluster: str, part: Json, why: str) -> None:
    assert why in read_refusal(cluster, QUERY | part | {"ext": {"ibidem": INDENT}})


def test_a_scroll_is_refused(cluster: str) -> None:
    refusal = read_refusal(cluster, QUERY | {"ext": {"ibidem": INDENT}}, params="?scroll=1m")
    assert "scroll cannot be combined with dedupe" in refusal


@pytest.mark.parametrize(
    ("option", "right"),
    [
        ({"scope": "matches"}, "scope=matches is not supported by the plugin: it needs signatures"),
        ({"level": "same"}, "allowed: identical, near"),
        ({"size": 3}, "the parameters are dedupe, level, keep"),
    ],
)
def test_a_wrong_name_or_value_is_refused_with_the_right_ones(cluster: str, option: Json, right: str) -> None:
    assert right in read_refusal(cluster, QUERY | {"ext": {"ibidem": INDENT | option}})


def test_the_mark_of_the_plugins_own_searches_is_not_for_callers(cluster: str) -> None:
    assert "use ext.ibidem" in read_refusal(cluster, QUERY | {"ext": {"ibidem_window": True}})


def test_off_is_the_servers_own_answer(plain_client: Any) -> None:
    answer = run_search(plain_client, "stories", QUERY | {"ext": {"ibidem": {"dedupe": "off"}}}, {})
    assert answer | {"took": 0} == run_search(plain_client, "stories", dict(QUERY), {}) | {"took": 0}


def test_the_account_says_who_grouped(plain_client: Any) -> None:
    account = read_account(run_search(plain_client, "stories", QUERY | {"ext": {"ibidem": INDENT}}, {}))
    assert account["grouper"].startswith("plugin ")
    assert account["documents"]["in_window"] == account["groups"]["in_window"] + account["duplicates"] > 100


def test_no_hits_are_shown_where_none_are_asked_for_and_groups_are_counted(plain_client: Any) -> None:
    body = QUERY | {"size": 0, "aggs": {"all": {"value_count": {"field": "ibidem.length"}}}}
    answer, whole = (through_plugin(plain_client, "stories", each, INDENT) for each in (body, QUERY))
    assert answer["hits"]["hits"] == []
    assert answer["account"]["groups"]["in_window"] == whole["account"]["groups"]["in_window"] > 0
    assert answer["aggregations"]["all"]["value"] > 0


def test_a_point_in_time_is_ranked_without_naming_its_index(kind: str, plain_client: Any, wrapped_client: Any) -> None:
    body = QUERY | {"pit": {"id": open_point(kind, plain_client, "spread"), "keep_alive": "1m"}}
    expected = through_layer(wrapped_client, "", body, INDENT)
    assert list(differences(expected, through_plugin(plain_client, "", body, INDENT))) == []


def test_a_preset_that_is_stored_with_an_index_is_left_to_the_client(
    cluster: str, wrapped_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = open_engine(cluster, "near")
    save_preset(engine, "loose", Preset(Policy(slots=Slots(20), terms=None, window_days=200), "more than usual"))
    monkeypatch.setenv("IBIDEM_PLUGIN", "auto")
    try:
        response = run_search(wrapped_client, "near", dict(QUERY), {}, dedupe="indent", dedupe_preset="loose")
        assert response["dedupe"]["grouper"] == "client"
    finally:
        engine.delete_records("presets", ["loose"])
        engine.close()


def test_manual_decisions_are_followed_and_reported(cluster: str, plain_client: Any, wrapped_client: Any) -> None:
    """They are kept for five seconds, so the index is one that no other test asks for."""
    first = through_layer(ibidem.wrap(plain_client), "heard", QUERY, INDENT)
    mark, name = next((hit["_dedupe"], hit["_id"]) for hit in first["hits"]["hits"] if hit["_dedupe"]["indent"])
    word = Override(("heard", mark["of"]), ("heard", name), "not", "Ada", "another court", "2026-01-05")
    engine = open_engine(cluster, "heard")
    engine.put_records("overrides", {word.key: word.as_record()})
    try:
        options = INDENT | {"explain": True}
        expected = through_layer(wrapped_client, "heard", QUERY | {"size": 250}, options)
        answer = through_plugin(plain_client, "heard", QUERY | {"size": 250}, options)
        assert "declared not a duplicate" in str(answer)
        assert list(differences(expected, answer)) == []
    finally:
        engine.delete_records("overrides", [word.key])
        engine.close()


def test_the_documents_of_a_copy_under_new_ids_are_unsigned_until_they_are_signed_again(
    cluster: str, plain_client: Any, wrapped_client: Any
) -> None:
    hits = ask(cluster, "POST", "/stories/_search", json.dumps({"size": 40, "query": QUERY["query"]}))["hits"]["hits"]
    create_index(cluster, "copied")
    with closing(open_engine(cluster, "copied")) as engine:
        engine.create()
    lines = [f'{{"index": {{"_id": "new-{at}"}}}}\n{json.dumps(hit["_source"])}\n' for at, hit in enumerate(hits)]
    ask(cluster, "POST", "/copied/_bulk?refresh=true", "".join(lines))
    expected = through_layer(wrapped_client, "copied", QUERY, INDENT)
    answer = through_plugin(plain_client, "copied", QUERY, INDENT)
    assert all(hit["_id"].startswith("new-") for hit in answer["hits"]["hits"])
    assert answer["account"]["unsigned"] == answer["account"]["documents"]["in_window"]
    assert list(differences(expected, answer)) == []


def test_what_was_never_signed_is_a_group_of_its_own_and_the_answer_says_how_to_sign(plain_client: Any) -> None:
    answer = through_plugin(plain_client, "foreign", QUERY | {"size": 50}, INDENT)
    assert answer["account"]["unsigned"] == len(answer["hits"]["hits"]) > 10
    assert answer["account"]["remedy"] == "sign them with: ibidem backfill"


def test_several_searches_in_one_request_are_each_their_own(cluster: str) -> None:
    lines = [{"index": "stories"}, QUERY | {"ext": {"ibidem": INDENT}}, {"index": "stories"}, QUERY]
    lines += [{"index": "stories"}, QUERY | {"ext": {"ibidem": {"dedupe": "hide"}}}]
    body = "".join(json.dumps(line) + "\n" for line in lines)
    grouped, own_answer, wrong = ask(cluster, "POST", "/_msearch", body)["responses"]
    assert "_dedupe" in grouped["hits"]["hits"][0]
    assert "_dedupe" not in own_answer["hits"]["hits"][0]
    assert wrong["status"] == 400
