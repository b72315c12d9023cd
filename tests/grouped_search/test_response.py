"""A group as shown: its lead, its duplicates with their reasons, on the page where it belongs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from ibidem.grouped_search.api import reason, remarks, search_index
from ibidem.grouped_search.response import choose_lead
from ibidem_dedupe.overrides import Override
from ibidem_dedupe.parameters import PARAMETERS, parse_request
from ibidem_engines.engine import StoredDocument
from ibidem_ingest.signatures.packed import PackedColumns
from ibidem_ingest.signatures.schema import Signatures
from support.fake_engine import PAGE, FakeEngine
from support.windows import SampleWindow, signatures, value

BASE = signatures(1)


def mixed(seed: int, start: int, end: int) -> Signatures:
    """Return a text that shares only the slots from `start` to `end` with the base."""
    own_signatures = signatures(seed)
    return replace(
        own_signatures, slots=(*own_signatures.slots[:start], *BASE.slots[start:end], *own_signatures.slots[end:])
    )


# 0 is near 1 and 2; 1 and 2 are not near each other; 3 is alone.
CHAIN = SampleWindow(
    [
        value(mixed(2, 0, 75), "0", "1987-03-05"),
        value(mixed(3, 0, 51), "1", "1987-03-01"),
        value(mixed(4, 24, 75), "2"),
        value(signatures(5), "3"),
    ]
)


def answer(
    window: SampleWindow, words: list[Override] | None = None, mode: str = "indent", **options: object
) -> dict[str, Any]:
    parameters = {"dedupe": mode, **{f"dedupe_{name}": each for name, each in options.items()}}
    return search_index(FakeEngine(window), PAGE, parse_request(parameters), overrides=words or [])


def marks(response: dict[str, Any]) -> dict[str, Any]:
    return {hit["_id"]: hit["_dedupe"] for hit in response["hits"]["hits"]}


def test_the_reason_is_against_the_lead_that_is_shown_and_says_when_the_two_would_not_pass_alone() -> None:
    by_id = marks(answer(CHAIN, keep="earliest"))
    assert list(by_id) == ["0001", "0000", "0002", "0003"]
    assert by_id["0000"]["of"] == "0001"
    assert "notes" not in by_id["0000"]
    assert by_id["0002"]["of"] == "0000"
    assert by_id["0002"]["notes"] == ["would not pass against 0001 alone"]


def test_a_document_that_has_gone_since_is_said_to_be() -> None:
    class Forgetful(FakeEngine):
        def fetch(self, ids: Any, query: Any = None) -> list[StoredDocument]:
            return super().fetch(ids, query)[1:]

    hit = search_index(Forgetful(CHAIN), PAGE, parse_request({"dedupe": "indent"}))["hits"]["hits"][0]
    assert hit["_source"] == {}
    assert hit["_dedupe"]["notes"] == ["no longer in the index"]


def test_manual_decisions_are_reported() -> None:
    overrides = [
        Override(("news", "0001"), ("news", "0003"), "same", "Ada", date="2026-01-05"),
        Override(("news", "0000"), ("news", "0002"), "not", "Bob", "other court"),
        Override(("news", "0000"), ("news", "0003"), "not", "Cy", content_a=f"ch4:{0:032x}"),
    ]
    plain_marks, full_marks = marks(answer(CHAIN, overrides)), marks(answer(CHAIN, overrides, explain=True))
    group = plain_marks["0003"]["group"]
    assert plain_marks["0001"]["notes"] == [f"declared same as 0003, group {group}"]
    assert "notes" not in plain_marks["0000"]
    assert full_marks["0002"]["notes"] == ["declared not a duplicate of 0000 by Bob: other court"]
    assert full_marks["0000"]["notes"] == [
        "declared not a duplicate of 0002 by Bob: other court",
        "declared not a duplicate of 0003 by Cy (stale: a text has changed since)",
    ]


MEMBERS = (
    *(("1987-05", 200, "Globe"), ("1987-03-02", 190, "AP"), ("", 240, "Reuters")),
    *(("1987", 240, ""), ("1987-12-31", 230, "AP"), ("1987-01-01", 210, "Globe")),
)
COLUMNS = PackedColumns.decode(
    [value(signatures(1, length=length), f"{at}", date, source) for at, (date, length, source) in enumerate(MEMBERS)]
)


@pytest.mark.parametrize(
    ("rule", "rows", "lead"),
    [
        ("rank", range(6), 0),
        ("earliest", range(6), 3),  # a year begins on its first day, ties by rank
        ("latest", range(6), 3),  # and ends on its last
        ("longest", range(6), 2),  # ties by rank
        ("source:Reuters,AP", range(6), 2),
        ("source:Times,AP", range(6), 1),  # the next where the first is not there
        ("source:Times", range(6), 0),  # no listed source: by rank
        ("earliest", [1, 2], 1),  # one without a date comes last
        ("latest", [1, 2], 1),
        ("earliest", [2], 2),
        ("latest", [2], 2),
    ],
)
def test_the_member_that_was_asked_for_leads(rule: str, rows: Sequence[int], lead: int) -> None:
    keep = PARAMETERS["dedupe_keep"].read(rule)
    assert choose_lead(COLUMNS, rows, keep) == lead  # type: ignore[arg-type] # the reader of dedupe_keep


DASH = "\N{EN DASH}"
PLACES = {"parts": "pages", "own": {"from": 3, "to": 3, "of": 20}, "other": {"from": 12, "to": 31, "of": 402}}
COVERED = {"covered_a": 0.9, "covered_b": 0.04}
SAME_PAGES, OTHER_PAGES = "the same text on the same pages", "the same text on other pages"
OVERLAP = "texts that overlap: page 3 of 20 with pages 12-31 of 402"


def by(signature: str, shared: int = 0, of: int = 100, **more: object) -> dict[str, object]:
    return {"signature": signature, "shared": shared, "of": of, **more}


def pages_of(relation: str, signature: str = "pages", **more: object) -> dict[str, object]:
    return {"signature": signature, "relation": relation, **PLACES, **more}


@pytest.mark.parametrize(
    ("why", "message"),
    [
        (by("content"), "the same words in the same order"),
        (by("minhash", 73), "about 84 % of the text shared"),
        (by("minhash", differs="signs"), "the same words with other signs"),
        (by("minhash", differs="signs", sign=["5", "- 5"]), "the same words with other signs (5 → - 5)"),
        (by("minhash", differs="sender"), "the same words from another sender"),
        (by("termvector", 41, 60, days_apart=0), "41 of 60 rare terms shared, the same day"),
        (by("termvector", 41, 60, days_apart=None), "41 of 60 rare terms shared"),
        (by("profile", length_ratio=0.81), "the same frequent words equally often, one is 19 % shorter"),
        (by("minhash", 60, numbers_agree=False), "about 75 % of the text shared, other numbers"),
        (by("override", author="J. Doe"), "declared the same by J. Doe"),
        (by("override"), "declared the same by a reader"),
        (
            by("characters", estimate=0.4, misread=[]),
            "about 40 % of the characters shared; the differences look misread",
        ),
        ({"signature": "relation"}, "relation"),
        (pages_of("part_of", direction="part_of"), "part of: Journal, pages 12-31 of 402"),
        (pages_of("contiguous_subset", direction="contains"), "contains: Journal, page 3 of 20"),
        (pages_of("overlapping_text"), OVERLAP),
        (pages_of("different_pagination"), "the same text on other pages"),
        (pages_of("different_pagination", "chunks", parts="chunks"), "the same text, longer or shorter in places"),
        (pages_of("different_pagination", signals=COVERED), OTHER_PAGES + " (about 4 % of the text shared)"),
        (pages_of("overlapping_text", signals={"covered_b": 0.01}), OVERLAP + " (about 1 % of its text)"),
        (pages_of("part_of", signals=COVERED), "part of: Journal, pages 12-31 of 402"),
        (pages_of("same_pagination", "minhash", shared=73, of=100), SAME_PAGES + ", about 84 % of the text shared"),
        (by("shingles", relation="part_of", estimate=0.92), "part of: Journal, about 92 % of the shorter text shared"),
        ({}, ""),
    ],
)
def test_a_reason_says_the_figure_and_the_guards_that_matter(why: dict[str, object], message: str) -> None:
    assert reason(why, "Journal").replace(DASH, "-") == message


def test_two_that_are_named_are_in_one_sentence() -> None:
    why = {"signature": "pages", "relation": "part_of", **PLACES}
    assert reason(why, "B", "A").replace(DASH, "-") == "A is part of B, pages 12-31 of 402"
    assert reason({**why, "relation": "contains"}, "B", "A") == "A contains B, page 3 of 20"


def test_the_remedy_stands_beside_the_hits_without_signatures_whatever_else_is_counted() -> None:
    account = {"unsigned": 2, "unsettled": 1, "documents": {"in_window": 2}}
    assert list(remarks(account)) == ["2 not signed yet; run ibidem backfill"]
