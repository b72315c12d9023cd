"""Searches through the gateway: what clients in any language send, by parameter, header or alias."""

import gzip
import json
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import elasticsearch
import httpx2
import opensearchpy
import pytest

from gateway.conftest import Leases
from gateway.gateway_server import gateway_before, run_gateway
from gateway.test_forward import ask
from ibidem.grouped_search.dsl.search import NO_LAYOUT
from ibidem_core.settings import Settings
from ibidem_engines.requests import MAX_KEPT
from ibidem_gateway.app import make_gateway
from ibidem_gateway.dependencies import CALLERS
from ibidem_gateway.upstream import Caller
from servers.fake_server import Answer
from servers.indices import ask as ask_engine
from servers.indices import remove_indices

RENT = {"query": {"match": {"text": "rent"}}}


@pytest.fixture
def client(leases: Leases, gateway: str) -> Iterator[Any]:
    """The official client of the engine behind the gateway."""
    if leases.kind == "opensearch":
        parts = urlsplit(gateway)
        connection: Any = opensearchpy.OpenSearch([{"host": parts.hostname, "port": parts.port}], max_retries=0)
    else:
        connection = elasticsearch.Elasticsearch(gateway, max_retries=0)
    yield connection
    connection.close()


def test_errors_come_out_as_the_clients_own_exceptions(client: Any, leases: Leases) -> None:
    library: Any = opensearchpy if leases.kind == "opensearch" else elasticsearch
    error_class = library.RequestError if leases.kind == "opensearch" else library.BadRequestError
    with pytest.raises(error_class) as error:
        client.search(index=leases.index, body={**RENT, "dedupe": "maybe"})
    assert "illegal_argument_exception" in str(error.value)
    with pytest.raises(error_class) as error:
        client.search(index=leases.index, body={"query": {"nosuch": {}}, "dedupe": "indent"})
    assert "nosuch" in str(error.value)
    with pytest.raises(library.NotFoundError):
        client.search(index="another", body={**RENT, "dedupe": "indent"})


@pytest.mark.parametrize("version", [8, 9])
def test_an_answer_has_the_form_of_the_version_that_the_client_speaks(
    leases: Leases, gateway: str, version: int
) -> None:
    if leases.kind == "opensearch":
        return
    form = f"application/vnd.elasticsearch+json; compatible-with={version}"
    parts = urlsplit(gateway)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    connection.request(
        "POST", f"/{leases.index}/_search?dedupe=indent", json.dumps(RENT), {"accept": form, "content-type": form}
    )
    answer = connection.getresponse()
    assert len(json.load(answer)["hits"]["hits"]) == 4
    connection.close()
    assert answer.headers["x-elastic-product"] == "Elasticsearch"
    assert answer.headers["content-type"].replace(" ", "") == form.replace(" ", "")


JSON = "application/json"


def found(gateway: str, path: str, body: bytes | None = None) -> Any:
    """Return the answer's JSON; an error raises."""
    status, _, answer = ask(gateway, "POST" if body else "GET", path, body, content_type=JSON)
    assert status == 200, answer
    return json.loads(answer)


PLACE = {"field": "place", "query_vector": [1.0, 1.0], "k": 10, "num_candidates": 20}


def test_parameters_that_are_not_grouped_are_refused_and_pass_without_the_flag(leases: Leases, gateway: str) -> None:
    path = f"/{leases.index}/_search?q=rent&filter_path=hits.total.value"
    status, _, answer = ask(gateway, "GET", f"{path}&dedupe=collapse")
    assert (status, "filter_path cannot be combined with dedupe" in answer.decode()) == (400, True)
    assert found(gateway, path) == {"hits": {"total": {"value": found(gateway, path)["hits"]["total"]["value"]}}}


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


def test_a_body_that_cannot_be_read_is_refused_where_groups_are_asked_for() -> None:
    with run_gateway(Settings(engine="opensearch+http://127.0.0.1:9")) as url:
        for content in (b"{", b"[]", b"\xff", b"null", b'{"a":' * 3_000):
            assert ask(url, "POST", "/news/_search?dedupe=indent", content, content_type=JSON)[0] == 400, content[:9]
        assert ask(url, "POST", "/news/_search?dedupe=indent", b" " * 10_000_001, content_type=JSON)[0] == 413


@pytest.mark.slow
def test_a_small_body_that_unpacks_to_a_large_one_never_fills_the_memory() -> None:
    bomb = gzip.compress(b" " * 11_000_000)
    packed = {"content_type": JSON, "content_encoding": "gzip"}
    with gateway_before(lambda _: Answer(200, {})) as (engine, url):
        for content, status in [(bomb, 413), (bomb[:-9], 413), (b"no gzip", 400), (gzip.compress(b"{}") * 2, 413)]:
            assert ask(url, "POST", "/news/_search?dedupe=indent", content, **packed)[0] == status
        assert not engine.asked
        assert ask(url, "POST", "/news/_search", bomb, **packed)[0] == 200
    assert [each.body for each in engine.asked] == [bomb]


