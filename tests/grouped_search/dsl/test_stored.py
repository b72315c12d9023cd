"""Stored groups through wrapped clients: what `ibidem.search` says, over the servers' own query language."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ibidem
from grouped_search.dsl.test_same_as_api import PLACES, QUERY_WORDS, check_same
from ibidem_engines.engine import Engine
from ibidem_ingest.errors import UsageError
from ibidem_workers.groups.follower import Follower
from servers.indices import ask
from support.examples import examples
from support.wrapped_clients import INDEX, open_point

ALL = {"match": {"text": "said"}}


@pytest.fixture(scope="module", autouse=True)
def settled(library: Engine) -> None:
    """The index's groups are settled."""
    Follower(library).catch_up()
    library.refresh()


asked_for = st.fixed_dictionaries(
    {
        "dedupe": st.sampled_from(["indent", "collapse"]),
        "dedupe_keep": st.sampled_from(["rank", "earliest", "longest"]),
        "dedupe_max_per_group": st.sampled_from([0, 1, 100]),
        "dedupe_explain": st.booleans(),
    }
)


COUNTED = {"query": ALL, "track_total_hits": True}


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=QUERY_WORDS, options=asked_for, place=PLACES)
def test_groups_leads_reasons_and_account_are_those_of_the_api(
    wrapped_client: Any, library: Engine, *, words: list[str], options: dict[str, Any], place: tuple[int, int]
) -> None:
    check_same(wrapped_client, library, " OR ".join(words), options | {"dedupe_by": "stored"}, place)


def every_page(wrapped_client: Any, body: dict[str, Any], size: int, index: str | None = INDEX) -> list[Any]:
    hits, start, cursor = [], 0, None
    while True:
        parameters = {"dedupe_cursor": cursor} if cursor else {}
        response = wrapped_client.search(
            **({"index": index} if index else {}),
            body={**body, "from": start, "size": size},
            dedupe="indent",
            dedupe_by="stored",
            **parameters,
        )
        if not response["hits"]["hits"]:
            return hits
        hits.append(response)
        start, cursor = start + size, response["dedupe"]["cursor"]


def matching(plain_client: Any) -> list[str]:
    """Return the ids of all matches, as the server returns them."""
    hits = plain_client.search(index=INDEX, body={"query": ALL, "size": 1_000, "_source": False})["hits"]["hits"]
    return sorted(hit["_id"] for hit in hits)


def ids(responses: list[Any]) -> list[str]:
    return [hit["_id"] for response in responses for hit in response["hits"]["hits"]]


def test_buckets_count_groups_over_all_matches(wrapped_client: Any, plain_client: Any) -> None:
    aggs = {"by": {"terms": {"field": "source", "size": 10}}}
    answer = wrapped_client.search(
        index=INDEX, body={"query": ALL, "size": 1, "aggs": aggs}, dedupe="indent", dedupe_by="stored"
    )
    for bucket in answer["aggregations"]["by"]["buckets"]:
        query = {"bool": {"must": [ALL], "filter": [{"term": {"source": bucket["key"]}}]}}
        hits = plain_client.search(
            index=INDEX, body={"query": query, "size": 1_000, "_source": False, "docvalue_fields": ["ibidem.group"]}
        )["hits"]["hits"]
        groups = {hit["fields"]["ibidem.group"][0] for hit in hits}
        assert bucket["_dedupe"] == {"groups": len(groups), "approximate": len(groups) > 100}
        assert bucket["doc_count"] == len(hits) > len(groups)


def test_a_point_in_time_is_read_to_its_end(wrapped_client: Any, plain_client: Any, kind: str) -> None:
    point = {"id": open_point(kind, plain_client, INDEX)}
    hits = every_page(wrapped_client, {"query": ALL, "pit": point}, 20, index=None)
    assert sorted(ids(hits)) == matching(plain_client)


@pytest.fixture
def counted_off(address: str) -> Iterator[int]:
    """The server counts off so many hits and no more."""
    for limit in (20, 10_000):
        ask(address, "PUT", f"/{INDEX}/_settings", json.dumps({"index": {"max_result_window": limit}}))
        if limit < 10_000:
            yield limit


def test_beyond_the_groups_that_a_server_counts_off_the_cursor_goes_on(
    plain_client: Any, address: str, counted_off: int
) -> None:
    client = ibidem.wrap(plain_client)
    hits = every_page(client, {"query": ALL}, 6)
    assert len(hits) * 6 > 2 * counted_off
    with pytest.raises(UsageError, match="dedupe_cursor"):
        client.search(index=INDEX, body={"query": ALL, "from": 48, "size": 6}, dedupe="indent", dedupe_by="stored")
    ask(address, "PUT", f"/{INDEX}/_settings", json.dumps({"index": {"max_result_window": 10_000}}))
    assert sorted(ids(hits)) == matching(plain_client)


