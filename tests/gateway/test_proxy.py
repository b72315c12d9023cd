"""Searches through the gateway take what clients in any language send."""

import gzip
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from gateway.conftest import Leases, fill
from gateway.gateway_server import run_gateway
from gateway.test_proxy_plain import ask
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_ingest.idf.store import Tables
from servers.fake_server import Answer, between
from servers.indices import ask as ask_engine
from servers.indices import remove_indices

JSON = "application/json"


def found(gateway: str, path: str, body: bytes | None = None) -> Any:
    """Return the answer's JSON; an error raises."""
    status, _, answer = ask(gateway, "POST" if body else "GET", path, body, content_type=JSON)
    assert status == 200, answer
    return json.loads(answer)


def nest(levels: int) -> dict[str, Any]:
    """Return a query inside so many others."""
    query: dict[str, Any] = {"match_all": {}}
    for _ in range(levels):
        query = {"constant_score": {"filter": query}}
    return query


PLACE = {"field": "place", "query_vector": [1.0, 1.0], "k": 10, "num_candidates": 20}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"knn": PLACE | {"k": 1_000_000}}, "knn.k=1000000 is not valid; allowed: an integer from 1 to 10,000"),
        (
            {"retriever": {"standard": {}}},
            "retriever cannot be combined with dedupe; leave dedupe out, or let the plugin",
        ),
        ({"query": nest(100)}, "the body is nested more than 100 deep; put conditions side by side"),
    ],
)
def test_a_search_that_cannot_be_grouped_is_refused_with_a_remedy(
    leases: Leases, gateway: str, body: dict[str, Any], message: str
) -> None:
    path, sent = f"/{leases.index}/_search", json.dumps(body).encode()
    status, _, answer = ask(gateway, "POST", f"{path}?dedupe=indent", sent, content_type=JSON)
    assert (status, message in json.loads(answer)["error"]["reason"]) == (400, True), answer


def test_parameters_that_are_not_grouped_are_refused_and_pass_without_the_flag(leases: Leases, gateway: str) -> None:
    path = f"/{leases.index}/_search?q=rent&filter_path=hits.total.value"
    status, _, answer = ask(gateway, "GET", f"{path}&dedupe=collapse")
    assert (status, "filter_path cannot be combined with dedupe" in answer.decode()) == (400, True)
    assert found(gateway, path) == {"hits": {"total": {"value": found(gateway, path)["hits"]["total"]["value"]}}}


def test_a_search_without_hits_is_answered_without_groups_and_says_so(leases: Leases, gateway: str) -> None:
    answer = found(gateway, f"/{leases.index}/_search?q=rent&size=0&dedupe=collapse")
    assert (answer["hits"]["hits"], answer["dedupe"]["mode"]) == ([], "off")
    assert answer["dedupe"]["note"].startswith("size is 0")


@pytest.fixture
def unsigned(leases: Leases) -> Iterator[str]:
    """Two texts in an index that ibidem has never seen."""
    name = f"{leases.index}-unsigned"
    for at in range(2):
        document = json.dumps({"text": "The rent is due."})
        ask_engine(leases.settings.engine, "PUT", f"/{name}/_doc/{at}?refresh=true", document)
    yield name
    remove_indices(leases.settings.engine, name)


def test_what_was_never_signed_is_found_and_the_answer_says_how_to_sign_it(
    leases: Leases, gateway: str, unsigned: str
) -> None:
    answer = found(gateway, f"/{unsigned}/_search?q=text:rent&dedupe=indent")
    bodies = [{"knn": PLACE}] if leases.kind == "elasticsearch" else []
    near = [
        found(gateway, f"/{unsigned}/_search?dedupe=indent", json.dumps(body).encode())["dedupe"] for body in bodies
    ]
    assert [hit["_dedupe"]["indent"] for hit in answer["hits"]["hits"]] == [0, 0]
    assert answer["dedupe"]["unsigned"] == 2
    assert answer["dedupe"]["remedy"] == "sign them with: ibidem backfill"
    assert all(each["remedy"].startswith("check whether documents have vectors in place") for each in near)


@pytest.fixture
def today(leases: Leases, tables: Tables) -> Iterator[str]:
    """The leases in an index that is named by today's date, as a path names it."""
    name = f"<{leases.index}-{{now/d}}>"
    index = ask_engine(leases.settings.engine, "PUT", f"/{quote(name, safe='')}")["index"]
    remove_indices(leases.settings.engine, index)
    engine = open_engine(leases.settings.engine, index)
    fill(engine, tables)
    engine.close()
    yield quote(name, safe="")
    remove_indices(leases.settings.engine, index)


def test_an_index_is_named_by_a_date(leases: Leases, gateway: str, today: str) -> None:
    grouped = found(gateway, f"/{today}/_search?q=rent&dedupe=collapse")
    assert [hit["_id"] for hit in grouped["hits"]["hits"]] == [
        hit["_id"] for hit in found(gateway, f"/{leases.index}/_search?q=rent&dedupe=collapse")["hits"]["hits"]
    ]
    assert found(gateway, f"/{today}~dedupe/_search?q=rent")["hits"] == grouped["hits"]
    assert found(gateway, f"/{today}/_search?q=rent")["hits"]["total"] == grouped["hits"]["total"]


@pytest.mark.parametrize(
    ("content", "status"),
    [(b"{", 400), (b"[]", 400), (b"\xff", 400), (b"null", 400), (b'{"a":' * 3_000, 400), (b" " * 10_000_001, 413)],
)
def test_a_body_that_cannot_be_read_is_refused_where_groups_are_asked_for(content: bytes, status: int) -> None:
    with run_gateway(Settings(engine="opensearch+http://127.0.0.1:9")) as url:
        assert ask(url, "POST", "/news/_search?dedupe=indent", content, content_type=JSON)[0] == status


def test_a_small_body_that_unpacks_to_a_large_one_never_fills_the_memory() -> None:
    bomb = gzip.compress(b" " * 11_000_000)
    packed = {"content_type": JSON, "content_encoding": "gzip"}
    with (
        between(plan=lambda _: Answer(200, {})) as engine,
        run_gateway(Settings(engine=engine.address("opensearch"))) as url,
    ):
        for content, status in [(bomb, 413), (bomb[:-9], 413), (b"no gzip", 400), (gzip.compress(b"{}") * 2, 413)]:
            assert ask(url, "POST", "/news/_search?dedupe=indent", content, **packed)[0] == status
        assert not engine.asked
        assert ask(url, "POST", "/news/_search", bomb, **packed)[0] == 200
    assert [each.body for each in engine.asked] == [bomb]


LINES = b'{"index":"news"}\n{"dedupe":"maybe"}\n{"index":["news"]}\n{}\n'


def test_a_wrong_dedupe_parameter_is_the_fault_of_one_of_several_searches() -> None:
    with (
        between(plan=lambda _: Answer(200, {"responses": [{"took": 1, "status": 200}]})) as engine,
        run_gateway(Settings(engine=engine.address("opensearch"))) as url,
    ):
        status, _, answer = ask(url, "POST", "/_msearch", LINES, content_type="application/x-ndjson")
    assert (status, [each["status"] for each in json.loads(answer)["responses"]]) == (200, [400, 200])
    assert [each.body for each in engine.asked] == [b'{"index":"news"}\n{}\n']
