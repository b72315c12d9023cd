"""Wrapped clients let the plugin group where the cluster has it, with the same answers."""

from typing import Any

import pytest

from ibidem_ingest.errors import UsageError
from plugin.answers import Json, differences, run_search, through_layer
from plugin.conftest import QUERY
from plugin.test_same_answers import bodies
from support.examples import examples

pytestmark = pytest.mark.server


def read_by(client: Any, body: Json | None = None, **options: Any) -> str:
    """Return who grouped the response: the plugin or the client."""
    answer = run_search(client, "stories", dict(body or QUERY), {}, **{"dedupe": "indent"} | options)
    return str(answer["dedupe"]["grouper"]).split(" ", maxsplit=1)[0]


@pytest.mark.parametrize("seed", range(0, examples(150), 4))
def test_a_made_up_search_has_the_same_answer_with_and_without_the_plugin(
    asking: Any, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    index, body, options = bodies(seed)
    with_plugin = through_layer(asking, index, body, options)
    monkeypatch.setenv("IBIDEM_PLUGIN", "off")
    assert list(differences(through_layer(asking, index, body, options), with_plugin)) == []


@pytest.mark.parametrize(
    "options",
    [
        {"dedupe_scope": "matches"},
        {"body": QUERY | {"aggs": {"by": {"terms": {"field": "ibidem.schema"}}}}},
        {"dedupe_window": 5, "dedupe_level": "identical"},
    ],
)
def test_what_the_plugin_does_not_do_is_done_by_the_client(asking: Any, options: Json) -> None:
    assert read_by(asking, **options) == "client"


def test_a_cursor_of_the_plugins_answer_leads_to_the_next_page(asking: Any) -> None:
    first = run_search(asking, "stories", dict(QUERY), {}, dedupe="indent")
    second = run_search(
        asking, "stories", QUERY | {"from": 10}, {}, dedupe="indent", dedupe_cursor=first["dedupe"]["cursor"]
    )
    assert first["dedupe"]["grouper"].startswith("plugin")
    assert second["dedupe"]["grouper"].startswith("plugin")
    assert not {hit["_id"] for hit in first["hits"]["hits"]} & {hit["_id"] for hit in second["hits"]["hits"]}


def test_a_wrong_word_in_the_environment_is_refused(asking: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IBIDEM_PLUGIN", "always")
    with pytest.raises(UsageError, match="allowed: auto, off"):
        read_by(asking)
