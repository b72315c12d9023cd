"""Tags: a ledger whose last entry on a document holds, and in which nothing is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_core.errors import DamagedRecord
from ibidem_dedupe.tags import ACTIONS, MAX_TAG, USUAL, TagEntry, TaggedDocument, Tags, has_changed, read_tag
from ibidem_ingest.errors import UsageError

A, B, C = (TaggedDocument("news", id_, f"ch3:{id_}") for id_ in "abc")
ENTRY = TagEntry("relevant", "add", (A, B), "Ada", "2026-01-05T10:00:00+00:00", "group", ("news", "a"), "the frost")


def entry(tag: str, *documents: TaggedDocument, action: str = "add") -> TagEntry:
    return TagEntry(tag, action, documents)  # type: ignore[arg-type] # one of `ACTIONS`


def test_an_entry_comes_back_from_its_record() -> None:
    assert TagEntry.from_record(ENTRY.as_record()) == ENTRY
    assert TagEntry.from_record({**ENTRY.as_record(), "added": "by others"}) == ENTRY


@pytest.mark.parametrize(
    "change", [{"documents": [["news", "a"]]}, {"action": "drop"}, {"lead": ["a"]}, {"tag": None}, {"kind": "pile"}]
)
def test_what_is_no_entry_is_called_damaged(change: dict[str, object]) -> None:
    with pytest.raises(DamagedRecord):
        TagEntry.from_record(ENTRY.as_record() | change)


@pytest.mark.parametrize(
    ("typed", "tag"), [("Privileged", "privileged"), ("  Project\tFalcon ", "project falcon"), ("ÉTÉ", "été")]
)
def test_a_tag_is_one_however_it_is_typed(typed: str, tag: str) -> None:
    assert read_tag(typed) == tag


@pytest.mark.parametrize("typed", ["", " ", "a,b", "x" * (MAX_TAG + 1), "a\u200bb", "\x00"])
def test_a_tag_that_no_table_could_hold_is_refused_with_what_would_be_right(typed: str) -> None:
    with pytest.raises(UsageError, match="relevant, not-relevant, privileged"):
        read_tag(typed)


def test_relevant_and_not_relevant_replace_each_other_and_leave_other_tags() -> None:
    tags = Tags([entry("privileged", A), entry("relevant", A, B), entry("not-relevant", A)])
    assert list(tags.standing(A.name)) == ["not-relevant", "privileged"]
    assert list(tags.standing(B.name)) == ["relevant"]
    assert [tags.holds(each, A.name) for each in tags.entries] == [True, False, True]


def test_a_tag_is_taken_back_by_an_entry_and_both_stay_in_the_ledger() -> None:
    tags = Tags([entry("relevant", A, B), entry("relevant", A, action="remove")])
    assert not tags.standing(A.name)
    assert list(tags.standing(B.name)) == ["relevant"]
    assert len(list(tags.rows())) == 3


def test_to_take_back_a_tag_that_a_document_does_not_have_changes_nothing() -> None:
    tags = Tags([entry("not-relevant", A), entry("relevant", A, action="remove")])
    assert list(tags.standing(A.name)) == ["not-relevant"]


def test_a_document_that_nobody_tagged_has_no_tags() -> None:
    assert not Tags([entry("relevant", A)]).standing(C.name)


def test_who_may_not_read_all_documents_of_an_entry_sees_neither_its_lead_nor_its_reason() -> None:
    assert ENTRY.among({A.name, B.name}) is ENTRY
    part = ENTRY.among({B.name})
    assert part is not None
    assert (part.documents, part.lead, part.reason, part.author) == ((B,), None, "", "Ada")
    assert ENTRY.among({C.name}) is None


def test_a_text_has_changed_only_where_hashes_of_one_scheme_differ() -> None:
    assert has_changed("ch3:a", "ch3:b")
    assert not any((has_changed("ch3:a", "ch3:a"), has_changed("ch3:a", "ch4:b"), has_changed("", "ch3:b")))


ENTRIES = st.lists(
    st.builds(
        TagEntry,
        st.sampled_from((*USUAL, "falcon")),
        st.sampled_from(ACTIONS),
        st.lists(st.sampled_from((A, B, C)), min_size=1, max_size=3, unique=True).map(tuple),
    ),
    max_size=12,
)


@given(ENTRIES)
def test_whatever_the_entries_each_is_kept_and_a_document_is_never_relevant_and_not(entries: list[TagEntry]) -> None:
    tags = Tags(entries)
    assert len(list(tags.rows())) == sum(len(each.documents) for each in entries)
    for name in (A.name, B.name, C.name):
        standing = tags.standing(name)
        assert len({"relevant", "not-relevant"} & standing.keys()) <= 1
        assert all(last.entry.action == "add" and tags.holds(last.entry, name) for last in standing.values())
