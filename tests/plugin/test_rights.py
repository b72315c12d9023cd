"""The plugin answers who may see some documents and fields alone as if there were no others."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from plugin.answers import through_plugin
from servers.indices import remove_indices
from support.archive import (
    BLIND,
    BODIES,
    CLERK,
    GROUPED,
    READER,
    USERS,
    Json,
    check_hidden,
    documents,
    fill,
    public,
    same_for_all,
)
from support.rights_server import with_rights
from support.wrapped_clients import CLIENTS

pytestmark = pytest.mark.server
WHOLE, BARE, TITLED = "archive-whole", "archive-bare", "archive-titled"


@dataclass(frozen=True)
class Archives:
    """Three archives in a cluster with the plugin, behind a server that knows what its users may see."""

    kind: str  # the engine
    url: str  # address of the server before it

    def search(self, index: str, account: str, body: Json, options: Json) -> Json:
        client: Any = CLIENTS[self.kind][0](self.url, headers={"authorization": account})
        try:
            return through_plugin(client, index, body, options)
        finally:
            client.close()


@pytest.fixture(params=[1, 3], ids=["one shard", "three shards"], scope="module")
def archives(request: pytest.FixtureRequest, kind: str, cluster: str) -> Iterator[Archives]:
    held = {WHOLE: documents(), BARE: public(documents()), TITLED: public(documents(titles=True))}
    for index, archive in held.items():
        fill(cluster, index, archive, request.param)
    with with_rights(cluster, USERS) as server:
        yield Archives(kind, server.address(kind).partition("+")[2])
    for index in held:
        remove_indices(cluster, index)


@pytest.mark.parametrize(
    ("body", "options"),
    [*((body, "indent") for body in BODIES), *(("all", each) for each in GROUPED if each != "partial")],
)
def test_the_plugin_answers_a_reader_as_if_hidden_documents_were_not_there(
    archives: Archives, body: str, options: str
) -> None:
    seen = archives.search(WHOLE, READER, BODIES[body], GROUPED[options])
    check_hidden(seen)
    assert same_for_all(seen) == same_for_all(archives.search(BARE, CLERK, BODIES[body], GROUPED[options]))


@pytest.mark.parametrize("options", [each for each in GROUPED if each != "partial"])
def test_the_plugin_shows_no_hidden_field(archives: Archives, options: str) -> None:
    check_hidden(archives.search(TITLED, BLIND, BODIES["all"], GROUPED[options]))
