"""Contract of every engine for stored groups, threads and works: each sentence of the protocol, over every engine."""

from collections.abc import Sequence

import pytest

from engines.test_contract import LONG, book, matching, read_values, store
from ibidem_engines.engine import Engine, Record, SignatureLookup
from ibidem_engines.query import parse_query
from ibidem_engines.stored_groups import (
    FIELDS,
    Assignment,
    GroupedDocument,
    Hit,
    LeadKeys,
    MembershipChange,
    SeqNoRange,
    StoredGroups,
    Values,
    hash_packed,
)
from ibidem_ingest.signatures.lookup_keys import LookupField
from servers.indices import ask
from support.signed_records import make_record as record

FIVE = {"rare": 5}, {"rare": (70, 90)}  # how many rare terms a lead has to carry, and how long it may be


@pytest.fixture
def groups(engine: Engine) -> StoredGroups:
    return engine.groups()  # type: ignore[attr-defined, no-any-return]


def leads(groups: StoredGroups, after: int = 0, size: int = 100) -> list[GroupedDocument]:
    end = groups.newest()
    ranges = [SeqNoRange(part, after, end[part]) for part in groups.parts()]
    return [each for seq_range in ranges for each in groups.documents(seq_range, size, leads=True)]


def read_groups(groups: StoredGroups, engine: Engine, *ids: str) -> list[GroupedDocument]:
    groups.newest()
    return groups.read([(engine.index, name) for name in ids])


def names(hits: Sequence[Hit]) -> list[str]:
    return sorted(hit.id for hit in hits)


def join(groups: StoredGroups, follower: GroupedDocument, lead: GroupedDocument) -> bool:
    (change,) = groups.assign([Assignment(follower, lead.group, lead=False)])
    groups.newest()
    return change


class TestLeads:
    def test_a_document_is_written_as_the_lead_of_a_group_of_its_own(
        self, engine: Engine, groups: StoredGroups
    ) -> None:
        store(engine, record("b"), record("a"))
        by_lead = leads(groups)
        assert [(each.name.id, each.lead) for each in by_lead] == [("b", True), ("a", True)]
        assert by_lead[0].group != by_lead[1].group
        assert [each.packed for each in by_lead] == [record("b").packed, record("a").packed]

    def test_they_come_in_the_order_of_writing_as_many_as_asked(self, engine: Engine, groups: StoredGroups) -> None:
        store(engine, *(record(name) for name in "dbac"))
        first = leads(groups, size=3)
        assert [each.name.id for each in first] == ["d", "b", "a"]
        assert [each.name.id for each in leads(groups, first[-1].name.order)] == ["c"]

    def test_one_that_joined_another_is_not_among_them_until_it_is_written_again(
        self, engine: Engine, groups: StoredGroups
    ) -> None:
        store(engine, record("a"), record("b"))
        a, b = leads(groups)
        assert join(groups, b, a)
        assert [each.name.id for each in leads(groups)] == ["a"]
        store(engine, record("b", "something else", version=2))
        first, second = leads(groups)
        assert first.group == a.group != second.group != b.group

    def test_one_that_leads_and_is_written_again_keeps_the_name_of_its_group(
        self, engine: Engine, groups: StoredGroups
    ) -> None:
        store(engine, record("a"), record("b"))
        before = {each.name.id: each.group for each in leads(groups)}
        store(engine, record("a", "something else", version=2))
        assert {each.name.id: each.group for each in leads(groups)} == before


