"""Figures of a collection: which rule goes for it, counted without labels."""

import random
import re
from pathlib import Path

import pytest

from ibidem_dedupe.collection import CollectionFigures
from ibidem_dedupe.policy import CLEAN, LONG_TOKENS, MISREAD, Policy
from ibidem_ingest.document import Document
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.packed import PackedColumns, pack
from ibidem_ingest.signatures.sign import sign
from support.general_tables import general_tables

WORDS = re.findall("[a-z]{3,}", (Path(__file__).parents[2] / "LICENSE").read_text().lower())


def columns(texts: list[str]) -> PackedColumns:
    documents = [Document(str(at), text, language="en") for at, text in enumerate(texts)]
    pairs = zip(documents, sign(documents, general_tables()), strict=True)
    return PackedColumns.decode([pack(document, signatures) for document, signatures in pairs])


def prose(seed: int, words: int = 120) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))  # noqa: S311 - made-up data keeps no secret


@pytest.mark.parametrize(
    ("share", "clean", "misread"),
    [(0.02, CLEAN, CLEAN), (0.03, CLEAN, CLEAN), (0.1, CLEAN, MISREAD), (0.2, MISREAD, MISREAD)],
)
def test_an_index_changes_its_rule_only_where_the_share_is_clear(share: float, clean: Policy, misread: Policy) -> None:
    figures = CollectionFigures(1_000, round(1_000 * share), None)
    assert (figures.policy(CLEAN), figures.policy(MISREAD)) == (clean, misread)


def versions(changed: list[int]) -> list[str]:
    """Return long texts in pairs, of which one in so many words differs."""
    texts = []
    for seed, every in enumerate(changed):
        words = prose(seed, LONG_TOKENS + 500).split()
        other = [f"{word}ed" if at % every == seed % every else word for at, word in enumerate(words)]
        texts += [" ".join(words), " ".join(other)]
    return texts


@pytest.mark.slow
@pytest.mark.parametrize("in_use", [loops.IN_USE, None])
@pytest.mark.parametrize(
    ("changed", "least"),
    [([18] * 60 + [10] * 4, 25), ([18] * 45 + [13] * 90, None), ([18] * 20, None)],
    ids=["few in the same form", "many in the same form", "few"],
)
def test_long_versions_need_fewer_equal_slots_where_looser_pairs_are_rare(
    changed: list[int], least: int | None, in_use: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = columns(versions(changed))
    monkeypatch.setattr(loops, "IN_USE", in_use)
    assert CollectionFigures.count(signed).long == least
