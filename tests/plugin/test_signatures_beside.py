"""The plugin groups the windows of an index whose signatures are beside it as the Python layer does."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from ibidem.index.documents import add_override
from ibidem.index.groups import stored_members
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_workers.backfill.run import backfill_in_place
from plugin.answers import Json, differences, read_account, run_search, through_layer, through_plugin
from plugin.conftest import QUERY, STORIES
from servers.indices import ask, remove_indices

pytestmark = pytest.mark.server
INDEX = "apart"
HELD = f".ibidem-{INDEX}-signatures"
LATE = 5  # documents that are not signed yet
OPTIONS: tuple[Json, ...] = (
    {"dedupe": "indent", "explain": True},
    {"dedupe": "collapse", "level": "identical"},
    {"dedupe": "indent", "window": 30, "similarity": 40},
    {"dedupe": "indent", "preset": "scans", "keep": "longest"},
)


@pytest.fixture(scope="module", params=[1, 3], ids=["one shard", "three shards"])
def apart(request: pytest.FixtureRequest, cluster: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An index of others with a manual decision; some of its documents are not signed yet."""
    remove_indices(cluster, INDEX)
    ask(cluster, "DELETE", f"/{HELD}?ignore_unavailable=true")
    body = {"settings": {"number_of_shards": request.param}, "mappings": {"properties": {"text": {"type": "text"}}}}
    ask(cluster, "PUT", f"/{INDEX}", json.dumps(body))
    write(cluster, {each.id: each.text for each in STORIES[:-LATE]})
    tables = tmp_path_factory.mktemp("tables")
    backfill_in_place(Settings(engine=cluster, index=INDEX, fields="text=text,meta=", tables=tables), beside="index")
    engine = open_engine(cluster, INDEX)
    lead, copy = (each.id for each in islice((each for each in stored_members(engine) if each.size == 2), 2))
    add_override(engine, (lead, copy), "not", author="ann")
    engine.close()
    write(cluster, {each.id: each.text for each in STORIES[-LATE:]})
    ask(cluster, "POST", f"/{HELD}/_refresh")
    yield cluster
    remove_indices(cluster, INDEX)
    ask(cluster, "DELETE", f"/{HELD}?ignore_unavailable=true")


def write(address: str, texts: dict[str, str]) -> None:
    lines = [json.dumps(each) for name, text in texts.items() for each in ({"index": {"_id": name}}, {"text": text})]
    assert not ask(address, "POST", f"/{INDEX}/_bulk?refresh=true", "\n".join(lines) + "\n")["errors"]


@pytest.mark.usefixtures("apart")
@pytest.mark.parametrize("options", OPTIONS, ids=json.dumps)
@pytest.mark.parametrize("part", [{}, {"from": 3}, {"query": {"match_all": {}}, "sort": ["_doc"], "size": 50}])
def test_answers_are_those_of_the_layer(plain_client: Any, wrapped_client: Any, options: Json, part: Json) -> None:
    body = QUERY | part
    expected = through_layer(wrapped_client, INDEX, body, options)
    assert list(differences(expected, through_plugin(plain_client, INDEX, body, options))) == []


@pytest.mark.usefixtures("apart")
def test_the_account_says_why_and_counts_what_is_late(plain_client: Any) -> None:
    body = {"query": {"match_all": {}}, "size": 100, "ext": {"ibidem": {"dedupe": "collapse"}}}
    account = read_account(run_search(plain_client, INDEX, body, {}))
    assert (account["by"], account["why"]) == ("window", "signatures are beside the index, and may be late")
    assert account["unsigned"] == LATE
    assert account["duplicates"] > 0


@pytest.mark.usefixtures("apart")
def test_a_client_asks_the_plugin(asking: Any) -> None:
    account = run_search(asking, INDEX, dict(QUERY), {}, dedupe="indent", dedupe_preset="scans")["dedupe"]
    assert account["grouper"].startswith("plugin")


def test_records_of_an_index_are_no_signatures_of_another(plain_client: Any, cluster: str) -> None:
    ask(cluster, "PUT", "/.ibidem-foreign-signatures", json.dumps({"mappings": {"_meta": {"of": "records"}}}))
    try:
        body = {"query": {"match_all": {}}, "ext": {"ibidem": {"dedupe": "indent"}}}
        answer = run_search(plain_client, "foreign", body, {})
        assert read_account(answer)["why"] == "groups were never settled"
    finally:
        ask(cluster, "DELETE", "/.ibidem-foreign-signatures")
