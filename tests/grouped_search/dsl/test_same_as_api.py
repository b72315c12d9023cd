"""Whatever is asked, the wrapped client groups as `ibidem.search` does for the same hits."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.grouped_search.dsl.syntax import deepen
from ibidem_core.address import Fields
from ibidem_engines.cluster import dsl
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.sign import sign
from servers.indices import remove_indices
from support.books import book
from support.examples import examples
from support.general_tables import general_tables
from support.passages import cut_lease
from support.signed_records import packed_records
from support.wrapped_clients import INDEX, STORIES, fill_index

WORDS = sorted({word for story in STORIES[:20] for word in story.text.split()})
QUERY_WORDS = st.lists(st.sampled_from(["said", *WORDS]), min_size=1, max_size=4)
PLACES = st.tuples(st.integers(1, 4), st.sampled_from([1, 5, 10]))  # pages and their sizes

asked_for = st.fixed_dictionaries(
    {
        "dedupe": st.sampled_from(["indent", "collapse"]),
        "dedupe_level": st.sampled_from(["identical", "near"]),
        "dedupe_scope": st.sampled_from(["window", "matches"]),
        "dedupe_keep": st.sampled_from(["rank", "earliest", "longest"]),
        "dedupe_window": st.sampled_from([3, 10, 500]),
        "dedupe_explain": st.booleans(),
    }
)


# What differs from answer to answer, and what is said of words typed by people alone.
ALONE = ("took_ms", "cursor", "by", "not_understood", "did_you_mean")


def take_parts(response: Any) -> dict[str, Any]:
    """Return a response without times, cursors and fields of documents."""
    hits = [(hit["_index"], hit["_id"], hit["_score"], hit["_dedupe"], inner(hit)) for hit in response["hits"]["hits"]]
    account = {name: each for name, each in response["dedupe"].items() if name not in ALONE}
    return {"hits": hits, "account": account, "total": response["hits"]["total"], "best": response["hits"]["max_score"]}


def inner(hit: dict[str, Any]) -> list[tuple[str, Any]]:
    duplicates = hit.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits", [])
    return [(each["_id"], each["_dedupe"]) for each in duplicates]


def check_same(client: Any, library: Engine, words: str, options: dict[str, Any], place: tuple[int, int]) -> None:
    page, size = place
    query = ibidem.parse_query(words)
    response = ibidem.search_index(library, query, ibidem.parse_request(options), page, size)
    body = {"query": dsl.clause(query, Fields()), "from": (page - 1) * size, "size": size, "_source": False}
    body |= {"track_total_hits": True}
    assert take_parts(client.search(index=INDEX, body=body, **options)) == take_parts(response)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=QUERY_WORDS, connective=st.sampled_from([" ", " OR "]), options=asked_for, place=PLACES)
def test_groups_leads_reasons_and_account_are_the_same(
    wrapped_client: Any,
    library: Engine,
    *,
    words: list[str],
    connective: str,
    options: dict[str, Any],
    place: tuple[int, int],
) -> None:
    check_same(wrapped_client, library, connective.join(words), options, place)


GOLDEN = Path(__file__).parents[2] / "plugin" / "golden" / "depths.jsonl"


def test_queries_are_as_deep_as_the_plugin_makes_them() -> None:
    lines = [line for line in map(orjson.loads, GOLDEN.read_bytes().splitlines()) if "query" in line["part"]]
    compared = [line for line in lines if b"hybrid" not in orjson.dumps(line)]
    assert len(compared) > 20
    for line in compared:
        body, adjusted = deepen(line["part"], line["window"])
        assert (body["query"], adjusted) == (line["deep"], line["adjusted"])


PARTIAL_INDEX = "clients-books"
TEXTS = {"whole": book(*range(20)), "part": book(*range(5, 12)), "other": book(*range(60, 70))}


@pytest.fixture(scope="module")
def shelf(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An index of three books."""
    books = [Document(name, f"said {text}", language="xx") for name, text in TEXTS.items()]
    engine = fill_index(address, PARTIAL_INDEX, packed_records(books, sign(books, general_tables())))
    yield engine
    engine.close()
    remove_indices(address, PARTIAL_INDEX)


@pytest.mark.usefixtures("shelf")
@pytest.mark.parametrize("scope", ["window", "matches"])
def test_a_search_at_partial_says_which_pages_are_shared(wrapped_client: Any, scope: str) -> None:
    body = {"query": {"match": {"text": "said"}}, "sort": [{"_doc": "asc"}]}
    options = {"dedupe": "indent", "dedupe_level": "partial", "dedupe_explain": True, "dedupe_scope": scope}
    hits = wrapped_client.search(index=PARTIAL_INDEX, body=body, **options)["hits"]["hits"]
    (mark,) = (hit["_dedupe"] for hit in hits if hit["_dedupe"]["indent"])
    assert (mark["level"], mark["of"], mark["why"]["relation"]) == ("partial", "whole", "contiguous_subset")
    assert mark["why"]["other"] == {"from": 6, "to": 12, "of": 20}


PASSAGES = f"{INDEX}-passages"


@pytest.fixture(scope="module")
def passages(address: str) -> Iterator[Engine]:
    opened = fill_index(address, PASSAGES, cut_lease())
    yield opened
    opened.close()
    remove_indices(address, PASSAGES)


@pytest.mark.parametrize("mode", ["indent", "collapse"])
@pytest.mark.parametrize("keep", ["rank", "latest", "longest"])
@pytest.mark.parametrize("window", [2, 500])
def test_a_client_groups_passages_as_the_library_does(
    wrapped_client: Any, passages: Engine, mode: str, keep: str, window: int
) -> None:
    options = {
        "dedupe": mode,
        "dedupe_keep": keep,
        "dedupe_window": window,
        "dedupe_document": "meta.document",
        "dedupe_explain": True,
    }
    response = ibidem.search_index(passages, ibidem.parse_query("rent"), ibidem.parse_request(options))
    body = {"query": {"match": {"text": "rent"}}, "_source": ["meta"]}
    found = wrapped_client.search(index=PASSAGES, body=body, **options)
    assert [(hit["_id"], hit["_dedupe"]) for hit in found["hits"]["hits"]] == [
        (hit["_id"], hit["_dedupe"]) for hit in response["hits"]["hits"]
    ]
    assert take_parts(found)["account"] == take_parts(response)["account"]
    assert found["dedupe"]["grouper"] == "client"
    assert set(found["hits"]["hits"][0]["_source"]) == {"meta"}
