"""The queues of ours under Celery's own client: acknowledged, rejected, and put back when the connection closes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty
from typing import Any
from uuid import uuid4

import pytest
from kombu.connection import Connection
from kombu.exceptions import OperationalError
from redis import Redis

from ibidem_workers.brokers import files, redis
from ibidem_workers.brokers.transport import TRIES

QUEUES = ["file", pytest.param("redis", marks=pytest.mark.server("redis"))]

Connect = Callable[[], Connection]


@pytest.fixture(params=QUEUES)
def connect(request: pytest.FixtureRequest, tmp_path: Path, queue: str) -> Iterator[Connect]:
    common: dict[str, object] = {"lease": 60, "most": 1 << 20, "body_encoding": None}
    if request.param == "file":
        options = common | {"folder": str(tmp_path)}
        yield lambda: Connection("filesystem://", transport=files.Transport, transport_options=options)
        return
    url = request.getfixturevalue("redis")
    yield lambda: Connection(url, transport=redis.Transport, transport_options=common | {"url": url})
    Redis.from_url(url).delete(f"{redis.PREFIX}{queue}")


@pytest.fixture
def queue() -> str:
    return f"news-{uuid4().hex}"


@pytest.fixture
def connection(connect: Connect, queue: str) -> Iterator[Connection]:
    with connect() as connection:
        yield connection


def put(connection: Connection, queue: str, text: str) -> None:
    connection.Producer().publish({"text": text}, routing_key=queue, serializer="json")


def get(connection: Connection, queue: str) -> Any:
    return connection.default_channel.basic_get(queue)


def waiting(connection: Connection, queue: str) -> int:
    return int(connection.default_channel.queue_declare(queue).message_count)


def test_a_message_is_given_to_one_who_asks_and_never_to_another(
    connection: Connection, connect: Connect, queue: str
) -> None:
    put(connection, queue, "hello")
    message = get(connection, queue)
    assert message.decode() == {"text": "hello"}
    with connect() as other:
        assert (get(other, queue), waiting(other, queue)) == (None, 0)
        message.ack()
        assert (get(other, queue), waiting(other, queue)) == (None, 0)


def test_messages_come_in_the_order_in_which_they_were_laid_down(connection: Connection, queue: str) -> None:
    for text in ("one", "two", "three"):
        put(connection, queue, text)
    assert waiting(connection, queue) == 3
    came = [get(connection, queue) for _ in range(3)]
    assert [message.decode()["text"] for message in came] == ["one", "two", "three"]
    for message in came:
        message.ack()


def test_a_message_that_is_given_back_comes_again_and_counts_no_try(connection: Connection, queue: str) -> None:
    put(connection, queue, "hello")
    get(connection, queue).requeue()
    message = get(connection, queue)
    assert (message.decode(), message.headers[TRIES]) == ({"text": "hello"}, 0)
    message.ack()


def test_a_message_that_is_given_up_is_gone(connection: Connection, connect: Connect, queue: str) -> None:
    put(connection, queue, "hello")
    get(connection, queue).reject()
    with connect() as other:
        assert get(other, queue) is None


def test_what_is_not_acknowledged_goes_back_when_the_connection_closes(connect: Connect, queue: str) -> None:
    with connect() as first:
        put(first, queue, "hello")
        assert get(first, queue) is not None
    with connect() as second:
        message = get(second, queue)
        assert message.headers[TRIES] == 0
        message.ack()


def test_an_empty_queue_says_so(connection: Connection, queue: str) -> None:
    with pytest.raises(Empty):
        connection.default_channel._get(queue)
    put(connection, queue, "hello")
    assert waiting(connection, queue) == 1
    assert connection.default_channel.queue_purge(queue) == 1
    assert waiting(connection, queue) == 0


def test_a_server_that_is_not_there_is_noticed_at_once() -> None:
    url = "redis://127.0.0.1:1/0"
    options = {"url": url, "lease": 60, "body_encoding": None}
    with (
        Connection(url, transport=redis.Transport, transport_options=options) as connection,
        pytest.raises(OperationalError),
    ):
        connection.ensure_connection(max_retries=1, interval_start=0)


class EmptyQueue:
    """A queue that notes whether it was waited on."""

    def __init__(self, name: str, waits: list[tuple[str, bool]]) -> None:
        self._name, self._waits = name, waits

    def get(self, *, wait: bool = False) -> None:
        self._waits.append((self._name, wait))

    def close(self) -> None:
        pass


def test_of_two_queues_that_are_empty_only_the_one_of_batches_is_waited_on(tmp_path: Path) -> None:
    options = {"lease": 60, "most": 1 << 20, "folder": str(tmp_path), "queue": "batches"}
    with Connection("filesystem://", transport=files.Transport, transport_options=options) as connection:
        channel, waits = connection.default_channel, []
        channel._open = lambda name: EmptyQueue(name, waits)
        for name in ("batches", "match", "batches", "match"):
            with pytest.raises(Empty):
                channel._get(name)
    assert waits == [("batches", False), ("match", False), ("batches", True), ("match", False)]
