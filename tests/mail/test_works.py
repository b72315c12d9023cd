"""Which documents are of one work."""

from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_ingest.document import Document
from ibidem_mail import works as module
from ibidem_mail.versioned_document import versioned_documents
from ibidem_mail.works import Works


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
