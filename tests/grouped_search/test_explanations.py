"""Evidence is described in words."""

import re
from pathlib import Path

import pytest

from ibidem.comparison.compare import compare
from ibidem.grouped_search.explanations import reason, remarks
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from support.books import page

DASH = "\N{EN DASH}"
PLACES = {"parts": "pages", "own": {"from": 3, "to": 3, "of": 20}, "other": {"from": 12, "to": 31, "of": 402}}
COVERED = {"covered_a": 0.9, "covered_b": 0.04}
OVERLAP = "texts that overlap: page 3 of 20 with pages 12-31 of 402"


@pytest.mark.parametrize(
    ("why", "message"),
    [
        ({"signature": "content"}, "the same words in the same order"),
        ({"signature": "minhash", "shared": 73, "of": 100}, "about 84 % of the text shared"),
        ({"signature": "minhash", "differs": "signs"}, "the same words with other signs"),
        (
            {"signature": "minhash", "differs": "signs", "sign": ["5", "- 5"]},
            "the same words with other signs (5 → - 5)",
        ),
        ({"signature": "minhash", "differs": "sender"}, "the same words from another sender"),
        (
            {"signature": "termvector", "shared": 41, "of": 60, "days_apart": 0},
            "41 of 60 rare terms shared, the same day",
        ),
        ({"signature": "termvector", "shared": 41, "of": 60, "days_apart": None}, "41 of 60 rare terms shared"),
        (
            {"signature": "profile", "length_ratio": 0.81},
            "the same frequent words equally often, one is 19 % shorter",
        ),
        (
            {"signature": "minhash", "shared": 60, "of": 100, "numbers_agree": False},
            "about 75 % of the text shared, other numbers",
        ),
        ({"signature": "override", "author": "J. Doe"}, "declared the same by J. Doe"),
        ({"signature": "relation"}, "relation"),
        (
            {"signature": "pages", "relation": "part_of", "direction": "part_of", **PLACES},
            "part of: Journal, pages 12-31 of 402",
        ),
        (
            {"signature": "pages", "relation": "contiguous_subset", "direction": "contains", **PLACES},
            "contains: Journal, page 3 of 20",
        ),
        ({"signature": "pages", "relation": "overlapping_text", **PLACES}, OVERLAP),
        ({"signature": "pages", "relation": "different_pagination", **PLACES}, "the same text on other pages"),
        (
            {"signature": "chunks", "relation": "different_pagination", **PLACES, "parts": "chunks"},
            "the same text, longer or shorter in places",
        ),
        (
            {"signature": "pages", "relation": "different_pagination", **PLACES, "signals": COVERED},
            "the same text on other pages (about 4 % of the text shared)",
        ),
        (
            {"signature": "pages", "relation": "overlapping_text", **PLACES, "signals": {"covered_b": 0.01}},
            OVERLAP + " (about 1 % of its text)",
        ),
        (
            {"signature": "pages", "relation": "part_of", **PLACES, "signals": COVERED},
            "part of: Journal, pages 12-31 of 402",
        ),
        (
            {"signature": "minhash", "shared": 73, "of": 100, "relation": "same_pagination", **PLACES},
            "the same text on the same pages, about 84 % of the text shared",
        ),
        (
            {"signature": "shingles", "relation": "part_of", "estimate": 0.92},
            "part of: Journal, about 92 % of the shorter text shared",
        ),
        ({}, ""),
    ],
)
def test_a_reason_says_the_figure_and_the_guards_that_matter(why: dict[str, object], message: str) -> None:
    assert reason(why, "Journal").replace(DASH, "-") == message


@pytest.mark.slow
def test_pages_that_share_a_third_each_are_reported_with_their_share(tmp_path: Path) -> None:
    first = [page(number) for number in range(20)]
    second = [words[: len(words) // 3] + page(100 + at)[len(words) // 3 :] for at, words in enumerate(first)]
    a, b = (Document(name, "\f".join(map(" ".join, pages))) for name, pages in (("a", first), ("b", second)))
    comparison = compare(a, b, Tables(tmp_path))
    assert comparison.evidence is not None
    assert re.search(r"on the same pages \(about (2\d|3\d) % of the text shared\)", reason(comparison.evidence.why))


def test_a_document_that_is_not_named_is_it() -> None:
    assert reason({"signature": "pages", "relation": "contains", **PLACES}) == "contains it, page 3 of 20"


def test_two_that_are_named_are_in_one_sentence() -> None:
    why = {"signature": "pages", "relation": "part_of", **PLACES}
    assert reason(why, "B", "A").replace(DASH, "-") == "A is part of B, pages 12-31 of 402"
    assert reason({**why, "relation": "contains"}, "B", "A") == "A contains B, page 3 of 20"


def test_the_remedy_stands_beside_the_hits_without_signatures_whatever_else_is_counted() -> None:
    account = {"unsigned": 2, "unsettled": 1, "documents": {"in_window": 2}}
    assert list(remarks(account)) == [
        "2 not signed yet; run ibidem backfill",
        "1 not grouped yet",
    ]
