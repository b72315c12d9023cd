"""Threads stored with the documents of several indexes of a server."""

import json
from collections.abc import Iterator
from os import getpid

import pytest

from ibidem_engines.cluster.index import template
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.stored_groups import FIELDS
from ibidem_ingest.document import Document
from ibidem_mail.memberships import ThreadMember, write_threads
from ibidem_workers.groups.follower import is_settled, settle_all
from servers.indices import ask, remove_indices
from support.clusters import CLUSTERS
from support.signed_records import make_record

QUESTION = "is the roof of the barn tight or does the rain come in where the slates were taken off in spring"
ANSWER = f"it is tight since the slaters came on monday\n\nAnn wrote:\n> {QUESTION}\n"


@pytest.fixture(params=CLUSTERS)
def address(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def alias(address: str) -> Iterator[str]:
    """Two indexes, of which the first was made before threads were stored."""
    alias = f"mail-{getpid()}"
    body = template("full")
    for name in FIELDS:
        del body["mappings"]["properties"]["ibidem"]["properties"][name]
    ask(address, "PUT", f"/{alias}-1", json.dumps(body))
    for number in (1, 2):
        open_engine(address, f"{alias}-{number}").create()
        ask(address, "PUT", f"/{alias}-{number}/_alias/{alias}")
    yield alias
    for name in (f"{alias}-1", f"{alias}-2", alias):
        remove_indices(address, name)


def write(engine: Engine, document: Document) -> None:
    meta = dict(document.meta)
    engine.write([make_record(document.id, document.text, meta=meta)])


def test_a_thread_reaches_over_indexes_and_an_id_that_both_hold_has_no_place(address: str, alias: str) -> None:
    first, second = (open_engine(address, f"{alias}-{number}") for number in (1, 2))
    write(first, Document("a", QUESTION, meta={"message-id": "<a@x>"}))
    write(second, Document("b", ANSWER, meta={"message-id": "<b@x>", "in-reply-to": "<a@x>"}))
    for engine in (first, second):
        write(engine, Document("c", QUESTION, meta={"message-id": "<c@x>"}))
        engine.refresh()
    both = open_engine(address, alias)
    settle_all(both)
    groups = [(each.name.id, each.group) for each in documents(both)]
    written = write_threads(both).as_json("threads")
    assert (written["documents"], written["written"], written["ambiguous"]) == (2, 2, 2)
    settle_all(both)
    assert is_settled(both.group_set())
    assert sorted((each.name.id, each.group) for each in documents(both)) == sorted(groups)
    body = '{"size": 0, "aggs": {"threads": {"terms": {"field": "ibidem.thread"}}}}'
    counts = ask(address, "POST", f"/{alias}/_search", body)["aggregations"]["threads"]["buckets"]
    assert [(each["key"], each["doc_count"]) for each in counts] == [("a", 2)]
    assert write_threads(both).written == 0


def test_a_mail_that_arrives_has_its_place_when_its_groups_are_settled(address: str, alias: str) -> None:
    first, second = (open_engine(address, f"{alias}-{number}") for number in (1, 2))
    write(first, Document("a", QUESTION, meta={"message-id": "<a@x>", "family": "a"}))
    first.refresh()
    both = open_engine(address, alias)
    settle_all(both)
    assert write_threads(both).written == 1
    settle_all(both)
    write(second, Document("a/1", "slates and nails for the barn", meta={"family": "a"}))
    write(second, Document("c", f"see below\n\n{ANSWER}", meta={"message-id": "<c@x>", "references": ["a@x", "b@x"]}))
    settle_all(both)
    write(first, Document("b", ANSWER, meta={"message-id": "<b@x>", "in-reply-to": "<a@x>"}))
    write(first, Document("c/1", "a list of slates", meta={"family": "c"}))
    settle_all(both)
    assert is_settled(both.group_set())
    assert stored_threads(both) == {
        "a": ThreadMember("a", "", "", inclusive=False),
        "a/1": ThreadMember("a", "a", "family", inclusive=False),
        "b": ThreadMember("a", "a", "headers", inclusive=False),
        "c": ThreadMember("a", "b", "headers", inclusive=True),
        "c/1": ThreadMember("a", "c", "family", inclusive=True),
    }
    assert write_threads(both).written == 0


def test_an_answer_that_arrives_changes_no_name_of_a_thread(address: str, alias: str) -> None:
    """A copy and an undated circle: the answer makes the first mail a later write, and it stays the first."""
    both, first = open_engine(address, alias), open_engine(address, f"{alias}-1")
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
    places = {id_: (each.thread, each.inclusive) for id_, each in stored_threads(both).items()}
    assert places == {
        "a": ("a", False),
        "copy": ("a", False),
        "z-a": ("a", True),
        "x": ("x", False),
        "y": ("x", True),
        "z-x": ("x", True),
    }


def stored_threads(engine: Engine) -> dict[str, ThreadMember]:
    names = [(each.name.index, each.name.id) for each in documents(engine)]
    read = engine.run(engine.searching().memberships(names))
    return {id_: each for (_, id_), values in read.items() if (each := ThreadMember.read(values))}


def documents(engine: Engine) -> list:
    store = engine.group_set().groups()
    store.newest()
    return store.read([(hit.index, hit.id) for some in engine.scan() for hit in some])
