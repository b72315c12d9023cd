"""Passages of one document that overlap are parts of one text: the best is shown, and its neighbours below it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ibidem.grouped_search import neighbours
from ibidem.grouped_search.api import search_index
from ibidem_dedupe.overrides import Override
from ibidem_dedupe.request import parse_request
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_ingest.errors import UsageError
from support.passages import cut_lease, passage


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    opened = filled(tmp_path_factory.mktemp("passages"))
    yield opened
    opened.close()


def filled(folder: Path) -> Engine:
    engine = open_engine(f"sqlite:///{folder / 'index.sqlite'}", "passages")
    engine.create()
    engine.write([*cut_lease(), passage("nameless", "rent of a house", "", "2020-01-01")])
    return engine


def answer(engine: Engine, page: int = 1, size: int = 10, overrides: Any = (), **options: object) -> dict[str, Any]:
    named = {"document": "meta.document", **options}
    request = parse_request({"dedupe": "indent", **{f"dedupe_{name}": each for name, each in named.items()}})
    return search_index(engine, parse_query("rent"), request, page, size, overrides=overrides)


def groups(response: dict[str, Any]) -> list[list[str]]:
    found: list[list[str]] = []
    for hit in response["hits"]["hits"]:
        if hit["_dedupe"]["indent"]:
            found[-1].append(hit["_id"])
        else:
            found.append([hit["_id"]])
    return [[lead, *sorted(duplicates)] for lead, *duplicates in found]


def marks(response: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {hit["_id"]: hit["_dedupe"] for hit in response["hits"]["hits"]}


def test_a_passage_that_overlaps_the_best_of_its_document_follows_it(engine: Engine) -> None:
    assert groups(answer(engine)) == [["best", "copy of best", "next"], ["nameless"], ["copy of next"], ["far"]]


def test_without_the_field_only_duplicates_are_grouped(engine: Engine) -> None:
    found = groups(answer(engine, document=None))
    assert [sorted(each) for each in found if len(each) > 1] == [
        ["best", "copy of best"],
        ["copy of next", "next"],
    ]


def test_a_neighbour_says_where_it_stands_and_by_how_many_words(engine: Engine) -> None:
    mark = marks(answer(engine, explain=True))["next"]
    assert (mark["level"], mark["of"], mark["side"], mark["score"]) == ("partial", "best", "after", 0.125)
    assert mark["why"] == {"signature": "overlap", "words": 6, "of": 48, "side": "after"}


@pytest.mark.parametrize(
    ("keep", "lead"), [("rank", "best"), ("latest", "copy of best"), ("earliest", "best"), ("longest", "best")]
)
def test_the_lead_is_chosen_among_the_duplicates_and_a_neighbour_never_leads(
    engine: Engine, keep: str, lead: str
) -> None:
    response = answer(engine, keep=keep)
    assert groups(response)[0][0] == lead
    assert marks(response)["next"]["of"] == "best"


def test_a_manual_decision_parts_neighbours(engine: Engine) -> None:
    word = Override(("passages", "best"), ("passages", "next"), "not", "Ada", "", "2026-01-05")
    assert ["best", "copy of best"] in groups(answer(engine, overrides=[word]))


def test_the_account_counts_the_hits_that_name_no_document(engine: Engine) -> None:
    account = answer(engine)["dedupe"]
    assert (account["document"], account["without_document"]) == ("meta.document", 1)
    assert answer(engine, document="meta.nothing")["dedupe"]["without_document"] == 6
    assert answer(engine, document="meta.document:title")["dedupe"]["without_document"] == 6
    assert "without_document" not in answer(engine, document=None)["dedupe"]


def test_each_hit_is_in_one_group_however_the_pages_are_cut(engine: Engine) -> None:
    whole = groups(answer(engine))
    for window in (1, 2, 500):
        pages = [answer(engine, page, size=1, window=window) for page in range(1, 8)]
        listed = [name for each in pages for group in groups(each) for name in group]
        late = [each["id"] for page in pages for each in page["dedupe"]["late"]]
        assert sorted([*listed, *late]) == sorted(name for group in whole for name in group)
    assert [group for page in range(1, 5) for group in groups(answer(engine, page, size=1))] == whole


def test_neighbours_stay_where_duplicates_beyond_the_window_are_added(engine: Engine) -> None:
    found = groups(answer(engine, window=2, scope="matches", size=1))
    assert found[0][:2] == ["best", "copy of best"]
    assert groups(answer(engine, scope="index")) == groups(answer(engine))


def test_the_copies_of_a_passage_are_all_read_since_each_may_have_neighbours(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'index.sqlite'}", "passages")
    engine.create()
    heading = " ".join(["rent", *(f"h{number}" for number in range(30))])
    engine.write([passage(f"{at:03}", heading, f"document {at}", "2020") for at in range(150)])
    engine.write([passage("last", f"{' '.join(f'h{at}' for at in range(22, 30))} rent and rent", "document 0", "2020")])
    response = answer(engine, size=10, window=20)
    assert response["dedupe"]["only_counted"] == []
    assert response["dedupe"]["documents"]["in_window"] == 151
    engine.close()


def test_a_text_too_long_for_a_passage_is_not_read(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "MAX_WORDS", 53)
    response = answer(engine)
    assert response["dedupe"]["without_document"] == 3
    assert sorted(len(group) for group in groups(response)) == [1, 1, 2, 2]


def test_stored_groups_hold_no_neighbours_and_say_so() -> None:
    with pytest.raises(UsageError, match="dedupe_document cannot be combined with dedupe_by=stored"):
        parse_request({"dedupe": "indent", "dedupe_by": "stored", "dedupe_document": "meta.document"})


def test_a_cursor_of_a_search_for_passages_is_not_for_another(engine: Engine) -> None:
    cursor = answer(engine)["dedupe"]["cursor"]
    assert groups(answer(engine, 2, 1, cursor=cursor)) == [["nameless"]]
    with pytest.raises(UsageError):
        answer(engine, document="meta.file", cursor=cursor)
