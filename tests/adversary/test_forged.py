"""A packed value that is forged or copied shows no document that a query, a filter or a filtered alias excludes."""

import json
import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

import ibidem
from adversary.forged import FORGERIES, HIDDEN, HIDDEN_WORDS, SEARCHES, Json, Vault, fill, native, shown
from ibidem.grouped_search.api import search_window
from ibidem_dedupe.parameters import parse_request
from ibidem_engines.connect import open_engine
from ibidem_engines.query import Query, parse_query
from servers.indices import remove_indices
from servers.kinds import CLUSTERS
from support.wrapped_clients import CLIENTS

OPTIONS: dict[str, Json] = {
    "indent": {"dedupe": "indent"},
    "partial": {"dedupe": "indent", "dedupe_level": "partial", "dedupe_explain": True},
    "collapse": {"dedupe": "collapse"},
    "matches": {"dedupe": "indent", "dedupe_scope": "matches", "dedupe_window": 5},
    "stored": {"dedupe": "indent", "dedupe_by": "stored"},
    "by date": {"dedupe": "indent", "dedupe_keep": "latest"},
}


@pytest.fixture(params=CLUSTERS, scope="module")
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(params=[1, 3], ids=["one shard", "three shards"], scope="module")
def vault(request: pytest.FixtureRequest, kind: str) -> Iterator[Vault]:
    """An index with a secret and forgeries."""
    filled = fill(request.getfixturevalue(kind), f"vault-{request.param}-{os.getpid()}", request.param)
    yield filled
    remove_indices(filled.address.partition("/?")[0], filled.index)


@pytest.fixture(scope="module")
def wrapped_client(kind: str, vault: Vault) -> Iterator[Any]:
    """A client that groups by itself."""
    client = CLIENTS[kind][0](vault.address.partition("+")[2])
    yield ibidem.wrap(client)
    client.close()


@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, "indent") for name in SEARCHES), *(("a filter", options) for options in OPTIONS if options != "indent")],
)
def test_a_wrapped_client_shows_what_the_server_finds_and_nothing_else(
    vault: Vault, wrapped_client: Any, name: str, options: str
) -> None:
    suffix, body = SEARCHES[name]
    found = native(vault, name)
    answer = wrapped_client.search(index=vault.index + suffix, body=body | {"size": 50}, **OPTIONS[options])
    assert shown(dict(answer)) == found
    assert HIDDEN not in found
    assert len([each for each in found if each.startswith("forged")]) == FORGERIES


def page(vault: Vault, index: str, query: Query, options: str) -> Json:
    """Search as a command or the page does."""
    with closing(open_engine(vault.address, index)) as engine:
        response = search_window(engine, query, parse_request(OPTIONS[options]), 1, 50, facets=True).response
    assert HIDDEN_WORDS not in json.dumps(response)
    assert HIDDEN not in json.dumps(response)
    return dict(response)


@pytest.mark.parametrize("options", OPTIONS)
def test_a_command_or_the_page_shows_no_more_through_a_filtered_alias(vault: Vault, options: str) -> None:
    response = page(vault, vault.alias, parse_query("said"), options)
    assert shown(response).keys() == native(vault, "a filtered alias").keys()


@pytest.mark.parametrize("options", OPTIONS)
def test_a_filter_of_a_command_excludes_what_a_forgery_claims_to_be(vault: Vault, options: str) -> None:
    response = page(vault, vault.index, parse_query("loudly", filters=["source=public"]), options)
    forged = {name for name in shown(response) if name.startswith("forged")}
    assert forged == {f"forged-{at}" for at in range(FORGERIES)}


def test_a_forgery_is_unsigned_and_the_answer_says_how_to_sign_it(vault: Vault, wrapped_client: Any) -> None:
    suffix, body = SEARCHES["a filter"]
    account = wrapped_client.search(index=vault.index + suffix, body=body | {"size": 50}, dedupe="indent")["dedupe"]
    assert account["unsigned"] == FORGERIES
    assert account["remedy"] == "sign them with: ibidem backfill"
