"""A group as shown: its lead, its duplicates, and how many duplicates are hidden.

The list to show: the engine's own shape, and on each hit what the layer says of it.
"""

from dataclasses import replace
from typing import Any

import pytest

from ibidem.grouped_search.api import search_index
from ibidem.grouped_search.response import build_groups
from ibidem.grouped_search.window import Window
from ibidem_dedupe.overrides import Override
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.request import parse_request
from ibidem_engines.engine import StoredDocument
from ibidem_ingest.signatures.schema import Signatures
from support.fake_engine import PAGE, FakeEngine
from support.windows import SampleWindow, signatures, value

COPY, OTHER = signatures(1), signatures(2)
DATES = ["1987-03-05", "1987-03-01", "1987-03-09", "1987-03-20"]
WINDOW = Window.group(
    SampleWindow(
        [
            value(COPY, "0", DATES[0]),
            value(OTHER, "1"),
            value(COPY, "2", DATES[1]),
            value(COPY, "3", DATES[2]),
            value(COPY, "4", DATES[3]),
        ]
    ).hits,
    Policy(),
)


def test_duplicates_follow_in_rank_order_and_the_group_keeps_its_place() -> None:
    latest, alone = build_groups(WINDOW, [0, 1], parse_request({"dedupe": "indent", "dedupe_keep": "latest"}))
    assert (latest.first, latest.lead, latest.duplicates) == (0, 4, (0, 2, 3))
    assert (alone.size, alone.shown_rows) == (1, (1,))


def test_the_lead_is_chosen_within_the_step_in_which_the_group_began() -> None:
    options = {"dedupe": "indent", "dedupe_keep": "latest", "dedupe_window": 4}
    (group,) = build_groups(WINDOW, [0], parse_request(options))
    assert (group.lead, group.size) == (3, 4)


@pytest.mark.parametrize(("limit", "listed"), [(0, (0,)), (2, (0, 2, 3)), (9, (0, 2, 3, 4))])
def test_no_more_duplicates_are_shown_than_asked_for_and_all_are_counted(limit: int, listed: tuple[int, ...]) -> None:
    (group,) = build_groups(WINDOW, [0], parse_request({"dedupe": "collapse", "dedupe_max_per_group": limit}))
    assert group.shown_rows == listed
    assert group.size == 4


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


def test_a_lead_has_no_reason_and_a_duplicate_has_one() -> None:
    by_id = marks(answer(CHAIN))
    assert [by_id["0000"][part] for part in ("indent", "size", "shown", "hidden", "level", "score", "of", "why")] == [
        0,
        3,
        3,
        0,
        None,
        None,
        None,
        None,
    ]
    assert [by_id["0001"][part] for part in ("indent", "level", "score", "of", "why")] == [
        1,
        "near",
        0.51,
        "0000",
        None,
    ]


def test_why_is_reported_when_it_is_asked_for() -> None:
    why = marks(answer(CHAIN, explain=True))["0001"]["why"]
    assert (why["signature"], why["shared"], why["days_apart"]) == ("minhash", 51, 4)


def test_the_reason_is_against_the_lead_that_is_shown_and_says_when_the_two_would_not_pass_alone() -> None:
    by_id = marks(answer(CHAIN, keep="earliest"))
    assert list(by_id) == ["0001", "0000", "0002", "0003"]
    assert by_id["0000"]["of"] == "0001"
    assert "notes" not in by_id["0000"]
    assert by_id["0002"]["of"] == "0000"
    assert by_id["0002"]["notes"] == ["would not pass against 0001 alone"]


def test_collapse_carries_its_duplicates_as_native_collapse_does_the_lead_left_out() -> None:
    lead = answer(CHAIN, mode="collapse", max_per_group=1)["hits"]["hits"][0]
    inner = lead["inner_hits"]["duplicates"]["hits"]
    assert inner["total"] == {"value": 2, "relation": "eq"}
    assert [hit["_id"] for hit in inner["hits"]] == ["0001"]
    assert (lead["_dedupe"]["shown"], lead["_dedupe"]["hidden"]) == (2, 1)


def test_off_is_the_engine_s_own_list_untouched() -> None:
    hits = answer(CHAIN, mode="off")["hits"]["hits"]
    assert [hit["_id"] for hit in hits] == ["0000", "0001", "0002", "0003"]
    assert all("_dedupe" not in hit for hit in hits)


def test_a_hit_is_the_engine_s_with_its_document() -> None:
    hit = answer(CHAIN)["hits"]["hits"][0]
    assert (hit["_index"], hit["_id"], hit["_score"]) == ("news", "0000", 1.0)
    assert hit["_source"]["text"] == "text of 0000"
    assert hit["highlight"] == {"text": ["text"]}


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


def test_a_duplicate_by_a_reader_s_word_names_the_reader() -> None:
    overrides = [Override(("news", "0000"), ("news", "0003"), "same", "Ada", "one event", "2026-01-05")]
    mark = marks(answer(CHAIN, overrides, explain=True))["0003"]
    assert (mark["level"], mark["of"], mark["why"]["signature"], mark["why"]["author"]) == (
        "near",
        "0000",
        "override",
        "Ada",
    )
