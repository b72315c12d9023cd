"""A client that sends or takes a stream slowly holds no place that others need."""

import gzip
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import httpx2
import pytest

from ibidem.gateway.streaming import MIN_RATE, Pace
from ibidem_core.settings import Settings
from servers.fake_server import Answer, Request, between
from support.gateway_server import run_gateway

ALL = {"gateway_paths": "all", "gateway_indexes": "*"}
BULK = b"POST /a/_bulk HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"


def plan(request: Request) -> Answer:
    return Answer(200, b"x" * 50_000_000 if request.path == "/long" else {})


@contextmanager
def gateway(**changes: object) -> Iterator[str]:
    """The gateway, all of it open, before an engine that answers at once."""
    with (
        between(plan=plan) as engine,
        run_gateway(Settings(engine=engine.address("opensearch"), **{**ALL, **changes})) as url,  # type: ignore[arg-type]
    ):
        yield url


def connect(url: str, content: bytes) -> socket.socket:
    connection = socket.create_connection((urlsplit(url).hostname or "", urlsplit(url).port or 0), timeout=60)
    connection.sendall(content)
    return connection


def send_from(address: str, url: str) -> int:
    """Send a `_bulk` from another address of this machine; returns the status."""
    with httpx2.Client(transport=httpx2.HTTPTransport(local_address=address), timeout=60) as client:
        return client.post(f"{url}/a/_bulk", content=b'{"delete":{"_id":"1"}}\n').status_code


@pytest.mark.slow
def test_many_slow_bodies_of_one_address_leave_places_to_others() -> None:
    with gateway() as url, ExitStack() as stack:
        slow = [stack.enter_context(connect(url, BULK)) for _ in range(110)]
        refused = [each for each in slow[75:] if each.recv(100).startswith(b"HTTP/1.1 429")]
        assert len(refused) == 35
        assert send_from("127.0.0.2", url) == 200
        assert httpx2.get(f"{url}/a/_search", timeout=60).status_code == 200


@pytest.mark.slow
def test_a_body_that_drips_is_answered_with_408() -> None:
    with gateway(gateway_arrival=1) as url, connect(url, BULK) as connection:
        stop = threading.Event()

        def drip() -> None:
            while not stop.wait(0.1):
                try:
                    connection.sendall(b" ")
                except OSError:
                    return

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            answer = connection.recv(4_096)
        finally:
            stop.set()
            dripping.join()
    assert answer.startswith(b"HTTP/1.1 408")
    assert f"less than {MIN_RATE:,} bytes a second".encode() in answer


@pytest.mark.slow
def test_an_answer_that_is_not_taken_ends_its_connection() -> None:
    with gateway(gateway_arrival=1, gateway_clients=1) as url:
        with connect(url, b"GET /long HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n") as connection:
            assert connection.recv(10) == b"HTTP/1.1 2"
            last = time.monotonic() + 60
            while send_from("127.0.0.1", url) == 429:
                assert time.monotonic() < last
                time.sleep(0.1)
        assert send_from("127.0.0.1", url) == 200


def test_bytes_earn_time_up_to_the_limit() -> None:
    pace = Pace(2.0)
    pace._remaining = 0.5
    pace.earn(MIN_RATE)
    assert pace._remaining == 1.5
    pace.earn(10 * MIN_RATE)
    assert pace._remaining == 2.0


@pytest.mark.slow
def test_a_packed_body_that_unpacks_to_far_more_is_answered_with_413_and_one_of_documents_is_passed_on() -> None:
    headers = {"content-encoding": "gzip", "content-type": "application/x-ndjson"}
    lines = b"".join(b'{"delete":{"_id":"%d"}}\n' % at for at in range(50_000))
    with gateway() as url:
        answers = [
            httpx2.post(f"{url}/a/_bulk", content=gzip.compress(content), headers=headers, timeout=60)
            for content in (bytes(10_000_000), lines)
        ]
    assert [answer.status_code for answer in answers] == [413, 200]
    assert "decompresses to more than" in answers[0].json()["error"]["reason"]
