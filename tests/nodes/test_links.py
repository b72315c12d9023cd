"""A link between two nodes fails in one direction, and the way back is whole."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from nodes.links import Links

THERE, BACK = ("one", "two"), ("two", "one")

ARRIVES_S, SILENT_S = 30.0, 0.5  # within which something arrives that has to, and after which a silence is one


@pytest.fixture
def echo() -> Iterator[tuple[int, list[bytes]]]:
    """A node that hears, and says the same."""
    heard: list[bytes] = []

    def answer() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                while data := connection.recv(100):
                    heard.append(data)
                    connection.sendall(data)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=answer, daemon=True).start()
        yield listening.getsockname()[1], heard
        listening.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def links(echo: tuple[int, list[bytes]]) -> Iterator[Links]:
    """Links to that node from one whose process is ours."""
    links = Links({"two": echo[0]}, lambda: {"one": [os.getpid()]})
    with closing(socket.create_connection(("127.0.0.1", links.ports["two"]))) as connection:
        assert said(connection, b"begin") == b"begin"
    yield links
    links.end()


def said(connection: socket.socket, data: bytes) -> bytes:
    """Say something; returns what is heard of it."""
    connection.settimeout(ARRIVES_S)
    connection.sendall(data)
    return connection.recv(100)


def unanswered(connection: socket.socket, data: bytes) -> bool:
    """Say something; returns whether nothing is heard of it."""
    connection.settimeout(SILENT_S)
    connection.sendall(data)
    with pytest.raises(TimeoutError):
        connection.recv(100)
    return True


def arrived(heard: list[bytes], data: bytes) -> bool:
    """Wait until a node has heard something."""
    deadline = time.monotonic() + ARRIVES_S
    while data not in heard and time.monotonic() < deadline:
        time.sleep(0.01)
    return data in heard


def test_what_a_silent_link_holds_back_arrives_when_it_is_mended(links: Links, echo: tuple[int, list[bytes]]) -> None:
    with socket.create_connection(("127.0.0.1", links.ports["two"])) as connection:
        links.silence(THERE)
        assert unanswered(connection, b"late")
        assert b"late" not in echo[1]
        links.mend()
        connection.settimeout(ARRIVES_S)
        assert connection.recv(100) == b"late"


def test_who_is_not_heard_may_hear(links: Links, echo: tuple[int, list[bytes]]) -> None:
    with socket.create_connection(("127.0.0.1", links.ports["two"])) as connection:
        links.silence(BACK)
        assert unanswered(connection, b"heard")
        assert arrived(echo[1], b"heard")


def test_a_refused_link_breaks_the_connections_of_the_one_that_made_them(links: Links) -> None:
    with socket.create_connection(("127.0.0.1", links.ports["two"])) as connection:
        assert said(connection, b"whole") == b"whole"
        links.refuse(THERE)
        assert connection.recv(100) == b""  # the end, and not the silence of a timeout
    with socket.create_connection(("127.0.0.1", links.ports["two"])) as connection:
        connection.settimeout(ARRIVES_S)
        assert connection.recv(100) == b""
    links.mend()
    with socket.create_connection(("127.0.0.1", links.ports["two"])) as connection:
        assert said(connection, b"again") == b"again"
