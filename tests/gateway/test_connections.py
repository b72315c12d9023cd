"""Requests that arrive slowly, and many of them: nobody else waits for them."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import httpx2
import pytest

from ibidem.gateway.connections import caller_network
from ibidem_core.settings import Settings
from servers.fake_server import Answer, between
from support.gateway_server import run_gateway

HEADERS = b"POST /ibidem/_search HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
BODY = HEADERS + b"content-length: 100\r\n\r\n{"


@contextmanager
def gateway(**changes: object) -> Iterator[str]:
    """The gateway before an engine that answers at once."""
    with (
        between(plan=lambda _: Answer(200, {"hits": {"hits": []}})) as engine,
        run_gateway(Settings(engine=engine.address("opensearch"), **changes)) as url,  # type: ignore[arg-type]
    ):
        yield url


def connect(url: str, content: bytes = b"") -> socket.socket:
    connection = socket.create_connection((urlsplit(url).hostname or "", urlsplit(url).port or 0), timeout=30)
    connection.sendall(content)
    return connection


def read_to_the_end(connection: socket.socket) -> bytes:
    content = b""
    while part := connection.recv(65_536):
        content += part
    return content


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"GET /healthz HTTP/1.1\r\nhost: ", HEADERS, b"\r\n\r\n"])
def test_headers_that_do_not_come_end_their_connection(content: bytes) -> None:
    with gateway(gateway_arrival=1) as url, connect(url, content) as slow_connection:
        assert read_to_the_end(slow_connection).startswith(b"HTTP/1.1 408 ")


@pytest.mark.slow
def test_headers_that_come_byte_by_byte_after_an_answer_end_their_connection() -> None:
    stop = threading.Event()
    with (
        gateway(gateway_arrival=1) as url,
        connect(url, b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n") as slow_connection,
    ):

        def drip() -> None:
            while not stop.wait(0.2):
                try:
                    slow_connection.sendall(b"\r\n")
                except OSError:
                    return

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            assert read_to_the_end(slow_connection).startswith(b"HTTP/1.1 200 ")
        except ConnectionError:
            pass  # it was closed while a byte was on its way
        finally:
            stop.set()
            dripping.join()


@pytest.mark.slow
def test_a_body_that_does_not_come_is_answered_and_ends_its_connection() -> None:
    with gateway(gateway_arrival=1) as url, connect(url, BODY) as slow_connection:
        answer = read_to_the_end(slow_connection)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"IBIDEM_GATEWAY_ARRIVAL" in answer


def test_requests_that_have_not_arrived_take_no_place() -> None:
    with gateway(gateway_clients=2) as url, ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(connect(url, BODY))
        assert httpx2.get(f"{url}/ibidem/_search").status_code == 200


@pytest.mark.parametrize("content", [b"GET / HTTP/1.1\r\n", BODY])
def test_one_address_with_many_unfinished_requests_still_gets_answers(content: bytes) -> None:
    with gateway(gateway_connections=20) as url, ExitStack() as stack:
        slow_connection = [stack.enter_context(connect(url, content)) for _ in range(60)]
        assert httpx2.get(f"{url}/healthz").status_code == 200
        assert httpx2.get(f"{url}/ibidem/_search").status_code == 200
        for each in slow_connection[:40]:
            assert b" 200 " not in read_to_the_end(each)
        slow_connection[-1].setblocking(False)
        with pytest.raises(BlockingIOError):
            slow_connection[-1].recv(1)


def test_a_client_that_goes_away_in_the_middle_of_a_body_is_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    with gateway() as url:
        for _ in range(3):
            connect(url, BODY).close()
        metrics = httpx2.get(f"{url}/metrics").text
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    assert 'status="500"' not in metrics


def test_the_addresses_of_one_network_of_the_sixth_version_are_one_caller() -> None:
    assert caller_network("2001:db8::1%eth0") == caller_network("2001:db8::2") != caller_network("2001:db8:0:1::1")
    assert caller_network("") == ""
