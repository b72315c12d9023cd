"""Threads that are stored on servers, and the current version of a group, which is shown above earlier ones."""

import json
from collections.abc import Iterator
from contextlib import closing
from os import getpid
from typing import Any

import pytest

import ibidem
from grouped_search.dsl.test_stored_docs import CURRENT, INCLUSIVE
from ibidem.grouped_search.api import search_index
from ibidem.grouped_search.response import Passage
from ibidem.grouped_search.texts import group_texts
from ibidem_dedupe.parameters import parse_request
from ibidem_engines.cluster.index import template
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_engines.stored_groups import FIELDS
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_mail.memberships import ThreadMember, write_threads, write_works
from ibidem_workers.batches import records
from ibidem_workers.groups.follower import is_settled, settle_all
from mail.test_parents import DOCUMENTS, THREAD, groups
from servers.indices import ask, remove_indices
from servers.kinds import CLUSTERS
from support.general_tables import general_tables
from support.signed_records import make_record
from support.wrapped_clients import CLIENTS, fill_index

TEXT = (
    "The tenant pays the rent of the house at the harbour on the first of May, and the landlord keeps the roof, the "
    "gutters and the windows in repair; whoever breaks a pane has it mended within a month at his own expense. "
)
VERSIONS = (("a", "Lease v1", "1991"), ("c", "Lease v10", "1990"), ("b", "Lease v2 (draft)", "1992"))


@pytest.mark.slow
def test_of_texts_titles_names_and_dates_say_which_version_is_current() -> None:
    titles = [Passage(TEXT, title=title) for _, title, _ in VERSIONS]
    assert [each.lead for each in group_texts(titles, keep="current", language="en")] == [1]
    names = [Passage(TEXT, document=f"leases/{name}.pdf") for name in ("lease-v2", "lease-v3", "lease-v1")]
    assert group_texts(names, keep="current", language="en")[0].lead == 1
    dates = [Passage(TEXT, date=date) for date in ("1990", "1992", "1991")]
    assert group_texts(dates, keep="current", language="en")[0].lead == 1
    assert group_texts([TEXT, TEXT], keep="current", language="en")[0].lead == 0
    with pytest.raises(UsageError, match=r"^similarity='5' is not valid"):
        group_texts([TEXT, TEXT], similarity=5)


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


def ask_for(client: Any, level: str, **options: Any) -> Any:
    given = {"dedupe": "indent", "dedupe_level": level, "dedupe_explain": True} | options
    return client.search(index=INDEX, body=QUERY, **given)


def test_mails_are_below_what_they_answer(client: Any, mails: Engine) -> None:
    answer = ask_for(client, "thread")
    assert set(THREAD) in [set(group) for group in groups(answer)]
    assert answer["dedupe"]["families"] == 6
    request = parse_request({"dedupe": "indent", "dedupe_level": "thread", "dedupe_explain": "true"})
    assert groups(search_index(mails, parse_query("roof"), request)) == groups(answer)


def test_the_requests_of_the_documentation_narrow_a_list_and_collapse_it(client: Any) -> None:
    inclusive, current = (json.loads(json.dumps(body).replace("lease", "roof")) for body in (INCLUSIVE, CURRENT))
    answer = client.search(index=INDEX, body=inclusive)
    assert {hit["_id"] for hit in answer["hits"]["hits"]} == {"answer", "bill", "thanks"}
    (bucket,) = answer["aggregations"]["threads"]["buckets"]
    assert (bucket["key"], bucket["doc_count"]) == ("question", 3)
    works = [hit["fields"]["ibidem.work"][0] for hit in client.search(index=INDEX, body=current)["hits"]["hits"]]
    assert "draft" in works  # the work's name is that of its first version
    assert len(works) == len(set(works))


CURRENT_INDEX = f"current-{getpid()}"
BODY = {"query": {"match": {"text": "tenant"}}, "_source": ["title"]}


