"""A wrapped client is the client that it was, but for a search that asks for dedupe."""

import asyncio
from typing import Any

import pytest

import ibidem
from clients.conftest import CLIENTS, INDEX
from ibidem_engines.engine import Engine

BODY = {"query": {"match": {"text": "said"}}, "size": 7, "aggs": {"sources": {"terms": {"field": "source"}}}}


def ids(response: Any) -> list[str]:
    return [hit["_id"] for hit in response["hits"]["hits"]]


def without_time(response: Any) -> dict[str, Any]:
    """What two equal searches answer alike."""
    return {name: part for name, part in dict(response).items() if name != "took"}


def test_a_search_without_dedupe_is_answered_as_the_client_answers_it(plain: Any, wrapped: Any) -> None:
    asked = {"index": INDEX, "body": BODY, "preference": "one"}
    assert without_time(wrapped.search(**asked)) == without_time(plain.search(**asked))
    assert type(wrapped.search(**asked)) is type(plain.search(**asked))
    assert without_time(wrapped.search(**asked, dedupe="off")) == without_time(plain.search(**asked))


def test_a_wrapped_client_is_of_its_own_class_and_shares_the_connections(plain: Any, wrapped: Any) -> None:
    assert isinstance(wrapped, type(plain))
    assert wrapped.transport is plain.transport
    assert ibidem.wrap(wrapped) is wrapped
    assert not hasattr(plain, "_ibidem_wrapped")


def test_every_other_method_passes_through(plain: Any, wrapped: Any) -> None:
    assert wrapped.indices.exists(index=INDEX)
    assert wrapped.count(index=INDEX)["count"] == plain.count(index=INDEX)["count"]
    twice = [{"index": INDEX}, BODY] * 2
    assert [ids(each) for each in wrapped.msearch(body=twice)["responses"]] == [
        ids(plain.search(index=INDEX, body=BODY))
    ] * 2


def test_a_search_with_dedupe_carries_groups_and_an_account(wrapped: Any) -> None:
    found = wrapped.search(index=INDEX, body=BODY, dedupe="indent")
    assert found["dedupe"]["groups"]["on_page"] == 7
    assert found["dedupe"]["documents"]["matched"] == found["hits"]["total"]["value"] == 114
    assert all("_dedupe" in hit for hit in found["hits"]["hits"])
    assert list(found["aggregations"]) == ["sources"]


def test_it_groups_as_ibidems_own_search_does(wrapped: Any, engine: Engine) -> None:
    own = ibidem.search(engine, ibidem.Query(native=BODY["query"]), ibidem.parse_request({"dedupe": "indent"}), 2, 7)
    found = wrapped.search(index=INDEX, body={**BODY, "from": 7}, dedupe="indent")
    assert ids(found) == ids(own)
    assert [hit["_dedupe"] for hit in found["hits"]["hits"]] == [hit["_dedupe"] for hit in own["hits"]["hits"]]


def test_a_client_that_is_waited_for_finds_the_same(kind: str, url: str, wrapped: Any) -> None:
    async def found() -> Any:
        async with CLIENTS[kind][1](url.partition("+")[2]) as client:
            waiting = ibidem.wrap(client)
            assert without_time(await waiting.search(index=INDEX, body=BODY, preference="one")) == without_time(
                await client.search(index=INDEX, body=BODY, preference="one")
            )
            return await waiting.search(index=INDEX, body=BODY, dedupe="collapse")

    grouped = asyncio.run(found())
    assert type(grouped) is type(wrapped.search(index=INDEX, body=BODY))
    assert grouped["hits"] == wrapped.search(index=INDEX, body=BODY, dedupe="collapse")["hits"]


def test_what_is_no_client_is_refused_with_those_that_are() -> None:
    with pytest.raises(
        ibidem.UsageError, match=r"a dict cannot be wrapped; give a client: elasticsearch\.Elasticsearch"
    ):
        ibidem.wrap({})  # type: ignore[call-overload]
