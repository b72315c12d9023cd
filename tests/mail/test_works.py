"""Which documents are of one work."""

from collections.abc import Mapping
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.document import Document
from ibidem_mail import works as module
from ibidem_mail.versioned_document import versioned_documents
from ibidem_mail.works import Works, shared


def text(seed: int, words: int = 400, changed: float = 0.0) -> str:
    """Write words of one vocabulary; some of them changed."""
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


def test_documents_of_one_name_with_text_in_common_are_of_one_work() -> None:
    first, second = document("a", text(1), "Lease v1"), document("b", text(1, changed=0.1), "Lease v2 (final)")
    assert reasons(first, second) == {("a", "b"): "name"}


def test_one_name_without_text_in_common_is_two_works() -> None:
    assert len(works(document("a", text(1), "Privacy Policy"), document("b", text(2), "Privacy Policy"))) == 2


def test_documents_whose_names_differ_are_two_works_although_they_share_their_text() -> None:
    assert len(works(document("a", text(1), "Photos terms"), document("b", text(1, changed=0.05), "Drive terms"))) == 2


def test_a_title_of_several_words_with_two_numbers_needs_a_run_in_common() -> None:
    kept = text(7, 14)
    old, new = f"{text(1)} {kept}", f"{text(2)} {kept}"
    assert (
        len(works(document("a", old, "Harbour Public License 1.1"), document("b", new, "Harbour Public License 2.0")))
        == 1
    )
    assert len(works(document("a", old, "License v1"), document("b", new, "License v2"))) == 2


def test_a_longer_title_with_a_number_of_its_own_is_another_work() -> None:
    names = ("Harbour License 1.0", "Lesser Harbour License 1.0"), ("Harbour License 3.0", "Lesser Harbour License 2.1")
    for pair in names:
        assert (
            len(works(*(document(id_, text(1, changed=0.02), name) for id_, name in zip("ab", pair, strict=True)))) == 2
        )
    assert len(works(document("a", text(1), "Harbour License"), document("b", text(1), "The old Harbour License"))) == 1


def test_text_decides_where_a_document_has_no_name() -> None:
    assert reasons(document("a", text(1)), document("b", text(1, changed=0.05))) == {("a", "b"): "text"}


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


def test_issues_of_a_series_that_share_a_footer_are_two_works() -> None:
    footer = text(3, 40)
    issues = [f"{text(seed, 400)} {footer}" for seed in (1, 2)]
    assert len(works(*map(document, "ab", issues, ("Minutes 2024-01-05", "Minutes 2024-02-02")))) == 2
    assert len(works(*map(document, "ab", issues, ("Minutes 2024-01-05", "Minutes 2024-01-05, final")))) == 1


def test_a_document_in_between_does_not_join_works_that_are_declared_to_be_two() -> None:
    a, c = document("a", text(1), work="1"), document("c", text(1, changed=0.02), work="2")
    between = document("b", text(1, changed=0.01))
    found = works(a, between, c)
    assert len(found) == 2
    assert not any({"a", "c"} <= work for work in found)
    assert len(works(a, document("b", text(2), replaces=["a", "c"]), c)) == 2


def test_a_document_without_a_title_does_not_join_works_of_two_titles() -> None:
    a, c = document("a", text(1), "Photos terms"), document("c", text(1, changed=0.02), "Drive terms")
    found = works(a, document("b", text(1, changed=0.01)), c)
    assert len(found) == 2
    assert not any({"a", "c"} <= work for work in found)


def test_a_pair_that_shares_too_little_for_any_name_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    relate = module.name_relation
    monkeypatch.setattr(module, "name_relation", lambda a, b, common: compared.append((a.id, b.id)) or relate(a, b))
    monkeypatch.setattr(module, "shared", lambda _a, _b: 0.01)
    documents = list(versioned_documents(document(str(at), text(at, 12), "Minutes") for at in range(100)))
    assert sum(1 for _ in Works.find(documents).members()) == 100
    assert len(compared) == len(set(compared))


@given(st.permutations(["a", "b", "c", "d"]))
def test_works_are_the_same_whatever_the_order_of_documents(order: list[str]) -> None:
    contents = {"a": text(1), "b": text(1, changed=0.1), "c": text(2), "d": text(2, changed=0.05)}
    names = {"a": "Lease", "b": "Lease, final", "c": "Lease v1", "d": "Lease v2"}
    assert works(*(document(each, contents[each], names[each]) for each in order)) == {frozenset("ab"), frozenset("cd")}


def test_a_title_alone_joins_copies_only() -> None:
    contents = text(1), text(1, changed=0.1)
    for dates in (("", ""), ("2025-11-04", "2025-11-04"), ("2025-11-04", ""), ("2025", "2025-11-04T10:02:00Z")):
        alike = (Document(id_, contents[at], title="In re R. Q. B.", date=dates[at]) for at, id_ in enumerate("ab"))
        assert len(works(*alike)) == 2
    ordered = (Document(id_, contents[at], title="Lease", date=f"2025-11-0{at + 1}") for at, id_ in enumerate("ab"))
    assert len(works(*ordered)) == 1
    assert len(works(document("a", text(1), "Lease"), document("b", text(1, changed=0.01), "Lease"))) == 1


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


def test_what_a_text_quotes_is_not_shared_with_the_work() -> None:
    quoted, own = text(1, 30), text(2, 200)
    paper = Document("a", f"{own} {quoted}", title="Carbon", date="2023-02-01")
    letter = Document("b", f'{text(3, 200)} "{quoted}" {text(4, 10)}', title="Carbon", date="2023-04-01")
    assert len(works(paper, letter)) == 2


def test_a_far_shorter_text_that_shares_little_is_no_version() -> None:
    footer = text(3, 60)
    paper = Document("a", f"{text(1, 2_000)} {footer}", title="Carbon", date="2023-02-01")
    assert len(works(paper, Document("b", f"{text(2, 20)} {footer}", title="Carbon", date="2023-04-01"))) == 2
    assert len(works(paper, Document("b", f"{text(2, 2_000)} {text(1, 300)}", title="Carbon", date="2023-04-01"))) == 1


def test_a_document_is_compared_with_few_of_those_that_have_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    monkeypatch.setattr(module, "shared", lambda a, b: compared.append((a.id, b.id)) or 0.0)
    documents = list(versioned_documents(document(str(at), text(at, 12), "Minutes") for at in range(1_000)))
    assert sum(1 for _ in Works.find(documents).members()) == 1_000
    assert 990 <= len(compared) <= 8 * 1_000


def test_what_two_texts_share_is_estimated_within_a_tenth() -> None:
    for changed in (0.0, 0.02, 0.1):
        a, b = versioned_documents([document("a", text(1, 4_000)), document("b", text(1, 4_000, changed))])
        kept = (1 - changed) ** 5
        assert abs(shared(a, b) - kept / (2 - kept)) < 0.1


def test_texts_of_few_words_share_all_or_nothing() -> None:
    one, same, other = versioned_documents([Document("a", "Go away"), Document("b", "go, away"), Document("c", "Come")])
    assert [shared(x, y) for x, y in permutations((one, same, other), 2)][:2] == [1.0, 0.0]
