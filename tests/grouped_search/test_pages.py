"""Duplicates beyond the window: found by look-up, placed by all leads, and marked when they do not match."""

from typing import Any

import pytest

from ibidem.grouped_search.api import search_index
from ibidem.grouped_search.pages import PageRequest, cursor_codec, start_place
from ibidem_dedupe.parameters import parse_request
from ibidem_engines.engine import LookupResult, SignatureLookup
from ibidem_engines.query import Cursor, CursorCodec, Place, Query, ReadView, parse_query
from ibidem_engines.stored_groups import Order
from ibidem_ingest.errors import UsageError
from support.fake_engine import PAGE, FakeEngine
from support.windows import SampleWindow, signatures, value, with_slots, with_terms

A, B = signatures(1), signatures(2)
NEAR_BOTH = with_terms(signatures(3, slots=B.slots, terms=A.terms, number_sketch=A.number_sketch), 50)
WINDOW = SampleWindow(
    [value(each, f"{at}") for at, each in enumerate([A, B, signatures(4), A, NEAR_BOTH, with_slots(B, 60)])]
)
OUTSIDE = SampleWindow([value(A, "x"), value(signatures(5), "y")])


def answer(engine: FakeEngine, page: int = 1, size: int = 2, **options: object) -> dict[str, Any]:
    parameters = {"dedupe": "indent", "dedupe_window": 3, **{f"dedupe_{name}": each for name, each in options.items()}}
    return search_index(engine, PAGE, parse_request(parameters), page, size)


def test_the_whole_index_holds_documents_that_do_not_match_and_marks_them() -> None:
    hits = answer(FakeEngine(WINDOW, OUTSIDE), scope="index")["hits"]["hits"]
    outside_by_id = {hit["_id"]: hit["_dedupe"].get("outside", False) for hit in hits}
    assert outside_by_id == {
        "0000": False,
        "0003": False,
        "0004": False,
        "other-0000": True,
        "0001": False,
        "0005": False,
    }


def test_leads_whose_look_up_was_cut_are_named() -> None:
    class Capped(FakeEngine):
        def look_up_one(self, search: SignatureLookup, *, matching: bool) -> LookupResult:
            return LookupResult(super().look_up_one(search, matching=matching).hits, ["bands"], copies=9)

    response = answer(Capped(WINDOW), scope="matches")
    assert response["dedupe"]["capped"] == [
        {"group": hit["_dedupe"]["group"], "by": ["bands", "content"]}
        for hit in response["hits"]["hits"]
        if not hit["_dedupe"]["indent"]
    ]


def test_padded_sets_cannot_be_looked_up() -> None:
    request = parse_request({"dedupe": "indent", "dedupe_scope": "matches", "dedupe_preset": "conrad2003"})
    with pytest.raises(UsageError, match="compares padded sets"):
        search_index(FakeEngine(WINDOW), PAGE, request)


QUERY = parse_query("export duty")
CURSOR = Cursor(ReadView(17))


def codec(query: Query = QUERY, order: Order = "relevance", **options: object) -> CursorCodec:
    return cursor_codec("news", query.digest(), parse_request({"dedupe": "indent", **options}), order)


@pytest.mark.parametrize(
    "other",
    [
        codec(parse_query("export wheat")),
        codec(parse_query("export duty", ["source=AP"])),
        codec(dedupe_level="identical"),
        codec(dedupe_by="stored"),
        codec(order="newest"),
    ],
)
def test_the_cursor_of_another_query_order_or_of_other_figures_is_refused(other: CursorCodec) -> None:
    with pytest.raises(UsageError, match="another query"):
        other.decode(codec().encode(CURSOR))


def test_how_a_query_was_typed_and_which_lead_is_shown_do_not_matter() -> None:
    typed = codec(parse_query("export   duty"), dedupe_keep="latest")
    assert typed.decode(codec().encode(CURSOR)) == CURSOR


@pytest.mark.parametrize(("page", "size", "goes_on"), [(3, 10, True), (2, 20, True), (3, 20, False), (2, 10, False)])
def test_a_page_of_another_place_than_the_cursors_is_counted_off(page: int, size: int, goes_on: bool) -> None:
    following = Place(20, [1.5, "news"])
    place = start_place(PageRequest(parse_request({}), (page - 1) * size, size, next_page=following))
    assert place == Place((page - 1) * size, [1.5, "news"] if goes_on else None)
