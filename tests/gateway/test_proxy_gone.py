"""A search that nobody waits for any more is ended at the engine too."""

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection
from urllib.parse import urlsplit

import httpx2
import pytest

from gateway.gateway_server import gateway_before, run_gateway
from ibidem_core.settings import Settings
from servers.fake_server import Answer

pytestmark = pytest.mark.slow


class Slow(socketserver.ThreadingTCPServer):
    """An engine that takes requests, never answers them, and notes when a connection is closed."""

    daemon_threads, request_queue_size = True, 512

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), SlowHandler)
        self.address = f"opensearch+http://127.0.0.1:{self.server_address[1]}"
        self.asked, self.closed = threading.Event(), threading.Event()


class SlowHandler(socketserver.BaseRequestHandler):
    server: Slow

    def handle(self) -> None:
        with suppress(OSError):
            self.request.recv(65_536)
            self.server.asked.set()
            while self.request.recv(65_536):
                pass
        self.server.closed.set()


@contextmanager
def slow_engine() -> Iterator[Slow]:
    with Slow() as slow_server:
        threading.Thread(target=slow_server.serve_forever, daemon=True).start()
        yield slow_server
        slow_server.shutdown()


@pytest.mark.parametrize("path", ["/ibidem/_search", "/ibidem/_search?dedupe=indent"])
def test_a_client_that_goes_away_takes_his_search_with_him(path: str) -> None:
    with slow_engine() as slow_server, run_gateway(Settings(engine=slow_server.address)) as url:
        connection = HTTPConnection(urlsplit(url).hostname or "", urlsplit(url).port)
        connection.request("GET", path)
        assert slow_server.asked.wait(10)
        connection.close()
        assert slow_server.closed.wait(10)


def test_slow_requests_keep_no_other_waiting() -> None:
    with (
        slow_engine() as slow_server,
        run_gateway(Settings(engine=slow_server.address)) as stuck,
        gateway_before(lambda _: Answer(200, {})) as (_, url),
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
    with slow_engine() as slow_server, run_gateway(Settings(engine=slow_server.address)) as url:
        answer = httpx2.get(f"{url}{path}", headers={"accept": "text/html"}, timeout=60)
    assert answer.status_code == 504
