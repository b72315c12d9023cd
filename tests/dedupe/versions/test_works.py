"""Which documents are of one work."""

from collections.abc import Mapping
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe.versions import works as module
from ibidem_dedupe.versions.versioned_document import versioned_documents
from ibidem_dedupe.versions.works import Works, shared
from ibidem_ingest.document import Document


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


@given(st.permutations(["a", "b", "c", "d"]))
def test_works_are_the_same_whatever_the_order_of_documents(order: list[str]) -> None:
    contents = {"a": text(1), "b": text(1, changed=0.1), "c": text(2), "d": text(2, changed=0.05)}
    assert works(*(document(each, contents[each], "Lease") for each in order)) == {frozenset("ab"), frozenset("cd")}


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
