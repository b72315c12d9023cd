"""The order of versions, and which one is current."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.document import Document
from ibidem_mail.versioned_document import versioned_documents
from ibidem_mail.works import Version, Works, sort_versions, versions

TEXT = "The rent of the house at the harbour is due on the first of May, and the roof has to be mended before. "


def order(*documents: Document) -> str:
    return "".join(each.id for each in sort_versions(list(versioned_documents(documents))))


def rows(*documents: Document) -> dict[str, Version]:
    return {row.id: row for row in versions(Works.find(versioned_documents(documents)))}


def test_declared_numbers_come_before_dates() -> None:
    assert (
        order(Document("b", TEXT, title="Lease v2", date="1990"), Document("a", TEXT, title="Lease v1", date="1991"))[0]
        == "a"
    )


def test_a_successor_comes_behind_what_it_replaces_whatever_the_dates_say() -> None:
    old, new = Document("old", TEXT, date="1999"), Document("new", TEXT, date="1990", meta={"replaces": "old"})
    assert order(old, new) == "oldnew"
    assert order(Document("z", TEXT, meta={"isReplacedBy": "a"}), Document("a", TEXT)) == "za"


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_a_successor_comes_behind_what_it_replaces_unless_both_are_on_one_circle(pairs: list[tuple[int, int]]) -> None:
    replaces = {at: [str(old) for new, old in pairs if new == at] for at in range(7)}
    found = order(*(Document(str(at), TEXT, date=str(1990 - at), meta={"replaces": replaces[at]}) for at in range(7)))
    reach = {at: {old for new, old in pairs if new == at} for at in range(7)}
    for _ in range(7):
        reach = {at: olds.union(*(reach[old] for old in olds)) for at, olds in reach.items()}
    for new, old in pairs:
        assert new == old or new in reach[old] or found.index(str(old)) < found.index(str(new))


def test_copies_that_follow_each_other_are_one_version() -> None:
    first, copy, second = (
        Document(id_, TEXT * 4 + more, title="Lease", date=date)
        for id_, more, date in (("a", "", "1990"), ("b", "", "1991"), ("c", "Signed.", "1992"))
    )
    found = rows(first, copy, second)
    assert [found[id_].version for id_ in "abc"] == [1, 1, 2]
    assert [found[id_].replaces for id_ in "abc"] == [None, None, "b"]
    assert [found[id_].current for id_ in "abc"] == [False, False, True]
    assert [found[id_].by for id_ in "abc"] == [None, "name", "name"]


def test_of_copies_the_last_by_name_or_date_is_current() -> None:
    def current(*documents: Document) -> list[str]:
        return [row.id for row in rows(*documents).values() if row.current]

    draft, final = (Document(id_, TEXT, title=f"Lease, {id_}", date="1990") for id_ in ("draft", "final"))
    assert current(final, draft) == ["final"]
    assert current(Document("z", TEXT, title="Lease", date="1991"), Document("a", TEXT, title="Lease")) == ["z"]
    assert current(Document("b", TEXT, title="Lease"), Document("a", TEXT, title="Lease")) == ["a"]


DOCUMENTS = st.lists(
    st.builds(
        lambda number, title, date, replaces: (number, title, date, replaces),
        st.integers(0, 3),
        st.sampled_from(["", "Lease", "Lease v1", "Lease v2", "Lease draft", "Other"]),
        st.sampled_from(["", "1990", "1991-05-01"]),
        st.sampled_from(["", "0", "1", "2"]),
    ),
    max_size=8,
)


@given(DOCUMENTS)
def test_each_document_is_one_version_and_each_work_has_one_that_is_current(
    parts: list[tuple[int, str, str, str]],
) -> None:
    documents = [
        Document(str(at), TEXT * 3 + f"word{number} " * number, title=title, date=date, meta={"replaces": replaces})
        for at, (number, title, date, replaces) in enumerate(parts)
    ]
    found = list(versions(Works.find(versioned_documents(documents))))
    assert sorted(row.id for row in found) == sorted(each.id for each in documents)
    assert Counter(row.work for row in found if row.current) == dict.fromkeys({row.work for row in found}, 1)
    by_id = {row.id: row for row in found}
    for row in found:
        assert (row.replaces is None) == (row.version == 1)
        assert row.replaces is None or by_id[row.replaces].version == row.version - 1
        assert (row.by is None) == (row.work == row.id)
