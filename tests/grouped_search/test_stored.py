"""Stored groups of all matches: every page by its number or the cursor, on every engine."""

import os
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibidem.dedupe.request import parse_request
from ibidem.grouped_search.api import search
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record
from ibidem_engines.query import parse_query
from ibidem_ingest.document import Document
from ibidem_workers.groups.follow import Follower, store_of
from servers.indices import remove_indices
from support.signed_records import make_record

ENGINES = (
    "sqlite",
    pytest.param("opensearch", marks=pytest.mark.server("opensearch")),
    pytest.param("elasticsearch", marks=pytest.mark.server("elasticsearch")),
)
INDEX = f"stored-{os.getpid()}"
"""Another in each session, since servers may be shared."""

Json = dict[str, Any]
unhurried = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module", params=ENGINES)
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('stored')}/index.sqlite"
    url: str = request.getfixturevalue(request.param)
    return url


def filled(address: str, records: list[Record], index: str = INDEX) -> Engine:
    if not address.startswith("sqlite"):
        remove_indices(address, index)
    engine = open_engine(address, index)
    engine.create()
    engine.write(records)
    return engine


@pytest.fixture(scope="module")
def engine(address: str, records: list[Record]) -> Iterator[Engine]:
    """An index whose groups are settled; its last document has no words."""
    engine = filled(address, [*records, make_record("empty", "")])
    Follower(engine, size=50).catch_up()
    engine.refresh()
    yield engine
    engine.close()
    if not address.startswith("sqlite"):
        remove_indices(address, INDEX)


@pytest.fixture(scope="module")
def words(stories: list[Document]) -> list[str]:
    return sorted({word for story in stories[:20] for word in story.text.split()})


def asked(**given: object) -> Any:
    return parse_request({"dedupe": "indent", "dedupe_by": "stored"} | {f"dedupe_{k}": v for k, v in given.items()})


def pages(engine: Engine, words: str, size: int, *, cursor: bool = True, mode: str = "indent", **given: object) -> Any:
    """All pages to the end."""
    found, page, held = [], 1, None
    query = parse_query(words) if words else parse_query("").__class__()
    while True:
        request = parse_request(
            {"dedupe": mode, "dedupe_by": "stored", "dedupe_cursor": held}
            | {f"dedupe_{name}": value for name, value in given.items()}
        )
        response = search(engine, query, request, page, size)
        if not response["hits"]["hits"]:
            return found
        found.append(response)
        page, held = page + 1, response["dedupe"]["cursor"] if cursor else None


def listed(response: Json) -> list[Json]:
    """All hits of a page, those inside leads too."""
    return [
        each
        for hit in response["hits"]["hits"]
        for each in (hit, *hit.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits", ()))
    ]


def ranked(engine: Engine, words: str) -> list[str]:
    """The ids of the engine's own list."""
    query = parse_query(words) if words else parse_query("").__class__()
    return [hit.id for hit in engine.search(query, 1_000).hits]


def group_of(engine: Engine) -> dict[str, str]:
    """The stored group of each document."""
    ids = [(hit.index, hit.id) for some in engine.scan() for hit in some]
    return {each.name.id: each.group for each in store_of(engine).read(ids)}


@unhurried
@given(data=st.data(), size=st.sampled_from([1, 3, 10, 60]), mode=st.sampled_from(["indent", "collapse"]))
def test_all_pages_together_hold_each_match_once_and_the_account_adds_up(
    engine: Engine, words: list[str], data: st.DataObject, size: int, mode: str
) -> None:
    asked_words = " OR ".join(data.draw(st.lists(st.sampled_from(["said", *words]), min_size=1, max_size=4)))
    matched = ranked(engine, asked_words)
    found = pages(engine, asked_words, size, cursor=data.draw(st.booleans()), mode=mode, max_per_group=100)
    shown = [hit["_id"] for response in found for hit in listed(response)]
    assert sorted(shown) == sorted(matched)
    groups = [hit["_dedupe"]["group"] for response in found for hit in response["hits"]["hits"]]
    for response in found:
        account = response["dedupe"]
        assert account["documents"]["matched"] == len(matched) == response["hits"]["total"]["value"]
        assert account["groups"]["matching"] == len(set(groups))
        assert account["groups"]["exact"] is True
        assert account["duplicates"] == len(matched) - len(set(groups))


def test_groups_stand_where_their_best_document_stands_and_hold_those_of_their_name(engine: Engine) -> None:
    of = group_of(engine)
    expected: defaultdict[str, list[str]] = defaultdict(list)
    for name in ranked(engine, "said"):
        expected[of[name]].append(name)
    found: defaultdict[str, list[str]] = defaultdict(list)
    for response in pages(engine, "said", 7):
        for hit in response["hits"]["hits"]:
            found[hit["_dedupe"]["group"]].append(hit["_id"])
    assert list(found.items()) == list(expected.items())
    assert any(len(some) > 2 for some in expected.values())
