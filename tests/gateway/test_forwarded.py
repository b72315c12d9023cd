"""The gateway forwards exactly the request that it checked: none reaches a closed index."""

import json
from collections.abc import Iterator

import pytest

from gateway.attacks import ANOTHER_PACKING, OPEN, Attack, attacks
from gateway.conftest import WORD, Leases
from gateway.lenient import reached
from gateway.test_search_routes_passing import ask
from ibidem_core.settings import Settings
from servers.fake_server import Answer, Between, Request, between
from support.gateway_server import run_gateway


@pytest.fixture(scope="module")
def upstream() -> Iterator[Between]:
    """An engine that keeps what reaches it."""
    with between(plan=lambda _: Answer(200, {"responses": [], "hits": {"hits": []}})) as server:
        yield server


@pytest.fixture(scope="module")
def proxy(upstream: Between) -> Iterator[str]:
    """The gateway before it."""
    with run_gateway(Settings(engine=upstream.address("opensearch"), index=OPEN)) as where:
        yield where


def send(url: str, attack: Attack) -> tuple[int, bytes]:
    headers = {name.replace("-", "_"): value for name, value in attack.headers.items()}
    status, _, read = ask(url, attack.method, attack.path, attack.body or None, **headers)
    return status, read


@pytest.mark.parametrize("attack", attacks())
def test_nothing_that_reaches_the_engine_names_an_index_that_is_not_open(
    upstream: Between, proxy: str, attack: str
) -> None:
    upstream.asked.clear()
    status, content = send(proxy, attacks()[attack])
    assert {name for each in upstream.asked for name in reached(each)} <= {OPEN}
    assert (status in {400, 403, 406, 415}) is not bool(upstream.asked), content


@pytest.mark.parametrize("name", attacks())
def test_the_judge_sees_in_every_attack_what_it_is_after(name: str) -> None:
    attack = attacks()[name]
    assert name == ANOTHER_PACKING or reached(Request(attack.method, attack.path, attack.headers, attack.body)) - {OPEN}


@pytest.mark.parametrize("attack", attacks())
def test_no_engine_answers_with_what_is_in_an_index_that_is_not_open(
    leases: Leases, gateway: str, vault: str, attack: str
) -> None:
    status, content = send(gateway, attacks(leases.index, vault)[attack])
    assert WORD.encode() not in content
    assert f'"_index":"{vault}"'.encode() not in content
    assert status in {400, 403, 406, 415} or b'"total":{"value":0' in content or b'"count":' in content, content


@pytest.mark.parametrize(
    "body",
    [
        {
            "query": {"bool": {"must": [{"match": {"text": "rent"}}], "filter": {"exists": {"field": "text"}}}},
            "size": 1,
        },
        {
            "query": {
                "function_score": {
                    "query": {"match_all": {}},
                    "functions": [{"filter": {"ids": {"values": ["lease"]}}, "weight": 2}],
                }
            }
        },
        {"query": {"dis_max": {"queries": [{"term": {"text": "rent"}}, {"prefix": {"text": "roo"}}]}}},
        {
            "query": {
                "span_near": {"clauses": [{"span_term": {"text": "the"}}, {"span_term": {"text": "rent"}}], "slop": 1}
            }
        },
        {
            "query": {
                "more_like_this": {"like": ["rent roof", {"_id": "lease"}], "fields": ["text"], "min_term_freq": 1}
            }
        },
        {"query": {"script_score": {"query": {"match_all": {}}, "script": {"source": "params.a", "params": {"a": 2}}}}},
        {"query": {"terms": {"_id": ["lease", "copy"]}}, "sort": ["_score", {"_doc": "asc"}], "track_total_hits": 3},
        {
            "aggs": {
                "a": {
                    "filters": {"filters": {"x": {"match": {"text": "rent"}}}},
                    "aggs": {"b": {"top_hits": {"size": 1}}},
                }
            }
        },
        {
            "aggs": {
                "a": {
                    "filter": {"match_all": {}},
                    "meta": {"x": 1},
                    "aggs": {"n": {"value_count": {"field": "_index"}}},
                }
            }
        },
        {
            "highlight": {"fields": {"text": {"highlight_query": {"match": {"text": "rent"}}}}},
            "query": {"match": {"text": "rent"}},
        },
        {"suggest": {"text": "rnet", "a": {"term": {"field": "text"}}, "b": {"phrase": {"field": "text"}}}},
        {
            "rescore": {"window_size": 5, "query": {"rescore_query": {"match": {"text": "rent"}}}},
            "query": {"match_all": {}},
        },
        {
            "query": {"intervals": {"text": {"match": {"query": "the rent", "max_gaps": 1}}}},
            "_source": {"includes": ["title"]},
        },
        {"script_fields": {"a": {"script": "1 + 1"}}, "fields": ["title"]},
    ],
)
def test_what_names_no_index_is_answered_as_the_engine_answers_it(
    leases: Leases, gateway: str, body: dict[str, object]
) -> None:
    path, data = f"/{leases.index}/_search?filter_path=-took", json.dumps(body).encode()
    direct = ask(leases.url, "POST", path, data, content_type="application/json")
    answer_through = ask(gateway, "POST", path, data, content_type="application/json")
    assert direct[0] == 200 or b"script_lang not supported" in direct[2], direct
    assert answer_through[::2] == direct[::2]


def test_the_other_index_is_open_where_the_settings_say_so(leases: Leases, vault: str) -> None:
    body = json.dumps({"query": {"terms": {"_id": {"index": vault, "id": "1", "path": "word"}}}}).encode()
    with run_gateway(leases.settings.changed(gateway_indexes=f"{leases.index},{vault}")) as url:
        answer = ask(url, "POST", f"/{leases.index}/_search", body, content_type="application/json")
    assert answer[0] == 200
    assert json.loads(answer[2])["hits"]["total"]["value"] == 2
