"""Searches through the gateway take what clients in any language send."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from gateway.conftest import Leases, fill
from gateway.test_search_routes_passing import ask
from ibidem_engines.connect import open_engine
from ibidem_ingest.idf.store import Tables
from servers.indices import ask as ask_engine
from servers.indices import remove_indices
from support.gateway_server import run_gateway

JSON = "application/json"


def found(gateway: str, path: str, body: bytes | None = None) -> Any:
    """Return the answer's JSON; an error raises."""
    status, _, answer = ask(gateway, "POST" if body else "GET", path, body, content_type=JSON)
    assert status == 200, answer
    return json.loads(answer)


def test_a_grouped_answer_is_cut_down_by_filter_path(leases: Leases, gateway: str) -> None:
    path = f"/{leases.index}/_search?q=rent&dedupe=collapse"
    whole = found(gateway, path)
    assert found(gateway, f"{path}&filter_path=hits.hits._source") == {
        "hits": {"hits": [{"_source": hit["_source"]} for hit in whole["hits"]["hits"]]}
    }
    assert found(gateway, f"{path}&filter_path=dedupe.groups,-**.exact") == {
        "dedupe": {"groups": {name: value for name, value in whole["dedupe"]["groups"].items() if name != "exact"}}
    }
    count = found(gateway, f"/{leases.index}/_count?dedupe=collapse&filter_path=count")
    assert list(count) == ["count"]


def test_answers_to_several_searches_are_cut_down_together(leases: Leases, gateway: str) -> None:
    lines = [{"index": leases.index}, {"size": 0}, {"index": leases.index}, {"size": 1, "dedupe": "collapse"}]
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    answer = found(gateway, "/_msearch?filter_path=responses.hits.hits._id,responses.dedupe.groups.on_page", body)
    (response,) = answer["responses"]
    assert response["dedupe"] == {"groups": {"on_page": 1}}
    assert len(response["hits"]["hits"]) == 1


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


@pytest.mark.parametrize("paths", ["search", "all"])
def test_an_index_is_named_by_a_date(leases: Leases, today: str, paths: str) -> None:
    settings = leases.settings.changed(gateway_indexes=(f"{leases.index}*",), gateway_paths=paths)
    with run_gateway(settings) as gateway:
        grouped = found(gateway, f"/{today}/_search?q=rent&dedupe=collapse")
        assert [hit["_id"] for hit in grouped["hits"]["hits"]] == [
            hit["_id"] for hit in found(gateway, f"/{leases.index}/_search?q=rent&dedupe=collapse")["hits"]["hits"]
        ]
        assert found(gateway, f"/{today}~dedupe/_search?q=rent")["hits"] == grouped["hits"]
        assert found(gateway, f"/{today}/_search?q=rent")["hits"]["total"] == grouped["hits"]["total"]
        assert (
            found(gateway, f"/{today}/_count?dedupe=collapse")["count"] == found(gateway, f"/{today}/_count")["count"]
        )
        for path in (f"/{leases.index}%2Fx/_search", f"/{today.replace('%2F', '/')}/_search"):
            assert ask(gateway, "GET", path)[0] in (400, 403, 404)
        assert ask(gateway, "GET", f"/{quote('<secret-{now/d}>', safe='')}/_search?dedupe=indent")[0] == 403
