"""`ibidem.search`, the command line, the page and wrapped clients let the plugin group, with the same answers."""

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import ibidem
from ibidem.cli import main
from ibidem.grouped_search.api import search_window
from ibidem_core.settings import Settings
from ibidem_dedupe.parameters import parse_request
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_gateway.app import make_gateway
from ibidem_ingest.errors import UsageError
from plugin.answers import Json, differences, run_search, through_layer
from plugin.conftest import QUERY
from plugin.test_same_answers import WORDS, bodies
from servers.indices import ask
from support.examples import examples

pytestmark = pytest.mark.server
OWN = ("took_ms", "cursor", "by", "grouper")


@pytest.fixture(params=["stories", "spread", "dated", "library"])
def library(cluster: str, request: pytest.FixtureRequest) -> Iterator[Engine]:
    """An index on one shard, one on three, an alias with a filter, and an index of books."""
    store = open_engine(cluster, request.param)
    yield store
    store.close()


def answer(engine: Engine, seed: int, cursor: str = "", page: int = 1) -> Json:
    """Search as the page does, for something made up."""
    rng = random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    query = parse_query(rng.choice(["said", f"said OR {rng.choice(WORDS)}", f'"said {rng.choice(WORDS)}" OR said']))
    parameters: dict[str, Any] = {"dedupe": rng.choice(["indent", "collapse"]), "dedupe_explain": rng.random() < 0.5}
    parameters |= {"dedupe_level": rng.choice(["identical", "near"]), "dedupe_window": rng.choice([50, 500])}
    parameters |= {"dedupe_keep": rng.choice(["rank", "earliest", "longest"])}
    parameters |= {"dedupe_cursor": cursor} if cursor else {}
    result = search_window(engine, query, parse_request(parameters), page, rng.choice([3, 10]), facets=True)
    response = dict(result.response) | {"facets": tuple(result.facets)}
    return {name: part for name, part in response.items() if name != "took"}


def without_own(response: Json) -> Json:
    """Leave out what differs from one answer to the next."""
    return response | {"dedupe": {name: part for name, part in response["dedupe"].items() if name not in OWN}}


@pytest.mark.parametrize("seed", range(examples(12)))
def test_a_made_up_search_has_the_same_answer_with_and_without_the_plugin(
    library: Engine, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    expected = answer(library, seed)
    monkeypatch.setenv("IBIDEM_PLUGIN", "auto")
    actual = answer(library, seed)
    assert list(differences(without_own(expected), without_own(actual))) == []
    assert (expected["dedupe"]["grouper"], actual["dedupe"]["grouper"]) == ("client", f"plugin {ibidem.__version__}")


def test_a_cursor_leads_to_the_next_page_whoever_grouped_the_one_before(
    library: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IBIDEM_PLUGIN", "auto")
    cursor = answer(library, 1)["dedupe"]["cursor"]
    second = answer(library, 1, cursor, 2)
    monkeypatch.setenv("IBIDEM_PLUGIN", "off")
    assert list(differences(without_own(answer(library, 1, cursor, 2)), without_own(second))) == []
    assert second["dedupe"]["grouper"].startswith("plugin")


@pytest.fixture
def command(cluster: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> Callable[..., Json]:
    """Run a command over the cluster, and return what it prints as JSON."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"ENGINE": cluster, "INDEX": "stories", "PLUGIN": "auto"}.items():
        monkeypatch.setenv(f"IBIDEM_{name}", value)

    def printed(*arguments: str) -> Json:
        with pytest.raises(SystemExit):
            main([*arguments, "--json"])
        read: Json = json.loads(capsys.readouterr().out)
        return read

    return printed


def test_the_command_line_says_that_the_plugin_grouped(command: Callable[..., Json]) -> None:
    assert command("search", "said")["dedupe"]["grouper"] == f"plugin {ibidem.__version__}"


def test_the_gateway_says_that_the_plugin_grouped(
    cluster: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("IBIDEM_PLUGIN", "auto")
    settings = Settings(engine=cluster, index="stories", tables=tmp_path)
    with TestClient(make_gateway(settings), base_url="http://127.0.0.1") as client:
        answer = client.get("/stories/_search", params={"q": "text:said", "dedupe": "indent"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["dedupe"]["grouper"] == f"plugin {ibidem.__version__}"


def test_what_the_plugin_does_not_do_the_command_line_groups_by_itself(command: Callable[..., Json]) -> None:
    assert command("search", "said", "--scope", "matches")["dedupe"]["grouper"] == "client"


def test_doctor_says_which_nodes_have_the_plugin(command: Callable[..., Json]) -> None:
    (check,) = [each for each in command("doctor")["checks"] if each["name"] == "plugin"]
    assert check["ok"]
    assert check["what"] == f"{ibidem.__version__} on 2 nodes: one, two"


COMMANDS = (("search", "said"), ("search", "said", "--level", "partial"), ("groups",), ("backfill", "--dry-run"))


def test_a_default_pipeline_that_groups_changes_nothing_of_what_ibidem_itself_finds(
    cluster: str, kind: str, command: Callable[..., Json]
) -> None:
    if kind != "opensearch":
        return
    command("backfill", "--dry-run")  # makes the idf tables that later commands call the current ones
    first = command("search", "said")["hits"]["hits"][0]["_id"]
    commands = [*COMMANDS, ("inspect", first)]
    results_before = [settled(command(*each)) for each in commands]
    steps = {"request_processors": [{"ibidem": {"dedupe": "indent"}}], "response_processors": [{"ibidem": {}}]}
    ask(cluster, "PUT", "/_search/pipeline/groups-all", json.dumps(steps))
    ask(cluster, "PUT", "/stories/_settings", json.dumps({"index.search.default_pipeline": "groups-all"}))
    try:
        assert "_dedupe" in ask(cluster, "POST", "/stories/_search")["hits"]["hits"][0]
        assert list(differences(results_before, [settled(command(*each)) for each in commands])) == []
    finally:
        ask(cluster, "PUT", "/stories/_settings", json.dumps({"index.search.default_pipeline": None}))


def settled(page: Json) -> Json:
    """Leave out times and cursors, which differ from one run to the next."""
    return json.loads(re.sub(r'"(took|took_ms|cursor|\w*seconds)": *("[^"]*"|[\d.]+)', r'"\1": 0', json.dumps(page)))  # type: ignore[no-any-return] # an object, as before


def read_by(client: Any, body: Json | None = None, **options: Any) -> str:
    """Return who grouped the response: the plugin or the client."""
    answer = run_search(client, "stories", dict(body or QUERY), {}, **{"dedupe": "indent"} | options)
    return str(answer["dedupe"]["grouper"]).split(" ", maxsplit=1)[0]


@pytest.mark.parametrize("seed", range(0, examples(150), 4))
def test_a_made_up_search_of_a_wrapped_client_has_the_same_answer_with_and_without_the_plugin(
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
