"""The same data gives the same groups in SQLite, OpenSearch and Elasticsearch when the ranking is the same."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibidem.grouped_search.api import search_index
from ibidem_dedupe.parameters import parse_request
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, EngineSearch, Ranking
from ibidem_engines.query import NOW, Query, ReadView, parse_query
from ibidem_engines.requests import RequestFlow
from ibidem_ingest.document import Document
from ibidem_workers.batches import records
from servers.indices import remove_indices
from support.books import book, misread_text, repaginate
from support.examples import examples
from support.leases import english_tables
from support.windows import counts, documents

pytestmark = pytest.mark.server("opensearch", "elasticsearch")

BOOKS = [
    Document(f"book-{number}", f"said {text}", f"Book {number}")
    for number, text in enumerate(
        [
            book(*range(20)),
            book(*range(5, 12)),
            repaginate(book(*range(20)), 300),
            misread_text(book(*range(20)), 0.1),
            book(*range(15, 40)),
            book(*range(60, 70)),
            book(*range(62, 69)).replace("\f", " "),
        ]
    )
]
STORIES = documents(11, 40, 5) + BOOKS
WORDS = sorted({word for story in STORIES[:20] for word in story.text.split()})
SCOPES = ("window", "matches", "index")


class SameOrder:
    """An engine whose hits are in the order of ids, which all engines share."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.index = engine.index

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def searching(self, query: Query | None = None) -> "SearchInOrder":
        return SearchInOrder(self.engine.searching(query))


class SearchInOrder:
    """A search whose window is in the order of ids."""

    def __init__(self, searching: EngineSearch) -> None:
        self.searching = searching

    def __getattr__(self, name: str) -> Any:
        return getattr(self.searching, name)

    def window(self, size: int, view: ReadView = NOW) -> RequestFlow[Ranking]:
        ranking = yield from self.searching.window(1_000, view)
        return Ranking(sorted(ranking.hits, key=lambda hit: hit.id)[:size], ranking.total)


@pytest.fixture(scope="module")
def engines(
    tmp_path_factory: pytest.TempPathFactory, opensearch: str, elasticsearch: str
) -> Iterator[dict[str, Engine]]:
    """Three engines that hold the same stories."""
    folder = tmp_path_factory.mktemp("index")
    addresses = {
        "sqlite": f"sqlite:///{folder}/index.sqlite",
        "opensearch": opensearch,
        "elasticsearch": elasticsearch,
        "lean": f"{opensearch}/?layout=lean",
    }
    tables = english_tables(tmp_path_factory.mktemp("tables"), dict(counts(STORIES)))
    signed = list(records([replace(each, version=1) for each in STORIES], tables))
    by_name = {name: open_engine(address, f"same-{name}") for name, address in addresses.items()}
    for engine in by_name.values():
        engine.create()
        engine.write(signed)
        engine.refresh()
    yield by_name
    for name, engine in by_name.items():
        engine.close()
        if name != "sqlite":
            remove_indices(addresses[name], engine.index)


def answer(engine: Engine, query: Query, scope: str, level: str = "near") -> dict[str, Any]:
    """Return a response without parts that may differ: times, scores, the index's name, and passages."""
    parameters = {"dedupe": "indent", "dedupe_window": "40", "dedupe_scope": scope, "dedupe_explain": "true"} | {
        "dedupe_level": level
    }
    response = search_index(SameOrder(engine), query, parse_request(parameters), overrides=())  # type: ignore[arg-type]
    hits = [
        (hit["_id"], {**hit["_dedupe"], "group": "", "of": hit["_dedupe"].get("of")})
        for hit in response["hits"]["hits"]
    ]
    account = {name: value for name, value in response["dedupe"].items() if name not in ("took_ms", "cursor")}
    return {"hits": hits, "account": account, "total": response["hits"]["total"]}


def check_equal(text: str, answers: dict[str, dict[str, Any]]) -> None:
    for name, each in answers.items():
        assert each == answers["sqlite"], f"{name} differs from sqlite for {text!r}"


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
    joined=st.sampled_from([" ", " OR ", " -"]),
    scope=st.sampled_from(SCOPES),
)
def test_every_query_has_the_same_groups_and_account(
    engines: dict[str, Engine], words: list[str], joined: str, scope: str
) -> None:
    typed = joined.join(words) if joined != " -" else f"{words[0]} " + " ".join(f"-{word}" for word in words[1:])
    check_equal(typed, {name: answer(engine, parse_query(typed), scope) for name, engine in engines.items()})


@pytest.mark.parametrize("scope", SCOPES)
def test_books_have_the_same_groups_at_partial(engines: dict[str, Engine], scope: str) -> None:
    answers = {name: answer(engine, parse_query("said the"), scope, "partial") for name, engine in engines.items()}
    why = [mark["why"] for _, mark in answers["sqlite"]["hits"] if mark["level"] == "partial"]
    assert {each["relation"] for each in why} >= {"contiguous_subset", "overlapping_text"}
    check_equal("said", answers)
