"""Contract of every engine for threads and works that are stored with the documents."""

from collections.abc import Callable
from typing import Any

import pytest

from engines.test_contract import book, matching, store
from ibidem_engines.engine import Engine, Record
from ibidem_engines.stored_groups import (
    FIELDS,
    Assignment,
    MembershipChange,
    SeqNoRange,
    StoredGroups,
    Values,
    hash_packed,
)
from servers.indices import ask
from support.clusters import CLUSTERS
from support.signed_records import make_record as record

ROOT = {"thread": "a", "parent": None, "parent_by": None, "inclusive": False}
ANSWER = {"thread": "a", "parent": "a", "parent_by": "headers", "inclusive": True}
DRAFT = {"work": "c", "edition": 1, "edition_by": None, "current": False}
FINAL = {"work": "c", "edition": 2, "edition_by": "name", "current": True}


@pytest.fixture
def members(engine: Engine) -> StoredGroups:
    """Two mails of one thread and two versions of one work, stored as such; one document is nothing of both."""
    written = [record(name, f"words of {name}") for name in "abcde"]
    store(engine, *written)
    members = engine.groups()
    members.prepare_memberships()
    places = (ROOT, ANSWER, DRAFT, FINAL)
    assert members.write_memberships([change(engine, *pair) for pair in zip(written, places, strict=False)]) == 4
    engine.refresh()
    return members


def change(engine: Engine, record: Record, place: Values) -> MembershipChange:
    return MembershipChange((engine.index, record.document.id), hash_packed(record.packed), place)


def read(engine: Engine, *ids: str) -> list[Values]:
    names = [(engine.index, each) for each in ids]
    found = engine.run(engine.searching().memberships(names))
    return [
        {field: value for field, value in found[name].items() if value is not None} for name in names if name in found
    ]


def own(*places: Values) -> Values:
    return {field: value for place in places for field, value in place.items() if value is not None}


def test_what_is_written_is_read(engine: Engine, members: StoredGroups) -> None:
    stored = [own(ROOT), own(ANSWER), own(DRAFT), own(FINAL), own()]
    assert read(engine, *"abcde", "none") == stored


def test_an_index_has_threads_once_a_document_has_a_place_in_one(engine: Engine, members: StoredGroups) -> None:
    assert members.has_threads()
    for name in "ab":
        members.write_memberships([change(engine, record(name, f"words of {name}"), dict.fromkeys(FIELDS))])
    engine.refresh()
    assert not members.has_threads()


def test_a_mail_may_be_a_version_too_and_values_are_taken_away(engine: Engine, members: StoredGroups) -> None:
    members.write_memberships([change(engine, record("a", "words of a"), FINAL)])
    members.write_memberships([change(engine, record("b", "words of b"), dict.fromkeys(FIELDS))])
    engine.refresh()
    assert read(engine, "a", "b") == [own(ROOT, FINAL), own()]


def test_a_document_that_was_written_again_has_none_and_gets_none_of_before(
    engine: Engine, members: StoredGroups
) -> None:
    store(engine, record("b", "other words", version=2))
    assert members.write_memberships([change(engine, record("b", "words of b"), ANSWER)]) == 0
    engine.refresh()
    assert read(engine, "b") == [own()]


def test_all_else_of_a_document_stays(engine: Engine) -> None:
    written = record("b", book(1, 2), title="Pages")
    store(engine, written, record("a", book(1, 2)))
    name = (engine.index, "b")
    before = engine.fetch([name]), engine.long_signatures([name]), matching(engine, "waaab")
    assert engine.groups().write_memberships([change(engine, written, ROOT)]) == 1
    engine.refresh()
    assert (engine.fetch([name]), engine.long_signatures([name]), matching(engine, "waaab")) == before


def test_joining_a_group_keeps_them(engine: Engine, members: StoredGroups) -> None:
    groups = engine.groups()
    upto = groups.newest()
    leads = [each for part in groups.parts() for each in groups.leads(SeqNoRange(part, 0, upto[part]), 10)]
    by_id = {each.name.id: each for each in leads}
    assert groups.assign([Assignment(by_id["b"], by_id["a"].group, lead=False)]) == [True]
    engine.refresh()
    assert read(engine, "b") == [own(ANSWER)]


@pytest.mark.usefixtures("members")
def test_searches_are_narrowed_by_them(engine: Engine) -> None:
    found: dict[str, list[str]] = {
        "thread=a": ["a", "b"],
        "inclusive=true": ["b"],
        "inclusive=false": ["a"],
        "work=c": ["c", "d"],
        "current=true": ["d"],
        "current=false": ["c"],
        "thread=b": [],
    }
    assert {condition: matching(engine, "words", condition) for condition in found} == found


@pytest.mark.usefixtures("members")
class TestServers:
    """What a client of a server does by itself."""

    @pytest.fixture(params=CLUSTERS)
    def address(self, request: pytest.FixtureRequest) -> str:
        return str(request.getfixturevalue(request.param))

    @pytest.fixture
    def search(self, address: str, engine: Engine) -> Callable[[str], Any]:
        return lambda body: ask(address, "POST", f"/{engine.index}/_search", body)

    def test_terms_are_counted(self, search: Callable[[str], Any]) -> None:
        aggs = ", ".join(f'"{name}": {{"terms": {{"field": "ibidem.{name}"}}}}' for name in FIELDS)
        counts = search(f'{{"size": 0, "aggs": {{{aggs}}}}}')["aggregations"]
        buckets = {
            name: {each.get("key_as_string", each["key"]): each["doc_count"] for each in part["buckets"]}
            for name, part in counts.items()
        }
        assert buckets == {
            "thread": {"a": 2},
            "parent": {"a": 1},
            "parent_by": {"headers": 1},
            "inclusive": {"true": 1, "false": 1},
            "work": {"c": 2},
            "edition": {1: 1, 2: 1},
            "edition_by": {"name": 1},
            "current": {"true": 1, "false": 1},
        }

    def test_documents_are_filtered_and_collapsed(self, search: Callable[[str], Any]) -> None:
        kept = search('{"query": {"bool": {"filter": [{"term": {"ibidem.inclusive": true}}]}}}')
        assert [hit["_id"] for hit in kept["hits"]["hits"]] == ["b"]
        collapse = '"collapse": {"field": "ibidem.thread", "inner_hits": {"name": "mails"}}'
        (hit,) = search(f'{{"query": {{"exists": {{"field": "ibidem.thread"}}}}, {collapse}}}')["hits"]["hits"]
        assert hit["inner_hits"]["mails"]["hits"]["total"]["value"] == 2
