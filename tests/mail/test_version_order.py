"""The order of versions, and which one is current."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.document import Document
from ibidem_mail.version_order import Version, sort_versions, versions
from ibidem_mail.versioned_document import versioned_documents
from ibidem_mail.works import Works

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


def test_numbers_are_compared_part_by_part() -> None:
    assert (
        order(*(Document(id_, TEXT, title=f"Lease {mark}") for id_, mark in (("c", "v10"), ("a", "v2"), ("b", "v2.1"))))
        == "abc"
    )


def test_a_document_without_a_number_comes_where_its_date_puts_it() -> None:
    one, two = (Document(str(at), TEXT, title=f"Lease v{at}", date=f"199{at}") for at in (1, 2))
    assert order(one, Document("x", TEXT, title="Lease", date="1991-06"), two) == "1x2"
    assert order(one, two, Document("x", TEXT, title="Lease", date="1993")) == "12x"


def test_a_draft_comes_before_the_final_text_where_dates_are_missing() -> None:
    assert order(Document("b", TEXT, title="Lease, final"), Document("a", TEXT, title="Lease, draft")) == "ab"


def test_a_successor_comes_behind_what_it_replaces_whatever_the_dates_say() -> None:
    old, new = Document("old", TEXT, date="1999"), Document("new", TEXT, date="1990", meta={"replaces": "old"})
    assert order(old, new) == "oldnew"
    assert order(Document("z", TEXT, meta={"isReplacedBy": "a"}), Document("a", TEXT)) == "za"


def test_one_document_without_a_date_moves_no_other() -> None:
    one, two = (Document(str(at), TEXT, title=f"Lease v{at}", date=f"199{at}") for at in (1, 2))
    dated = Document("x", TEXT, title="Lease", date="1991-06")
    assert order(one, dated, two, Document("u", TEXT, title="Lease")).replace("u", "") == "1x2"


def test_a_document_without_a_date_comes_behind_those_of_an_earlier_stage() -> None:
    draft, plain = (Document(id_, TEXT, title=title, date="1990") for id_, title in (("d", "Lease, draft"), ("p", "A")))
    assert order(Document("f", TEXT, title="Lease, final"), draft, plain) == "dpf"
    assert order(Document("u", TEXT, title="Lease"), draft) == "du"
    numbered_runs = Document("n", TEXT, title="Lease v3, draft", date="1991")
    assert order(Document("f", TEXT, title="Lease, final"), numbered_runs) == "nf"


def test_times_are_compared_in_one_zone() -> None:
    early = Document("b", TEXT, title="Lease", date="2024-03-01T00:30:00+02:00")
    late = Document("a", TEXT, title="Lease", date="2024-02-29T23:00:00Z")
    assert order(late, early) == "ba"
    assert [each.id for each in Works.find(versioned_documents([late, early])).documents] == ["b", "a"]


def test_of_documents_with_equal_marks_the_first_comes_first() -> None:
    assert order(Document("b", TEXT, title="Lease"), Document("a", TEXT, title="Lease")) == "ba"


def test_a_circle_is_cut_on_the_circle_alone() -> None:
    a, b = (Document(id_, TEXT, date="1995", meta={"replaces": of}) for id_, of in ("ab", "ba"))
    successor = Document("c", TEXT, date="1990", meta={"replaces": ["a", "b"]})
    predecessor = Document("d", TEXT, date="1999", meta={"isReplacedBy": ["a", "b"]})
    assert order(successor, a, b, predecessor) == "dabc"


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_a_successor_comes_behind_what_it_replaces_unless_both_are_on_one_circle(pairs: list[tuple[int, int]]) -> None:
    replaces = {at: [str(old) for new, old in pairs if new == at] for at in range(7)}
    found = order(*(Document(str(at), TEXT, date=str(1990 - at), meta={"replaces": replaces[at]}) for at in range(7)))
    reach = {at: {old for new, old in pairs if new == at} for at in range(7)}
    for _ in range(7):
        reach = {at: olds.union(*(reach[old] for old in olds)) for at, olds in reach.items()}
    for new, old in pairs:
        assert new == old or new in reach[old] or found.index(str(old)) < found.index(str(new))


def test_a_circle_of_replacements_loses_no_document() -> None:
    circle = [Document(id_, TEXT, meta={"replaces": of}) for id_, of in ("ab", "bc", "ca")]
    assert sorted(order(*circle, Document("d", TEXT, meta={"replaces": "d"}))) == list("abcd")


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
