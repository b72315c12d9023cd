"""The plugin takes a document's identity from the engine: a forged or copied packed value shows nothing hidden."""

from collections.abc import Iterator
from typing import Any

import pytest

from adversary.forged import FORGERIES, HIDDEN, SEARCHES, Json, Vault, fill, native, shown
from plugin.answers import differences, through_layer, through_plugin
from servers.indices import remove_indices

pytestmark = pytest.mark.server
OPTIONS: dict[str, Json] = {
    "indent": {"dedupe": "indent"},
    "explained": {"dedupe": "indent", "explain": True},
    "collapse": {"dedupe": "collapse", "keep": "latest"},
    "a small window": {"dedupe": "indent", "window": 2},
    "facets": {"dedupe": "indent", "facets": True},
    "stored groups": {"dedupe": "indent", "by": "stored"},
}


@pytest.fixture(params=[1, 3], ids=["one shard", "three shards"], scope="module")
def vault(request: pytest.FixtureRequest, cluster: str) -> Iterator[Vault]:
    """An index with a secret and forgeries."""
    filled = fill(cluster, f"vault-{request.param}", request.param)
    yield filled
    remove_indices(cluster, filled.index)


@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, "indent") for name in SEARCHES), *(("a filter", options) for options in OPTIONS if options != "indent")],
)
def test_the_plugin_shows_what_the_server_finds_and_nothing_else(
    vault: Vault, plain_client: Any, wrapped_client: Any, name: str, options: str
) -> None:
    suffix, body = SEARCHES[name]
    found = native(vault, name)
    answer = through_plugin(plain_client, vault.index + suffix, body | {"size": 50}, OPTIONS[options])
    assert shown(answer) == found
    assert HIDDEN not in found
    assert answer["account"]["unsigned"] == FORGERIES
    if options not in {"facets", "stored groups"}:
        expected = through_layer(wrapped_client, vault.index + suffix, body | {"size": 50}, OPTIONS[options])
        assert list(differences(expected, answer)) == []