@pytest.fixture(scope="module")
def news_client(kind: str, address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A wrapped news_client of an index of ours, and of one whose fields have other names."""
    tables = general_tables()
    documents = [Document(id_, TEXT, title=title, date=date, language="en") for id_, title, date in VERSIONS]
    engine = fill_index(address, CURRENT_INDEX, list(records(documents, tables)))
    settle_all(engine)
    others = f"{address}/?fields=title%3Dheadline,text%3Dtext,date%3Dday,meta%3D"
    other = fill_index(others, f"{CURRENT_INDEX}-other", list(records(documents, tables)))
    other.close()
    with closing(CLIENTS[kind][0](address.partition("+")[2])) as news_client:
        yield ibidem.wrap(news_client)
    engine.close()
    for index in (CURRENT_INDEX, f"{CURRENT_INDEX}-other"):
        remove_indices(address, index)


def shown_ids(news_client: Any, index: str = CURRENT_INDEX, **options: Any) -> list[str]:
    given = {"dedupe": "indent", "dedupe_keep": "current", "index": index} | options
    return [hit["_id"] for hit in news_client.search(body=BODY, **given)["hits"]["hits"]]


def test_the_highest_version_number_leads(news_client: Any) -> None:
    found = shown_ids(news_client)
    assert found[0] == "c"
    assert sorted(found) == ["a", "b", "c"]


def test_where_fields_have_other_names_dates_decide_unless_these_are_known(
    news_client: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = f"{CURRENT_INDEX}-other"
    assert "headline" in json.dumps(ask(address, "GET", f"/{index}/_doc/a"))
    assert shown_ids(news_client, index)[0] == "b"
    monkeypatch.setenv("IBIDEM_ENGINE", address)
    monkeypatch.setenv("IBIDEM_FIELDS", "title=headline,date=day,meta=")
    assert shown_ids(news_client, index)[0] == "c"


QUESTION = "is the roof of the barn tight or does the rain come in where the slates were taken off in spring"
ANSWER = f"it is tight since the slaters came on monday\n\nAnn wrote:\n> {QUESTION}\n"


@pytest.fixture(params=CLUSTERS)
def served(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def alias(served: str) -> Iterator[str]:
    """Two indexes, of which the first was made before threads were stored."""
    alias = f"mail-{getpid()}"
    body = template("full")
    for name in FIELDS:
        del body["mappings"]["properties"]["ibidem"]["properties"][name]
    ask(served, "PUT", f"/{alias}-1", json.dumps(body))
    for number in (1, 2):
        open_engine(served, f"{alias}-{number}").create()
        ask(served, "PUT", f"/{alias}-{number}/_alias/{alias}")
    yield alias
    for name in (f"{alias}-1", f"{alias}-2", alias):
        remove_indices(served, name)


def write(engine: Engine, document: Document) -> None:
    meta = dict(document.meta)
    engine.write([make_record(document.id, document.text, meta=meta)])


def test_a_thread_reaches_over_indexes_and_an_id_that_both_hold_has_no_place(served: str, alias: str) -> None:
    first, second = (open_engine(served, f"{alias}-{number}") for number in (1, 2))
    write(first, Document("a", QUESTION, meta={"message-id": "<a@x>"}))
    write(second, Document("b", ANSWER, meta={"message-id": "<b@x>", "in-reply-to": "<a@x>"}))
    for engine in (first, second):
        write(engine, Document("c", QUESTION, meta={"message-id": "<c@x>"}))
        engine.refresh()
    both = open_engine(served, alias)
    settle_all(both)
    groups = [(each.name.id, each.group) for each in documents(both)]
    written = write_threads(both).as_json("threads")
    assert (written["documents"], written["written"], written["ambiguous"]) == (2, 2, 2)
    settle_all(both)
    assert is_settled(both.group_set())
    assert sorted((each.name.id, each.group) for each in documents(both)) == sorted(groups)
    body = '{"size": 0, "aggs": {"threads": {"terms": {"field": "ibidem.thread"}}}}'
    counts = ask(served, "POST", f"/{alias}/_search", body)["aggregations"]["threads"]["buckets"]
    assert [(each["key"], each["doc_count"]) for each in counts] == [("a", 2)]
    assert write_threads(both).written == 0


def test_an_answer_that_arrives_changes_no_name_of_a_thread(served: str, alias: str) -> None:
    """A copy and an undated circle: the answer makes the first mail a later write, and it stays the first."""
    both, first = open_engine(served, alias), open_engine(served, f"{alias}-1")
    for name, head in {
        "a": {"message-id": "<a@x>"},
        "copy": {"message-id": "<a@x>"},
        "x": {"message-id": "<x@x>", "in-reply-to": "<y@x>"},
        "y": {"message-id": "<y@x>", "in-reply-to": "<x@x>"},
    }.items():
        write(first, Document(name, QUESTION if name in ("a", "copy") else f"{QUESTION} {name}", meta=head))
    settle_all(both)
    write_threads(both)
    settle_all(both)
    for name in "ax":
        head = {"message-id": f"<later-{name}@x>", "in-reply-to": f"<{name}@x>"}
        write(first, Document(f"z-{name}", ANSWER if name == "a" else f"{ANSWER[:-1]} {name}\n", meta=head))
    settle_all(both)
    assert write_threads(both).written == 0
    read = both.run(both.searching().memberships([(each.name.index, each.name.id) for each in documents(both)]))
    members = {id_: ThreadMember.read(values) for (_, id_), values in read.items()}
    places = {id_: (each.thread, each.inclusive) for id_, each in members.items() if each}
    assert places == {
        "a": ("a", False),
        "copy": ("a", False),
        "z-a": ("a", True),
        "x": ("x", False),
        "y": ("x", True),
        "z-x": ("x", True),
    }


def documents(engine: Engine) -> list:
    store = engine.group_set().groups()
    store.newest()
    return store.read([(hit.index, hit.id) for some in engine.scan() for hit in some])
