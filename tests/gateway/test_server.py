"""The server says why it cannot listen, and knows an engine without users."""

import asyncio
import socket

import pytest

from ibidem_core.settings import Settings
from ibidem_gateway.server import is_open, listen
from ibidem_ingest.errors import UsageError


def test_an_address_that_is_taken_is_refused_with_a_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"cannot listen on 127.0.0.1:{port}.*--host or --port"):
            listen("127.0.0.1", port)
    with pytest.raises(UsageError, match=r": \[Errno -\d+\] .*--host"):
        listen("nosuch.invalid", port)


def test_a_file_has_no_users_and_an_engine_that_is_away_may_have_some(settings: Settings) -> None:
    assert asyncio.run(is_open(settings))
    assert not asyncio.run(is_open(Settings(engine="opensearch+http://127.0.0.1:9")))
