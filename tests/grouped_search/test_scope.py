"""Duplicates beyond the window: found by look-up, placed by all leads, and marked when they do not match."""

from typing import Any

import pytest

from ibidem.dedupe.request import parse_request
from ibidem.grouped_search.api import search
from ibidem.grouped_search.scope import search_for
from ibidem_engines.engine import LookupResult, SignatureLookup
from ibidem_engines.query import Query
from ibidem_ingest.errors import UsageError
from ibidem_ingest.pairs.decision import Policy
from ibidem_ingest.signatures.packed import unpack
from support.fake_engine import PAGE, Listed
from support.windows import Made, signatures, value, with_slots, with_terms

A, B = signatures(1), signatures(2)
NEAR_BOTH = with_terms(signatures(3, slots=B.slots, terms=A.terms, number_sketch=A.number_sketch), 50)
WINDOW = Made([value(each, f"{at}") for at, each in enumerate([A, B, signatures(4), A, NEAR_BOTH, with_slots(B, 60)])])
OUTSIDE = Made([value(A, "x"), value(signatures(5), "y")])


def answer(engine: Listed, page: int = 1, size: int = 2, **asked: object) -> dict[str, Any]:
    given = {"dedupe": "indent", "dedupe_window": 3, **{f"dedupe_{name}": each for name, each in asked.items()}}
    return search(engine, PAGE, parse_request(given), page, size)


def shown(response: dict[str, Any]) -> list[tuple[str, int]]:
    return [(hit["_id"], hit["_dedupe"]["indent"]) for hit in response["hits"]["hits"]]


def test_the_window_alone_knows_nothing_beyond_itself() -> None:
    assert shown(answer(Listed(WINDOW))) == [("0000", 0), ("0001", 0)]


def test_matches_beyond_the_window_join_the_first_lead_that_they_duplicate() -> None:
    found = answer(Listed(WINDOW, OUTSIDE), scope="matches")
    assert shown(found) == [("0000", 0), ("0003", 1), ("0004", 1), ("0001", 0), ("0005", 1)]
    assert found["hits"]["hits"][1]["_score"] is None
    assert found["dedupe"]["found_by_scope"] == 3


def test_a_candidate_is_shown_only_where_the_first_lead_that_it_duplicates_is() -> None:
    found = answer(Listed(WINDOW), page=2, size=1, scope="matches")
    assert shown(found) == [("0001", 0), ("0005", 1)]


def test_the_whole_index_holds_documents_that_do_not_match_and_marks_them() -> None:
    hits = answer(Listed(WINDOW, OUTSIDE), scope="index")["hits"]["hits"]
    marked = {hit["_id"]: hit["_dedupe"].get("outside", False) for hit in hits}
    assert marked == {"0000": False, "0003": False, "0004": False, "other-0000": True, "0001": False, "0005": False}


def test_what_a_scope_has_shown_is_not_late_again() -> None:
    engine = Listed(WINDOW)
    assert [each["id"] for each in answer(engine, page=2)["dedupe"]["late"]] == ["0003", "0004", "0005"]
    assert answer(engine, page=2, scope="matches")["dedupe"]["late"] == []


def test_leads_whose_look_up_was_cut_are_named() -> None:
    class Capped(Listed):
        def carrying(self, search: SignatureLookup, *, matching: bool) -> LookupResult:
            return LookupResult(super().carrying(search, matching=matching).hits, ["bands"], same=9)

    found = answer(Capped(WINDOW), scope="matches")
    assert found["dedupe"]["capped"] == [
        {"group": hit["_dedupe"]["group"], "by": ["bands", "content"]}
        for hit in found["hits"]["hits"]
        if not hit["_dedupe"]["indent"]
    ]


@pytest.mark.parametrize(
    ("policy", "clues"),
    [
        (Policy(), {"content", "fingerprint", "bands", "rare", "characters"}),
        (Policy(profile=0.8), {"content", "fingerprint", "profile", "bands", "rare", "characters"}),
        (Policy(slots=None, fingerprint=None), {"content", "rare", "characters"}),
        (Policy(characters=None), {"content", "fingerprint", "bands", "rare"}),
        (Policy(level="identical"), {"content"}),
    ],
)
def test_only_what_can_be_evidence_is_looked_up(policy: Policy, clues: set[str]) -> None:
    packed = unpack(value(A, "a"))
    assert packed is not None
    asked = search_for(packed, policy)
    assert asked.values.keys() == clues
    assert asked.least == {clue: least for clue, least in {"rare": 5, "characters": 3}.items() if clue in clues}
    assert asked.own == "a"


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        (PAGE, {"scope": "matches", "preset": "conrad2003"}),
        (Query(native={"match_all": {}}), {"scope": "index"}),
    ],
    ids=["padded sets cannot be looked up", "filters of a query in the engine's own language"],
)
def test_a_scope_that_cannot_be_kept_to_is_refused(query: Query, asked: dict[str, object]) -> None:
    request = parse_request({"dedupe": "indent", **{f"dedupe_{name}": each for name, each in asked.items()}})
    with pytest.raises(UsageError):
        search(Listed(WINDOW), query, request)
