"""Which documents are of one work, what a name says of the version, their order, and which one is current."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.document import Document
from ibidem_mail.works import (
    Version,
    Works,
    read_identifier,
    read_name,
    read_number,
    sort_versions,
    versioned_documents,
    versions,
)


def text(seed: int, words: int = 400, changed: float = 0.0) -> str:
    rng, change = Random(seed), Random(f"{seed} {changed}")  # noqa: S311 - made-up words
    drawn = [f"w{rng.randrange(5_000)}" for _ in range(words)]
    return " ".join(f"x{change.randrange(5_000)}" if change.random() < changed else word for word in drawn)


def document(id_: str, content: str, title: str = "", **meta: object) -> Document:
    return Document(id_, content, title=title, meta=meta)


def works(*documents: Document) -> set[frozenset[str]]:
    found = Works.find(versioned_documents(documents))
    return {frozenset(found.documents[row].id for row in rows) for rows in found.members()}


def reasons(*documents: Document) -> Mapping[tuple[str, str], str]:
    found = Works.find(versioned_documents(documents))
    return {(found.documents[a].id, found.documents[b].id): by for (a, b), by in found.by.items()}


def test_a_longer_title_with_a_number_of_its_own_is_another_work() -> None:
    names = ("Harbour License 1.0", "Lesser Harbour License 1.0"), ("Harbour License 3.0", "Lesser Harbour License 2.1")
    for pair in names:
        assert (
            len(works(*(document(id_, text(1, changed=0.02), name) for id_, name in zip("ab", pair, strict=True)))) == 2
        )
    assert len(works(document("a", text(1), "Harbour License"), document("b", text(1), "The old Harbour License"))) == 1


def test_a_field_that_declares_a_work_is_believed_against_text_and_names() -> None:
    a, b = document("a", text(1), "Act", work="1"), document("b", text(2), "Statute", isVersionOf="1")
    c = document("c", text(1, changed=0.05), "Act", work="2")
    assert works(a, b, c) == {frozenset("ab"), frozenset("c")}
    assert reasons(a, b, c) == {("a", "b"): "declared"}


def test_a_document_names_the_one_that_it_replaces_by_id_address_or_identifier() -> None:
    old = Document("a", text(1), title="Act", url="https://law.example/1", meta={"identifier": "1987/3"})
    for name in ("a", "https://law.example/1", "1987/3"):
        assert len(works(old, document("b", text(2), "Statute", replaces=name))) == 1


def test_unrelated_acts_with_the_same_boilerplate_are_two_works() -> None:
    shared_half = text(3, 300)
    contents = [f"{shared_half} {text(seed, 300)}" for seed in (1, 2)]
    for titles in (
        ("Regulation (EU) 2016/679", "Regulation (EU) 2017/745"),
        ("Directive 2006/123/EC", "Directive 2006/48/EC"),
    ):
        assert len(works(*map(document, "ab", contents, titles))) == 2
    for name in ("http://data.europa.eu/eli/reg/{}/oj", "ECLI:EU:C:{}"):
        numbers = [name.format(number) for number in ("2016/679", "2017/745")]
        assert len(works(*(document(id_, contents[at], eli=numbers[at]) for at, id_ in enumerate("ab")))) == 2
        by_url = (Document(id_, contents[at], url=numbers[at]) for at, id_ in enumerate("ab"))
        assert len(works(*by_url)) == 2


@given(st.permutations(["a", "b", "c", "d"]))
def test_works_are_the_same_whatever_the_order_of_documents(order: list[str]) -> None:
    contents = {"a": text(1), "b": text(1, changed=0.1), "c": text(2), "d": text(2, changed=0.05)}
    names = {"a": "Lease", "b": "Lease, final", "c": "Lease v1", "d": "Lease v2"}
    assert works(*(document(each, contents[each], names[each]) for each in order)) == {frozenset("ab"), frozenset("cd")}


@pytest.mark.parametrize(
    "begins",
    [
        "Referee 2 on this paper.",
        "Reply to referee 2.",
        "Comment on a paper.",
        "Erratum.",
        "No. 374118. Before the panel. (dissenting).",
        "CONCURRING OPINION.",
        'Two remarks on "Carbon in the river meadows".',
    ],
)
def test_a_text_about_a_work_is_no_version_of_it(begins: str) -> None:
    paper = Document("a", text(1), title="Carbon in the river meadows", date="2023-02-01")
    about = Document("b", f"{begins} {text(1, changed=0.1)}", title=paper.title, date="2023-04-01")
    assert works(paper, about) == {frozenset("a"), frozenset("b")}


TEXT = "The rent of the house at the harbour is due on the first of May, and the roof has to be mended before. "


def test_fields_that_speak_of_versions_are_read_by_any_of_their_names() -> None:
    meta = {"isVersionOf": "rent act", "dcterms:replaces": ["a", "b"], "edition": "2.1", "identifier": "2020/1", "x": 1}
    (read,) = versioned_documents([Document("c", TEXT, meta=meta)])
    assert (read.works, read.replaces, read.number) == ({"rent act"}, {"a", "b"}, (2, 1))
    assert read.called == {"c", "2020/1"}


def test_a_mail_is_no_version_unless_it_says_so() -> None:
    mail = {"type": "mail"}
    read = versioned_documents([Document("a", TEXT, meta=mail), Document("b", TEXT, meta={**mail, "replaces": "a"})])
    assert [each.id for each in read] == ["b"]


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("Lease of the house v3", (3,)),
        ("Lease_of_the_house_v2.1_draft.pdf", (2, 1)),
        ("Lease of the house (2).docx", (2,)),
        ("Lease of the house, rev. B", (2,)),
        ("Lease of the house, 3rd edition", (3,)),
        ("Second edition: lease of the house", (2,)),
        ("Lease of the house \u2013 Entwurf 4", (4,)),
        ("Lease of the house, as amended", ()),
        ("LEASE of the house 2019-2020", ()),
        ("Copy of lease of the house FINAL", ()),
        ("Lease of the house (effective 10/29/2020)", ()),
        ("Lease of the house 2019/20", ()),
        ("Lease of the house, v.3", (3,)),
    ],
)
def test_versions_of_one_work_have_one_name(name: str, number: tuple[int, ...]) -> None:
    assert (read_name(name).work, read_name(name).number) == ("lease of the house", number)


@pytest.mark.parametrize(
    "name",
    ["Roe v. Wade", "United States v. 37 Photographs", "Chapter 12", "Issue 7", "Part 2", "Report No. 3", "Newer York"],
)
def test_a_number_that_names_another_work_is_no_version(name: str) -> None:
    assert read_name(name).number == ()
    assert len(read_name(name).work.split()) == len(name.split())


@pytest.mark.parametrize(
    ("name", "work"),
    [
        ("Directive 2006/123/EC", "directive 2006 123 ec"),
        ("Directive 2006/07/EC", "directive 2006 07 ec"),
        ("2006/48/EC", "2006 48 ec"),
        ("Regulation (EU) 2016/679", "regulation eu 2016 679"),
        ("Regulation (EU) 2019/2020", "regulation eu 2019 2020"),
        ("Regulation (EU) No 604/2013", "regulation eu no 604 2013"),
        ("Case 2019/1234", "case 2019 1234"),
        ("ECLI:EU:C:2014:317", "ecli eu c 2014 317"),
        ("Plan 2019-2023", "plan 2019 2023"),
    ],
)
def test_a_year_that_is_part_of_a_number_stays_in_the_name(name: str, work: str) -> None:
    assert (read_name(name).work, read_name(name).year) == (work, None)


@pytest.mark.parametrize(
    ("name", "work", "number"),
    [
        ("http://data.europa.eu/eli/reg/2016/679/oj", "http data europa eu eli reg 2016 679 oj", ()),
        ("ECLI:EU:C:2014:317", "ecli eu c 2014 317", ()),
        ("law.example/acts/2020-01-01/3", "law example acts 2020 01 01 3", ()),
        ("arXiv:2301.00001v5", "arxiv 2301 00001", (5,)),
        ("shop.example/v2/terms.html", "shop example terms", (2,)),
        ("shop.example/terms-v2.1.pdf", "shop example terms", (2, 1)),
        ("draft-ietf-quic-http-07", "draft ietf quic http", (7,)),
    ],
)
def test_an_identifier_keeps_its_years_and_numbers_but_no_version_mark(
    name: str, work: str, number: tuple[int, ...]
) -> None:
    assert (read_identifier(name).work, read_identifier(name).number) == (work, number)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("15.02.2024", (2024, 2, 15)),
        ("2024-03-01T00:30:00+02:00", (2024, 2, 29, 22, 30, 0)),
        ("third", (3,)),
        ("Second", (2,)),
        ("123456789", (123456789,)),
        (True, ()),
        (False, ()),
    ],
)
def test_a_declared_number_may_be_a_date_or_a_word(value: object, number: tuple[int, ...]) -> None:
    assert read_number(value) == number


def order(*documents: Document) -> str:
    return "".join(each.id for each in sort_versions(list(versioned_documents(documents))))


def rows(*documents: Document) -> dict[str, Version]:
    return {row.id: row for row in versions(Works.find(versioned_documents(documents)))}


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


@pytest.mark.parametrize(
    ("marks", "dates"),
    [
        (("v1", "v2"), ("1991", "1990")),
        (("v2", "v2.1", "v10"), ("", "", "")),
        (("v1", "", "v2"), ("1991", "1991-06", "1992")),
        (("v1", "v2", ""), ("1991", "1992", "1993")),
    ],
    ids=["numbers before dates", "part by part", "by its date between", "by its date behind"],
)
def test_versions_are_in_the_order_of_their_numbers_and_those_without_by_date(
    marks: Sequence[str], dates: Sequence[str]
) -> None:
    documents = [
        Document(str(at), TEXT, title=f"Lease {mark}", date=date)
        for at, (mark, date) in enumerate(zip(marks, dates, strict=True))
    ]
    assert order(*documents[::-1]) == "".join(each.id for each in documents)
