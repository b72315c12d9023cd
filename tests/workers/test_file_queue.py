"""The file queue under Celery's own client: acknowledged, rejected, and put back when the connection closes."""

from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu.connection import Connection

from ibidem_workers.file_queue import TRIES, Transport
from ibidem_workers.queue_folder import Folder


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    with connected(tmp_path) as connection:
        yield connection


def connected(folder: Path) -> Connection:
    options = {"folder": str(folder), "lease": 60, "body_encoding": None}
    return Connection("filesystem://", transport=Transport, transport_options=options)


def put(connection: Connection, text: str) -> None:
    connection.Producer().publish({"text": text}, routing_key="news", serializer="json")


def get(connection: Connection) -> Any:
    return connection.default_channel.basic_get("news")


def test_a_message_stays_until_it_is_acknowledged(connection: Connection, tmp_path: Path) -> None:
    put(connection, "hello")
    message = get(connection)
    assert message.decode() == {"text": "hello"}
    folder = Folder(tmp_path / "news", 60)
    assert (folder.waiting(), folder.held()) == (0, 1)
    message.ack()
    assert (folder.waiting(), folder.held()) == (0, 0)


def test_a_message_that_is_given_back_comes_again(connection: Connection) -> None:
    put(connection, "hello")
    get(connection).requeue()
    assert get(connection).headers[TRIES] == 0


def test_a_message_that_is_given_up_is_gone(connection: Connection, tmp_path: Path) -> None:
    put(connection, "hello")
    get(connection).reject()
    assert get(connection) is None
    assert Folder(tmp_path / "news", 60).held() == 0


def test_what_is_not_acknowledged_goes_back_when_the_connection_closes(tmp_path: Path) -> None:
    with connected(tmp_path) as first:
        put(first, "hello")
        assert get(first) is not None
    with connected(tmp_path) as second:
        assert get(second).headers[TRIES] == 0


def test_what_a_dead_worker_held_comes_with_the_number_of_tries(connection: Connection, tmp_path: Path) -> None:
    put(connection, "hello")
    folder = Folder(tmp_path / "news", 60)
    folder.take(folder.names()[0], "nobody~1~gone")
    assert get(connection).headers[TRIES] == 1


def test_an_empty_queue_says_so(connection: Connection, tmp_path: Path) -> None:
    with pytest.raises(Empty):
        connection.default_channel._get("news")
    put(connection, "hello")
    assert connection.default_channel.queue_declare("news").message_count == 1
    assert connection.default_channel.queue_purge("news") == 1
    assert Folder(tmp_path / "news", 60).waiting() == 0
