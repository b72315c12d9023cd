"""The queue in Redis: a message is another's when its taker shows no life, and the server counts the tries."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from uuid import uuid4

import pytest
from kombu.connection import Connection
from redis import Redis, exceptions

from ibidem_core.errors import Permanent
from ibidem_core.settings import Settings
from ibidem_workers.brokers.redis import GIVEN_UP, PREFIX, Stream, Transport, connect
from ibidem_workers.brokers.transport import QueuedMessage
from ibidem_workers.celery_app import connect_broker, make_broker
from servers.network import network

pytestmark = pytest.mark.server("redis")

SHORT = 0.3  # seconds of a lease that a test waits for

PATIENCE = 30.0

HOLD = """
import sys, time
from ibidem_workers.brokers.redis import PREFIX, Stream, connect
taken = None
queue = Stream(connect(sys.argv[1]), PREFIX + sys.argv[2], float(sys.argv[3]))
while taken is None:
    taken = queue.get()
print(taken.tries, flush=True)
time.sleep(60)
"""


@pytest.fixture
def name() -> str:
    return f"news-{uuid4().hex}"


@pytest.fixture
def queue(redis: str, name: str) -> Iterator[Stream]:
    channel = Stream(connect(redis), PREFIX + name, SHORT)
    yield channel
    channel.close()
    Redis.from_url(redis).delete(f"ibidem:{name}")


def next_message(queue: Stream) -> QueuedMessage:
    """Take a message as soon as there is one."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if message := queue.get():
            return message
    raise AssertionError("no message came")


def taken_by_one_that_is_killed(redis: str, name: str) -> int:
    """Let another process take a message and kill it; returns how often it had been tried before."""
    command = [sys.executable, "-c", HOLD, redis, name, str(SHORT)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        tries = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
    return tries


def test_what_a_killed_worker_held_comes_again_with_the_number_of_tries(queue: Stream, redis: str, name: str) -> None:
    queue.put(b"poison")
    assert [taken_by_one_that_is_killed(redis, name) for _ in range(2)] == [0, 1]
    message = next_message(queue)
    assert (message.message, message.tries) == (b"poison", 2)
    queue.requeue(message)
    assert next_message(queue).tries == 2


def test_a_message_stays_with_one_who_lives_however_long_that_takes(queue: Stream, redis: str, name: str) -> None:
    queue.put(b"slow")
    message = next_message(queue)
    other = Stream(connect(redis), PREFIX + name, SHORT)
    deadline = time.monotonic() + 4 * SHORT
    while time.monotonic() < deadline:
        assert other.get() is None
    other.close()
    queue.ack(message)
    assert queue.size() == 0


def test_a_worker_that_ends_leaves_what_it_holds_to_others(queue: Stream, redis: str, name: str) -> None:
    first = Stream(connect(redis), PREFIX + name, SHORT)
    first.put(b"hello")
    next_message(first)
    first.close()
    assert next_message(queue).message == b"hello"


def test_a_message_that_could_not_be_acknowledged_keeps_no_worker_from_the_next(redis: str, name: str) -> None:
    with network(redis) as (proxy, address):
        options = {"url": address, "lease": SHORT, "body_encoding": None}
        with Connection(address, transport=Transport, transport_options=options) as connection:
            channel = connection.default_channel
            channel.basic_qos(0, 1, False)
            for text in ("first", "second"):
                connection.Producer().publish(text, routing_key=name, serializer="json")
            first = channel.basic_get(name)
            proxy.cut()
            with pytest.raises(exceptions.ConnectionError):
                first.ack()
            proxy.mend()
            assert channel.qos.can_consume()
            texts: set[str] = set()
            deadline = time.monotonic() + PATIENCE
            while len(texts) < 2 and time.monotonic() < deadline:
                if message := channel.basic_get(name):
                    texts.add(message.decode())
    assert texts == {"first", "second"}


def test_a_server_that_forgot_everything_takes_messages_again(queue: Stream, redis: str, name: str) -> None:
    queue.put(b"lost")
    next_message(queue)
    Redis.from_url(redis).delete(f"ibidem:{name}")
    queue.put(b"sent again")
    assert next_message(queue).message == b"sent again"


def test_what_nobody_holds_is_counted_and_purged(queue: Stream) -> None:
    for message in (b"one", b"two", b"three"):
        queue.put(message)
    assert queue.size() == 3
    next_message(queue)
    assert queue.size() == 2
    assert (queue.purge(), queue.size()) == (2, 0)


@pytest.mark.parametrize("suffix", ["", GIVEN_UP])
def test_a_key_that_another_program_uses_is_named_with_its_type_and_a_remedy(
    redis: str, name: str, settings: Settings, suffix: str
) -> None:
    changed = settings.changed(broker=redis, index=name)
    key = f"ibidem:{changed.queue}{suffix}"
    Redis.from_url(redis).rpush(key, "mine")
    try:
        with pytest.raises(Permanent, match=f"the key '{key}' of the broker holds a list, not a stream.*IBIDEM_BROKER"):
            connect_broker(changed)
        if suffix:
            with pytest.raises(Permanent, match="holds a list"):
                make_broker(changed).count_rejected()
    finally:
        Redis.from_url(redis).delete(key)
