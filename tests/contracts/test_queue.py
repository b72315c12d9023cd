"""What lies in a queue: folders, names of files, keys in Redis, and the task as Celery writes it down."""

import json
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from contracts.command import Command, leases
from contracts.golden import Golden
from ibidem_workers.brokers.transport import read_message

RANDOM = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{8}\b"), "RUN"),
    (re.compile(r"\bgen\d+@[^\s\"]+"), "PROCESS"),
    (re.compile(r"\b\d{20}-[0-9a-f]{32}\b"), "NANOSECONDS-HEX"),
    (re.compile(r"\b1[0-9]{15}\b"), "MICROSECONDS"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "HEX"),
    (re.compile(r'"body": "[^"]{99,}"'), '"body": "TEXT"'),
)


def steady(text: str) -> str:
    """Replace what differs from message to message."""
    for pattern, replacement in RANDOM:
        text = pattern.sub(replacement, text)
    return text


def send(command: Command) -> Command:
    """Lay one batch into the queue, where no worker takes it."""
    (command.folder / "one.jsonl").write_text('{"id": "one", "text": "one short text"}\n', encoding="utf-8")
    assert command.run("ingest", "one.jsonl", "--no-wait").code == 0
    return command


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return leases(tmp_path)


def test_a_file_queue_has_these_folders_and_a_message_this_name(command: Command) -> None:
    queue = send(command).folder / ".ibidem" / "queue"
    paths = sorted(steady(str(path.relative_to(queue))) for path in queue.rglob("*"))
    Golden.check("queue/folders.txt", "\n".join(paths))


def test_a_message_is_this_task_of_celery_with_these_headers(command: Command) -> None:
    (message,) = (send(command).folder / ".ibidem" / "queue").glob("*/ready/*")
    Golden.check("queue/message.json", steady(mask(message.read_bytes())))


def mask(data: bytes) -> str:
    """Show a message, its body read."""
    message = read_message(data)
    assert message is not None
    return json.dumps(message | {"body": json.loads(message["body"])}, indent=1)


@pytest.mark.server("redis")
def test_a_queue_in_redis_is_a_stream_under_this_key_with_these_fields(command: Command, redis: str) -> None:
    from redis import Redis  # noqa: PLC0415 - an extra

    index = f"queue-{uuid4().hex}"
    send(Command(command.folder, command.settings | {"IBIDEM_BROKER": redis, "IBIDEM_INDEX": index}))
    client: Any = Redis.from_url(redis)
    entries = []
    for key in sorted(client.keys(f"*{index}*")):
        for _, fields in client.xrange(key):
            assert mask(fields[b"message"])
            texts = {name.decode(): value.decode() for name, value in fields.items() if name != b"message"}
            entries.append({"key": key.decode().replace(index, "INDEX"), "type": client.type(key).decode()})
            entries.append({"message": "as in a file"} | texts)
        client.delete(key)
    client.close()
    Golden.check("queue/redis.json", json.dumps(entries, indent=1))
