"""Settled leads in memory lose none that a document may join."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.cluster import settled_leads
from ibidem_engines.cluster.settled_leads import WORTH, KeyMarks, LeadSearch, SettledLeads
from ibidem_engines.stored_groups import LeadKeys, Several
from ibidem_ingest.signatures.lookup_keys import LookupField, lookup_keys_batch
from support.signed_records import make_record

TEXTS = [" ".join(f"word{at}" for at in range(start, start + 70)) for start in range(0, 60, 6)]
PACKED = [make_record(f"d{at}", text).packed for at, text in enumerate([*TEXTS, "few", ""])] + [b"damaged"]
KEYS = lookup_keys_batch(PACKED)
DOCUMENTS = st.sampled_from(range(len(PACKED)))
SINGLE: tuple[LookupField, ...] = ("content", "fingerprint", "profile", "bands")


class Shard:
    """The leads of a shard: the document of each number that is one."""

    def __init__(self, documents: Sequence[int | None]) -> None:
        self.documents = documents
        self.reads = 0

    def read(self, start: int, size: int) -> list[tuple[int, bytes]]:
        leads = [(at, PACKED[each]) for at, each in enumerate(self.documents) if each is not None and at >= start]
        self.reads += len(leads[:size])
        return leads[:size]


def ask(documents: Sequence[int], minimum: int = 25) -> list[LeadKeys]:
    return [
        LeadKeys(
            {clue: KEYS[at][clue] for clue in SINGLE if clue in KEYS[at]},
            {"rare": Several(KEYS[at]["rare"], minimum, 0, 2**31 - 1)} if "rare" in KEYS[at] else {},
        )
        for at in documents
    ]


def carries(lead: int, search: LeadSearch, number: int) -> bool:
    """Return whether a search finds a lead."""
    return number in search.writes or any(
        set(values) & set(KEYS[lead].get(clue, ())) for each in search.keys for clue, values in each.values.items()
    )


def shares(lead: int, document: int, minimum: int) -> bool:
    """Return whether a lead has a value of which one is enough, or enough rare terms."""
    own, other = KEYS[lead], KEYS[document]
    return any(set(own.get(clue, ())) & set(other.get(clue, ())) for clue in SINGLE) or (
        len(set(own.get("rare", ())) & set(other.get("rare", ()))) >= minimum
    )


@given(
    st.lists(st.none() | DOCUMENTS, max_size=25),
    st.lists(DOCUMENTS, min_size=1, max_size=6),
    st.integers(1, 6),
    st.lists(st.integers(1, 25), max_size=3),
    st.integers(1, 30),
)
def test_every_lead_that_a_document_may_join_is_asked_for(
    leads: list[int | None], documents: list[int], least: int, stops: list[int], most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settled_leads, "SLICE", 3)
        settled = SettledLeads(most)
        for end in [*sorted(min(stop, len(leads)) for stop in stops), len(leads)]:
            search = settled.search(KeyMarks(ask(documents, least)), end, Shard(leads[:end]).read)
        if search.keys == ask(documents, least):  # all values are asked for
            return
    for number, lead in enumerate(leads):
        if lead is not None and any(shares(lead, each, least) for each in documents):
            assert carries(lead, search, number)


def test_what_no_lead_carries_is_not_asked_for() -> None:
    shard = Shard([0, None, 1])
    search = SettledLeads().search(KeyMarks(ask([9])), 3, shard.read)
    assert (search.keys, search.writes) == ([], [])


def test_leads_that_share_enough_rare_terms_are_asked_for_by_the_numbers_of_their_writes() -> None:
    search = SettledLeads().search(KeyMarks(ask([0])), 4, Shard([9, None, 0, 0]).read)
    assert search.writes == [2, 3]
    assert [set(each.values) for each in search.keys] == [set(SINGLE)]


def test_leads_of_another_length_are_not_asked_for() -> None:
    (keys,) = ask([0])
    length, rare = len(TEXTS[0].split()), keys.several["rare"]
    for shortest, longest, writes in ((length, length, [0]), (1, length - 1, []), (length + 1, 2 * length, [])):
        bounded = LeadKeys({}, {"rare": replace(rare, shortest=shortest, longest=longest)})
        assert SettledLeads().search(KeyMarks([bounded]), 1, Shard([0]).read).writes == writes


def test_values_of_other_classes_are_asked_for_as_they_are() -> None:
    several = Several(["x", "y"], 2, 1, 9)
    keys = LeadKeys({"sampled": ["s"]}, {"characters": several})
    assert SettledLeads().search(KeyMarks([keys]), 1, Shard([0]).read).keys == [keys]


def test_leads_are_read_once_and_only_where_look_ups_would_cost_more() -> None:
    shard, settled = Shard([0] * 3 * WORTH), SettledLeads()
    searches = [settled.search(KeyMarks(ask([0])), 3 * WORTH, shard.read) for _ in range(4)]
    assert [len(each.writes) for each in searches] == [0, 0, 3 * WORTH, 3 * WORTH]
    assert shard.reads == 3 * WORTH


def test_a_shard_that_begins_again_is_read_again() -> None:
    settled = SettledLeads()
    settled.search(KeyMarks(ask([0])), 3, Shard([0, 0, 0]).read)
    assert settled.search(KeyMarks(ask([0])), 2, Shard([9, 0]).read).writes == [1]


def test_with_more_leads_than_there_is_room_for_all_values_are_asked_for() -> None:
    shard, settled = Shard([0] * 12), SettledLeads(10)
    for _ in range(2):
        assert settled.search(KeyMarks(ask([9])), 12, shard.read) == LeadSearch(ask([9]))
    assert shard.reads == 12


def test_numbers_that_are_too_high_to_be_held_are_asked_for_by_all_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settled_leads, "LAST_PLACE", 2)
    assert SettledLeads().search(KeyMarks(ask([9])), 3, Shard([0, 0, 0]).read) == LeadSearch(ask([9]))


def test_a_filter_that_is_full_is_followed_by_a_larger_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settled_leads, "SLICE", 1)
    monkeypatch.setattr("ibidem_engines.bloom_filter.BloomFilter.holds", lambda *_: False)
    settled = SettledLeads()
    search = settled.search(KeyMarks(ask([0, 5, 9])), 3, Shard([0, 5, 9]).read)
    assert np.unique([value for each in search.keys for value in each.values["content"]]).size == 3
