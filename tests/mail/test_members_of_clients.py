"""Searches of clients, grouped by stored threads and works as `ibidem.search` groups them."""

import json
from collections.abc import Iterator
from contextlib import closing
from os import getpid
from typing import Any

import pytest

import ibidem
from grouped_search.dsl.test_stored_docs import CURRENT, INCLUSIVE
from ibidem.grouped_search.api import search_index
from ibidem_dedupe.request import parse_request
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_engines.signing import records
from ibidem_ingest.errors import UsageError
from ibidem_mail.memberships import write_threads, write_works
from mail.test_member_groups import DOCUMENTS, THREAD, groups, marks
from servers.indices import remove_indices
from support.general_tables import general_tables
from support.wrapped_clients import CLIENTS, fill_index

INDEX = f"members-{getpid()}"
QUERY = {"query": {"match": {"text": "roof"}}, "size": 10}


@pytest.fixture(scope="module")
def mails(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An index of mails and leases, whose threads and works are stored."""
    tables = general_tables()
    engine = fill_index(address, INDEX, list(records(DOCUMENTS, tables)))
    write_threads(engine)
    write_works(engine)
    engine.refresh()
    yield engine
    engine.close()
    remove_indices(address, INDEX)


@pytest.fixture(scope="module")
def client(kind: str, address: str, mails: Engine) -> Iterator[Any]:
    with closing(CLIENTS[kind][0](address.partition("+")[2])) as client:
        yield ibidem.wrap(client)


def ask(client: Any, level: str, **options: Any) -> Any:
    given = {"dedupe": "indent", "dedupe_level": level, "dedupe_explain": True} | options
    return client.search(index=INDEX, body=QUERY, **given)


def test_mails_are_below_what_they_answer(client: Any, mails: Engine) -> None:
    answer = ask(client, "thread")
    assert set(THREAD) in [set(group) for group in groups(answer)]
    assert answer["dedupe"]["families"] == 6
    why = {
        "signature": "thread",
        "by": "headers",
        "parent": "answer",
        "phrase": "answers answer, according to its header",
    }
    assert marks(answer)["thanks"]["why"] == why
    request = parse_request({"dedupe": "indent", "dedupe_level": "thread", "dedupe_explain": "true"})
    assert groups(search_index(mails, parse_query("roof"), request)) == groups(answer)


def test_the_last_version_is_on_top(client: Any) -> None:
    answer = ask(client, "version", dedupe="collapse")
    (final,) = [hit for hit in answer["hits"]["hits"] if hit["_id"] == "final"]
    inner = final["inner_hits"]["duplicates"]["hits"]["hits"]
    assert [hit["_id"] for hit in inner] == ["draft"]
    assert inner[0]["_dedupe"]["level"] == "version"


def test_buckets_say_how_many_threads_are_in_them(client: Any) -> None:
    body = QUERY | {"aggs": {"threads": {"terms": {"field": "ibidem.thread"}}}}
    answer = client.search(index=INDEX, body=body, dedupe="indent", dedupe_level="thread")
    (bucket,) = answer["aggregations"]["threads"]["buckets"]
    assert (bucket["key"], bucket["doc_count"], bucket["_dedupe"]["groups"]) == ("question", 4, 1)


def test_the_requests_of_the_documentation_narrow_a_list_and_collapse_it(client: Any) -> None:
    inclusive, current = (json.loads(json.dumps(body).replace("lease", "roof")) for body in (INCLUSIVE, CURRENT))
    answer = client.search(index=INDEX, body=inclusive)
    assert {hit["_id"] for hit in answer["hits"]["hits"]} == {"answer", "bill", "thanks"}
    (bucket,) = answer["aggregations"]["threads"]["buckets"]
    assert (bucket["key"], bucket["doc_count"]) == ("question", 3)
    works = [hit["fields"]["ibidem.work"][0] for hit in client.search(index=INDEX, body=current)["hits"]["hits"]]
    assert "draft" in works  # the work's name is that of its first version
    assert len(works) == len(set(works))


def test_stored_groups_do_not_go_with_it(client: Any) -> None:
    with pytest.raises(UsageError, match="dedupe_by=stored cannot be combined with dedupe_level=thread"):
        ask(client, "thread", dedupe_by="stored")


def test_passages_do_not_go_with_it(client: Any) -> None:
    with pytest.raises(
        UsageError, match=r"dedupe_document=meta\.document cannot be combined with dedupe_level=version"
    ):
        ask(client, "version", dedupe_document="meta.document")
