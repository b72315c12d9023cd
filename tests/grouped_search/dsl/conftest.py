"""Fixtures of these tests."""

import pytest

from ibidem_engines.engine import Engine
from ibidem_workers.groups.follower import Follower
from support.wrapped_clients import INDEX, STORIES, address, kind, library, plain_client, signed_records, wrapped_client

__all__ = ["address", "kind", "library", "plain_client", "signed_records", "wrapped_client"]


@pytest.fixture(scope="module")
def groups(library: Engine) -> dict[str, str]:
    """The stored group of each story."""
    Follower(library).catch_up()
    library.refresh()
    by_document = library.groups().read([(INDEX, each.id) for each in STORIES])
    return {each.name.id: each.group for each in by_document}
