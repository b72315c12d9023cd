"""A search that nobody waits for any more is ended at the engine too."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from urllib.parse import urlsplit

import httpx2
import pytest

from gateway.gateway_server import run_gateway
from ibidem_core.settings import Settings
from servers.fake_server import Answer, between

pytestmark = pytest.mark.slow


class Slow:
    """An engine that takes requests, never answers them, and notes when the connection is closed."""

    def __init__(self) -> None:
        self.port = 0
        self.asked = threading.Event()
        self.closed = threading.Event()

    async def serve(self, start_event: threading.Event, ends: asyncio.Event) -> None:
        async with await asyncio.start_server(self.take, "127.0.0.1", 0) as server:
            self.port = server.sockets[0].getsockname()[1]
            start_event.set()
            await ends.wait()

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65_536)
        self.asked.set()
        while await reader.read(65_536):
            pass
        self.closed.set()
        writer.close()


@contextmanager
def slow_engine() -> Iterator[Slow]:
    slow_server, start_event, loop = Slow(), threading.Event(), asyncio.new_event_loop()
    ends = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(slow_server.serve(start_event, ends)), daemon=True)
    thread.start()
    start_event.wait(10)
    try:
        yield slow_server
    finally:
        loop.call_soon_threadsafe(ends.set)
        thread.join(10)
        loop.close()


@pytest.mark.parametrize("path", ["/ibidem/_search", "/ibidem/_search?dedupe=indent"])
def test_a_client_that_goes_away_takes_his_search_with_him(path: str) -> None:
    with (
        slow_engine() as slow_server,
        run_gateway(Settings(engine=f"opensearch+http://127.0.0.1:{slow_server.port}")) as url,
    ):
        connection = HTTPConnection(urlsplit(url).hostname or "", urlsplit(url).port)
        connection.request("GET", path)
        assert slow_server.asked.wait(10)
        connection.close()
        assert slow_server.closed.wait(10)


def test_slow_requests_keep_no_other_waiting() -> None:
    with (
        slow_engine() as slow_server,
        between(plan=lambda _: Answer(200, {})) as engine,
        run_gateway(Settings(engine=f"opensearch+http://127.0.0.1:{slow_server.port}")) as stuck,
        run_gateway(Settings(engine=engine.address("opensearch"))) as url,
        ExitStack() as stack,
    ):
        for where, path in [(stuck, "/ibidem/_search"), (url, "/ibidem/_bulk")] * 150:
            connection = socket.create_connection((urlsplit(where).hostname or "", urlsplit(where).port or 0))
            stack.enter_context(connection)
            connection.sendall(f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n{{".encode())
        assert httpx2.get(f"{stuck}/healthz", timeout=30).status_code == 200
        assert httpx2.get(f"{url}/ibidem/_search", timeout=30).status_code == 200
        assert httpx2.get(f"{url}/ibidem/_doc/a", timeout=30).status_code == 200


@pytest.mark.parametrize("path", ["/ibidem/search?q=rent", "/ibidem/inspect/a", "/?q=rent"])
def test_a_page_of_a_slow_engine_is_given_up(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ibidem_gateway.upstream.ENGINE_TIMEOUT_S", 1.0)
    with (
        slow_engine() as slow_server,
        run_gateway(Settings(engine=f"opensearch+http://127.0.0.1:{slow_server.port}")) as url,
    ):
        answer = httpx2.get(f"{url}{path}", headers={"accept": "text/html"}, timeout=60)
    assert answer.status_code == 504
