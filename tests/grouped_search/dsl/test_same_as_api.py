"""Whatever is asked, the wrapped client groups as `ibidem.search` does for the same hits."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ibidem
from ibidem_core.address import Fields
from ibidem_engines.cluster import dsl
from ibidem_engines.engine import Engine
from support.examples import examples
from support.wrapped_clients import INDEX, STORIES

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
