"""What lies in a queue: the key in Redis, and the task as Celery writes it down."""

import base64
import json
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from redis import Redis

from contracts.golden import Golden
from ibidem_core.settings import Settings
from ibidem_workers.batches import decompress
from ibidem_workers.celery_app import make_app, send

RANDOM = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{8}\b"), "RUN"),
    (re.compile(r"\bgen\d+@[^\s\"]+"), "PROCESS"),
    (re.compile(r"\b1[0-9]{15}\b"), "MICROSECONDS"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "HEX"),
)


def steady(text: str) -> str:
    """Replace what differs from message to message."""
    for pattern, replacement in RANDOM:
        text = pattern.sub(replacement, text)
    return text


@pytest.mark.server("redis")
def test_a_message_is_this_task_of_celery_with_these_headers_in_a_list_under_this_key(
    tmp_path: Path, redis: str
) -> None:
    index = f"queue-{uuid4().hex}"
    settings = Settings(broker=redis, index=index)
    send(make_app(settings), "20260101-000000-0000aaaa", 0, [{"id": "one", "text": "one short text", "version": 1}])
    client: Any = Redis.from_url(redis)
    key = f"ibidem:{settings.queue}"
    (data,) = client.lrange(key, 0, -1)
    client.delete(key, f"ibidem:_kombu.binding.{settings.queue}")
    message = json.loads(data)
    body = decompress(base64.b64decode(message["body"]), 1 << 20)
    shown = json.dumps(message | {"body": json.loads(body)}, indent=1).replace(index, "INDEX")
    Golden.check("queue/message.json", steady(f"{key.replace(index, 'INDEX')}\n{shown}"))
