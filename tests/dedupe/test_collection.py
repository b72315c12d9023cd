"""Figures of a collection: which rule goes for it, counted without labels."""

import random
import re
from pathlib import Path

import pytest

from ibidem_dedupe.collection import CollectionFigures
from ibidem_dedupe.policy import CLEAN, LONG_TOKENS, MISREAD, Policy, Slots
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_ingest.signatures.sign import sign
from support.books import misread_text
from support.general_tables import general_tables

WORDS = re.findall("[a-z]{3,}", (Path(__file__).parents[2] / "LICENSE").read_text().lower())


def columns(texts: list[str]) -> PackedColumns:
    documents = [Document(str(at), text, language="en") for at, text in enumerate(texts)]
    pairs = zip(documents, sign(documents, general_tables()), strict=True)
    return PackedColumns.decode([pack(document, signatures) for document, signatures in pairs])


def prose(seed: int, words: int = 120) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))  # noqa: S311 - made-up data keeps no secret


def collection(misread: int, documents: int = 200) -> CollectionFigures:
    texts = [prose(seed) for seed in range(documents)]
    return CollectionFigures.count(columns([misread_text(text, 0.3) for text in texts[:misread]] + texts[misread:]))


@pytest.mark.parametrize(("misread", "rule"), [(0, CLEAN), (4, CLEAN), (40, MISREAD)])
def test_the_share_of_misread_documents_decides_on_the_rule(misread: int, rule: Policy) -> None:
    figures = collection(misread)
    assert figures.share == pytest.approx(misread / 200, abs=0.02)
    assert figures.policy() == rule


def test_of_few_documents_nothing_is_counted() -> None:
    assert collection(100, documents=150).policy() == CLEAN


@pytest.mark.parametrize(
    ("share", "clean", "misread"),
    [(0.02, CLEAN, CLEAN), (0.03, CLEAN, CLEAN), (0.1, CLEAN, MISREAD), (0.2, MISREAD, MISREAD)],
)
def test_an_index_changes_its_rule_only_where_the_share_is_clear(share: float, clean: Policy, misread: Policy) -> None:
    figures = CollectionFigures(1_000, round(1_000 * share), 50)
    assert (figures.policy(CLEAN), figures.policy(MISREAD)) == (clean, misread)


def versions(changed: list[int]) -> list[str]:
    """Return long texts in pairs, of which one in so many words differs."""
    texts = []
    for seed, every in enumerate(changed):
        words = prose(seed, LONG_TOKENS + 500).split()
        other = [f"{word}ed" if at % every == seed % every else word for at, word in enumerate(words)]
        texts += [" ".join(words), " ".join(other)]
    return texts


def test_long_versions_need_fewer_equal_slots_where_such_pairs_are_rare() -> None:
    figures = CollectionFigures.count(columns(versions([18] * 60 + [10] * 4)))
    assert 25 <= figures.long < 50
    assert figures.policy().slots == Slots(long=figures.long)


def test_long_texts_of_one_form_need_as_many_equal_slots_as_others() -> None:
    figures = CollectionFigures.count(columns(versions([18] * 45 + [13] * 90)))
    assert figures.long == 50
    assert figures.policy().slots == Slots()
