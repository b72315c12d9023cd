"""Kombu's Redis as workers use it: leases are renewed, and what is no message ends nobody."""

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from redis import Redis

from ibidem_core.settings import Settings
from ibidem_workers.celery_app import make_app, send
from ibidem_workers.redis_transport import Renewal

pytestmark = pytest.mark.server("redis")

LEASE = 2  # seconds: as few as the settings allow


@pytest.fixture
def own(redis: str, settings: Settings) -> Iterator[Settings]:
    changed = settings.changed(broker=redis, index=f"renewal-{uuid4().hex}", lease=LEASE)
    yield changed
    client: Any = Redis.from_url(redis)
    for key in client.keys(f"ibidem:*{changed.queue}*"):
        client.delete(key)


def take(channel: Any, queue: str, seconds: float = 10) -> Any:
    """Take a message, also one whose lease lapses meanwhile."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        channel.qos.restore_visible(interval=1)
        if message := channel.basic_get(queue):
            return message
        time.sleep(0.1)
    return None


@pytest.mark.slow
@pytest.mark.parametrize("is_renewed", [True, False])
def test_a_message_whose_lease_is_renewed_is_given_to_no_other(own: Settings, is_renewed: bool) -> None:
    app = make_app(own)
    send(app, "run", 0, [{"id": "a", "text": "x"}])
    with app.connection_for_read() as connection, app.connection_for_read() as other:
        channel = connection.default_channel
        assert take(channel, own.queue).headers.get("redelivered") is None
        renewal = Renewal(SimpleNamespace(steps=[]))
        deadline, seen = time.monotonic() + 3 * LEASE, None
        while time.monotonic() < deadline and seen is None:
            if is_renewed:
                renewal._renew(channel)
            seen = take(other.default_channel, own.queue, LEASE / 4)
        assert (seen is None) is is_renewed
        assert seen is None or seen.delivery_info["redelivered"] is True
        channel.qos.restore_at_shutdown = other.default_channel.qos.restore_at_shutdown = False