def test_more_groups_than_are_counted_are_estimated_and_told_so(
    plain_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"index": INDEX, "body": COUNTED | {"size": 1}, "dedupe": "indent", "dedupe_by": "stored"}
    counts_seen = ibidem.wrap(plain_client).search(**options)["dedupe"]["groups"]
    monkeypatch.setattr("ibidem_engines.cluster.search.MAX_GROUPS", 3)
    estimated = ibidem.wrap(plain_client).search(**options)["dedupe"]["groups"]
    assert (counts_seen["exact"], estimated["exact"]) == (True, False)
    assert abs(estimated["matching"] - counts_seen["matching"]) <= counts_seen["matching"] // 2


def test_counts_follow_what_is_written_regrouped_and_deleted_between_two_searches(
    plain_client: Any, address: str
) -> None:
    client, options = ibidem.wrap(plain_client), {"dedupe": "indent", "dedupe_by": "stored"}

    def counts_seen(client: Any) -> tuple[int, int]:
        account = client.search(index=INDEX, body=COUNTED | {"size": 3}, **options)["dedupe"]
        return account["documents"]["matched"], account["groups"]["matching"]

    def write(name: str, group: str) -> None:
        entry = {"text": "said said", "ibidem": {"group": group * 24, "lead": True}}
        ask(address, "PUT", f"/{INDEX}/_doc/{name}?refresh=true", json.dumps(entry))

    documents, groups = counts_seen(client)
    try:
        for name in ("one", "other"):
            write(name, "f")
        assert counts_seen(client) == (documents + 2, groups + 1)
        write("other", "e")
        assert counts_seen(client) == (documents + 2, groups + 2)
        ask(address, "DELETE", f"/{INDEX}/_doc/one?refresh=true")
        assert counts_seen(client) == counts_seen(ibidem.wrap(plain_client)) == (documents + 1, groups + 1)
    finally:
        lines = [json.dumps({"delete": {"_id": name}}) for name in ("one", "other")]
        ask(address, "POST", f"/{INDEX}/_bulk?refresh=true", "\n".join([*lines, ""]))


def test_a_search_takes_two_requests_and_says_that_it_counted_no_groups(
    plain_client: Any, library: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.refresh()
    client, sent = ibidem.wrap(plain_client), list[str]()
    options = {"index": INDEX, "body": {"query": ALL, "size": 10}, "dedupe": "collapse"}
    first = client.search(**options)["dedupe"]
    start = client.ibidem_adapter.start
    monkeypatch.setattr(
        client.ibidem_adapter, "start", lambda self, request: sent.append(request.path) or start(self, request)
    )
    account = client.search(**options)["dedupe"]
    assert (first["by"], account["by"], account["rule"]) == ("stored", "stored", "default")
    assert sent == [f"/{INDEX}/_search"] * 2
    assert (account["groups"]["matching"], account["groups"]["counted"], account["duplicates"]) == (None, False, None)
    counted = client.search(**options | {"body": COUNTED})["dedupe"]
    assert counted["documents"]["matched"] == counted["groups"]["matching"] + counted["duplicates"]


def test_each_of_ten_documents_that_were_never_signed_is_a_group_of_its_own(plain_client: Any, address: str) -> None:
    names = [f"foreign{at}" for at in range(10)]
    lines = [json.dumps(line) for name in names for line in ({"index": {"_id": name}}, {"text": "said and foreign"})]
    ask(address, "POST", f"/{INDEX}/_bulk?refresh=true", "\n".join([*lines, ""]))
    try:
        options = {"index": INDEX, "body": {"query": {"match": {"text": "foreign"}}, "size": 20}, "dedupe": "indent"}
        for way in ("stored", "auto", "window"):
            found = ibidem.wrap(plain_client).search(**options, dedupe_by=way)
            assert sorted(hit["_id"] for hit in found["hits"]["hits"]) == names
            assert {hit["_dedupe"]["size"] for hit in found["hits"]["hits"]} == {1}
            account = found["dedupe"]
            assert account["by"] == ("stored" if way == "stored" else "window")
            assert ("have no settled group" in account.get("why", "")) == (way == "auto")
    finally:
        lines = [json.dumps({"delete": {"_id": name}}) for name in names]
        ask(address, "POST", f"/{INDEX}/_bulk?refresh=true", "\n".join([*lines, ""]))