LINES = b'{"index":"news"}\n{"dedupe":"maybe"}\n{"index":["news"]}\n{}\n'


def test_a_wrong_dedupe_parameter_is_the_fault_of_one_of_several_searches() -> None:
    with gateway_before(lambda _: Answer(200, {"responses": [{"took": 1, "status": 200}]})) as (engine, url):
        status, _, answer = ask(url, "POST", "/_msearch", LINES, content_type="application/x-ndjson")
    assert (status, [each["status"] for each in json.loads(answer)["responses"]]) == (200, [400, 200])
    assert [each.body for each in engine.asked] == [b'{"index":"news"}\n{}\n']


def search(url: str, path: str, headers: dict[str, str] | None = None, body: Any = None) -> Any:
    answer = httpx2.post(f"{url}/{path}", json=body or RENT, headers=headers, timeout=60)
    assert answer.status_code == 200, answer.text
    return answer.json()


def mode(response: Any) -> str:
    return str(response["dedupe"]["mode"]) if "dedupe" in response else "off"


def test_a_header_or_an_alias_asks_for_groups_and_parameters_and_body_say_more(leases: Leases, gateway: str) -> None:
    headers = {"x-ibidem-dedupe": "indent"}
    for path, header, body, expected in (
        ("/_search", headers, None, "indent"),
        ("/_search?dedupe=collapse", headers, None, "collapse"),
        ("/_search", headers, {"dedupe": "off"}, "off"),
        ("~dedupe/_search", None, None, "collapse"),
        ("~indent/_search", None, None, "indent"),
        ("~dedupe/_search?dedupe=off", None, None, "off"),
    ):
        response = search(gateway, f"{leases.index}{path}", header, body)
        assert (mode(response), {hit["_index"] for hit in response["hits"]["hits"]}) == (expected, {leases.index})
    response = search(gateway, f"{leases.index}/_search?dedupe_window=3", headers)
    assert (mode(response), response["dedupe"]["window"]) == ("indent", 3)
    answer_to_wrong = httpx2.get(f"{gateway}/{leases.index}/_search", headers={"x-ibidem-dedupe": "maybe"})
    assert (answer_to_wrong.status_code, "allowed: off, collapse, indent" in answer_to_wrong.text) == (400, True)


def test_several_searches_name_aliases_each_for_itself(leases: Leases, gateway: str) -> None:
    lines = [{"index": f"{leases.index}~indent"}, {}, {"index": leases.index}, {}]
    body = "".join(f"{json.dumps(line)}\n" for line in lines)
    headers = {"content-type": "application/x-ndjson"}
    for path, content, modes in (("", body, ["indent", "off"]), (f"/{leases.index}~dedupe", "{}\n{}\n", ["collapse"])):
        answer = httpx2.post(f"{gateway}{path}/_msearch", content=content, headers=headers, timeout=60)
        assert [mode(each) for each in answer.json()["responses"]] == modes


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/ibidem~dedupe/_doc/a~dedupe", "/ibidem~indent"])
def test_the_engine_never_sees_an_alias_or_the_header(path: str) -> None:
    with gateway_before(lambda _: Answer(200, {})) as (engine, url):
        httpx2.get(f"{url}{path}", headers={"x-ibidem-dedupe": "indent"})
    (request,) = engine.asked
    assert request.path == path.replace("~dedupe/", "/").replace("~indent", "")
    assert "x-ibidem-dedupe" not in map(str.lower, request.headers)


ADA, BOB = (Caller((("authorization", f"Basic {name}"),)) for name in ("ada", "bob"))


def test_what_one_caller_may_know_of_an_index_is_not_told_to_another() -> None:
    metadata = make_gateway(Settings()).state.context.metadata
    metadata(ADA).layouts.put("news", NO_LAYOUT)
    assert metadata(ADA).layouts.get("news") is NO_LAYOUT
    assert metadata(BOB).layouts.get("news") is None


def test_neither_callers_nor_names_of_indexes_are_remembered_without_end() -> None:
    metadata = make_gateway(Settings()).state.context.metadata
    entry = metadata(ADA)
    for number in range(MAX_KEPT + 1):
        entry.layouts.put(str(number), NO_LAYOUT)
    assert metadata(ADA).layouts.get("0") is None
    for number in range(CALLERS):
        metadata(Caller((("authorization", str(number)),)))
    assert metadata(ADA) is not entry
