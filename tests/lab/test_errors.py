"""Disagreements of found duplicates and labels are listed, the worst first."""

import pytest

from ibidem_dedupe.policy import Policy
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_ingest.signatures.sign import sign
from ibidem_lab.evaluate import SignedDocuments

WORDS = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(120)]
DOCS = [
    Document("whole", " ".join(WORDS)),
    Document("most", " ".join(WORDS[:90] + ["other"] * 30)),
    Document("half", " ".join(WORDS[:60])),
    Document("none", "nothing that anybody else has said so far"),
    Document("blank", "..."),
]


@pytest.fixture
def collection(tables: Tables) -> SignedDocuments:
    packed = [pack(each, signatures) for each, signatures in zip(DOCS, sign(DOCS, tables), strict=True)]
    return SignedDocuments([each.id for each in DOCS], PackedColumns.decode(packed), Policy())


def test_missed_pairs_come_most_alike_first_and_wrong_ones_least_alike_first(collection: SignedDocuments) -> None:
    pairs = {("half", "whole"), ("most", "whole"), ("none", "whole")}
    missed = collection.worst(pairs, set())
    wrong = collection.worst(set(), pairs)
    assert [each.a for each in missed] == [each.a for each in reversed(wrong)] == ["most", "half", "none"]


def test_half_are_of_either_kind_and_one_makes_room_for_the_other(collection: SignedDocuments) -> None:
    pairs = [("half", "whole"), ("most", "whole"), ("none", "whole")]
    assert [each.kind for each in collection.worst(set(pairs[:2]), {pairs[2]}, 2)] == ["missed", "wrong"]
    assert [each.kind for each in collection.worst(set(pairs), set(), 2)] == ["missed", "missed"]
    assert [each.kind for each in collection.worst(set(), set(pairs), 2)] == ["wrong", "wrong"]


def test_a_document_without_words_is_like_no_other_and_says_so(collection: SignedDocuments) -> None:
    (mistake,) = collection.worst({("blank", "none")}, set())
    assert (mistake.alike, mistake.why) == (0.0, "one of them has no words to sign")