class TestCarriers:
    def test_only_leads_are_found(self, engine: Engine, groups: StoredGroups) -> None:
        store(engine, record("a"), record("b"))
        a, b = leads(groups)
        requests = [LeadKeys({"content": read_values(record("a"))["content"]})]
        assert names(groups.with_value(requests, groups.newest())) == ["a", "b"]
        join(groups, b, a)
        assert names(groups.with_value(requests, groups.newest())) == ["a"]

    def test_only_what_was_written_up_to_a_number_is_found(self, engine: Engine, groups: StoredGroups) -> None:
        first, _ = store(engine, record("a"), record("b"))
        (part,) = groups.parts()
        carriers = groups.with_value([LeadKeys({"content": read_values(record("a"))["content"]})], {part: first.order})
        assert [(hit.id, hit.order, hit.packed) for hit in carriers] == [("a", first.order, record("a").packed)]

    def test_what_several_carry_is_found_once_for_all_of_them(self, engine: Engine, groups: StoredGroups) -> None:
        store(engine, record("a", LONG), record("b", f"{LONG} more"), record("c", "something else"))
        requests = [
            LeadKeys({"bands": read_values(record(name, text))["bands"]}) for name, text in (("a", LONG), ("c", "no"))
        ]
        assert names(groups.with_value(requests, groups.newest())) == ["a", "b"]

    @pytest.mark.parametrize("field", ["bands", "content"])
    def test_a_lead_behind_very_many_that_joined_another_is_found(
        self, engine: Engine, groups: StoredGroups, monkeypatch: pytest.MonkeyPatch, field: LookupField
    ) -> None:
        monkeypatch.setattr("ibidem_engines.sqlite.engine.MAX_LEADS", 3)
        store(engine, *(record(name, LONG) for name in "abcdef"))
        a, *ids, _ = leads(groups)
        for each in ids:
            assert join(groups, each, a)
        requests = [LeadKeys({field: read_values(record("a", LONG))[field]})]
        assert names(groups.with_value(requests, groups.newest())) == ["a", "f"]

    def test_rare_terms_find_those_that_carry_enough_of_them(self, engine: Engine, groups: StoredGroups) -> None:
        store(engine, record("a", LONG), record("b", "something else"))
        rare = read_values(record("a", LONG))["rare"]
        ids = [f"{at:08x}" for at in range(20)]
        for number, found in ((5, ["a"]), (4, [])):
            keys = LeadKeys({"rare": [*rare[:number], *ids]}, *FIVE)
            assert names(groups.with_value([keys], groups.newest())) == found

    def test_all_are_found_however_many_are_read_at_once(
        self, engine: Engine, groups: StoredGroups, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("ibidem_engines.cluster.lookup.SEARCH_BATCH", 1)
        store(engine, *(record(name, LONG) for name in "abcde"))
        keys = LeadKeys({"rare": read_values(record("a", LONG))["rare"]}, *FIVE)
        assert names(groups.with_value([keys] * 2, groups.newest())) == list("abcde")

    def test_what_is_written_after_a_look_up_is_found_by_the_next(self, engine: Engine, groups: StoredGroups) -> None:
        values = read_values(record("a", LONG))
        requests = [LeadKeys({"bands": values["bands"]}), LeadKeys({"rare": values["rare"]}, *FIVE)]
        store(engine, record("a", LONG), record("b", "something else"))
        assert names(groups.with_value(requests, groups.newest())) == ["a"]
        store(engine, record("c", LONG), record("a", "another text", version=2))
        assert names(groups.with_value(requests, groups.newest())) == ["c"]

    def test_a_document_that_was_made_a_lead_again_is_found_by_all_that_it_carries(
        self, engine: Engine, groups: StoredGroups
    ) -> None:
        store(engine, record("a", LONG), record("b", LONG))
        a, b = leads(groups)
        join(groups, b, a)
        (b,) = read_groups(groups, engine, "b")
        groups.assign([Assignment(b, "another", lead=True)])
        values = read_values(record("a", LONG))
        keys: list[LookupField] = ["bands", "fingerprint", "content"]
        for field in keys:
            assert names(groups.with_value([LeadKeys({field: values[field]})], groups.newest())) == ["a", "b"]


class TestAssign:
    def test_a_document_keeps_all_else(self, engine: Engine, groups: StoredGroups) -> None:
        (outcome, _) = store(engine, record("b", book(1, 2), title="Pages"), record("a", book(1, 2)))
        b, a = leads(groups)
        documents = engine.fetch([(engine.index, "b")])
        long = engine.long_signatures([(engine.index, "b")])
        assert join(groups, b, a)
        engine.refresh()
        assert engine.fetch([(engine.index, "b")]) == documents
        assert engine.long_signatures([(engine.index, "b")]) == long != {}
        assert [hit.id for hit in engine.search(parse_query("waaab"), 5).hits if hit.id == "b"] == ["b"]
        values = read_values(record("b", book(1, 2)))
        for field in values:
            (lookup,) = engine.find([SignatureLookup({field: values[field]})])
            assert {"a", "b"} <= {hit.id for hit in lookup.hits}, field
        assert outcome.order

    def test_a_document_that_was_written_since_is_left_as_it_is_and_one_that_is_gone_stays_so(
        self, engine: Engine, groups: StoredGroups
    ) -> None:
        store(engine, record("a"), record("b"), record("c"))
        a, b, c = leads(groups)
        store(engine, record("b", "something else", version=2))
        engine.delete(["c"], 2)
        assert not join(groups, b, a)
        assert not join(groups, c, a)
        assert [(each.name.id, each.lead) for each in read_groups(groups, engine, "b", "c")] == [("b", True)]

    def test_who_is_made_a_lead_comes_again_as_if_written_now(self, engine: Engine, groups: StoredGroups) -> None:
        store(engine, record("a"), record("b"), record("c", "something else"))
        a, b, c = leads(groups)
        join(groups, b, a)
        (b,) = read_groups(groups, engine, "b")
        assert groups.assign([Assignment(b, "kept", lead=True)]) == [True]
        assert [(each.name.id, each.group) for each in leads(groups, c.name.order)] == [("b", "kept")]
        assert engine.fetch([(engine.index, "b")])[0].document == record("b").document

    def test_the_version_of_a_document_stays(self, engine: Engine, groups: StoredGroups) -> None:
        store(engine, record("a", version=3), record("b", version=7))
        a, b = leads(groups)
        join(groups, b, a)
        (outcome,) = store(engine, record("b", version=7))
        assert (outcome.status, outcome.previous_version) == ("unchanged", 7)
        assert [each.lead for each in read_groups(groups, engine, "b")] == [False]


class TestMembers:
    def test_they_come_in_the_order_of_writing_with_or_without_their_lead(
        self, engine: Engine, groups: StoredGroups
    ) -> None:
        store(engine, *(record(name) for name in "cab"), record("d", "something else"))
        c, a, b, _ = leads(groups)
        groups.assign([Assignment(each, c.group, lead=False) for each in (a, b)])
        groups.newest()

        def ids(**how: object) -> list[str]:
            return [each.name.id for batch in groups.members([c.group], **how) for each in batch]  # type: ignore[arg-type]

        assert ids() == ["c", "a", "b"]
        assert ids(lead=False) == ["a", "b"]
        assert ids(lead=True) == ["c"]
        assert ids(excluded=[(engine.index, "c"), (engine.index, "b")]) == ["a"]

    @pytest.mark.slow
    def test_more_than_a_slice_are_gone_through(self, engine: Engine, groups: StoredGroups) -> None:
        store(engine, *(record(f"{at:04}") for at in range(1_001)))
        by_lead = leads(groups, size=2_000)
        groups.assign([Assignment(each, by_lead[0].group, lead=False) for each in by_lead[1:]])
        groups.newest()
        slices = list(groups.members([by_lead[0].group]))
        assert [len(each) for each in slices] == [1_000, 1]
        assert [each.name.id for batch in slices for each in batch] == [f"{at:04}" for at in range(1_001)]


class TestCounts:
    def test_groups_of_two_and_more_are_gone_through_and_all_are_counted(
        self, engine: Engine, groups: StoredGroups
    ) -> None:
        store(engine, *(record(name) for name in "abcde"), record("nothing", ""))
        a, b, c, d, *_ = leads(groups)
        groups.assign([Assignment(b, a.group, lead=False), Assignment(c, a.group, lead=False)])
        groups.assign([Assignment(d, "gone", lead=False)])
        groups.newest()
        assert sorted(pair for batch in groups.sizes(1) for pair in batch.items()) == sorted(
            [(a.group, 2), ("gone", 1)]
        )
        counts = groups.counts()
        assert (counts.documents, counts.groups, counts.unsigned) == (6, 3, 1)


def test_a_deletion_is_noticed_though_the_server_counts_deletions_from_the_beginning_again(
    address: str, engine: Engine, groups: StoredGroups
) -> None:
    store(engine, *map(record, "abcd"))
    numbers = [groups.deletions()]
    for name in "adcb":
        if name == "c" and not address.startswith("sqlite"):
            ask(address, "POST", f"/{engine.index}/_close")
            ask(address, "POST", f"/{engine.index}/_open")
        engine.delete([name], 2)
        numbers.append(groups.deletions())
    assert len(set(numbers)) == len(numbers)


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
    by_id = {each.name.id: each for each in leads(groups)}
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
