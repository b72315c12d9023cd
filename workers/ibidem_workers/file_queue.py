"""The file queue as a transport of Celery's.

Kombu's own `filesystem` transport shows a message before it is written whole, and forgets it when it is taken: tried, a
kill of the worker lost both messages in flight. This one stands on `Folder`.
"""

import time
from collections import deque
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any

import orjson
from kombu.transport import virtual

from ibidem_workers.queue_folder import Folder, tries

if TYPE_CHECKING:
    from ibidem_workers.lease import Lease

TRIES = "x-delivery-count"
"""The header that tells how often a message was handed out before, as RabbitMQ's quorum queues call it."""

MAX_WAIT = 0.2
"""Seconds after which an idle worker looks whether it was asked to end."""


class Channel(virtual.Channel):
    """What Celery asks of a queue, on folders."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        options = self.connection.client.transport_options
        self._path, self._seconds = Path(options["folder"]), float(options["lease"])
        self._folders: dict[str, Folder] = {}
        self._seen: dict[str, deque[str]] = {}
        self._held: dict[str, tuple[Folder, Path]] = {}
        self._leases: dict[str, Lease] = {}
        self._recovered = 0.0

    def _put(self, queue: str, message: dict[str, Any], **_: object) -> None:
        self._folder(queue).put(orjson.dumps(message))

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:  # noqa: ARG002 - the base class's name
        folder = self._folder(queue)
        holder = self._holder(queue)
        self._recover_at_times(folder)
        seen = self._seen.setdefault(queue, deque())
        if not seen:
            seen.extend(folder.names())
        while seen:
            name = seen.popleft()
            taken = folder.take(name, holder)
            if taken is not None:
                return self._opened(folder, taken, tries(name))
        raise Empty

    def _opened(self, folder: Folder, taken: Path, tried: int) -> dict[str, Any]:
        message: dict[str, Any] = orjson.loads(taken.read_bytes())
        message["headers"][TRIES] = tried
        self._held[message["properties"]["delivery_tag"]] = folder, taken
        return message

    def _recover_at_times(self, folder: Folder) -> None:
        now = time.monotonic()
        if now - self._recovered > min(folder.seconds / 3, 5) or not self._recovered:
            self._recovered = now
            folder.recover()

    def _size(self, queue: str) -> int:
        return self._folder(queue).waiting()

    def _purge(self, queue: str) -> int:
        return self._folder(queue).purge()

    def _restore(self, message: virtual.Message) -> None:
        held = self._held.pop(message.delivery_tag, None)
        if held is not None:
            held[0].put_back(held[1], tried=False)

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:  # noqa: FBT001, FBT002 - kombu's own
        """Acknowledge a message: only now its file is deleted."""
        super().basic_ack(delivery_tag, multiple)
        self._delete_file(delivery_tag)

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:  # noqa: FBT001, FBT002 - kombu's own
        """Give a message back, or up."""
        super().basic_reject(delivery_tag, requeue)
        self._delete_file(delivery_tag)

    def close(self) -> None:
        """Put back what was not acknowledged, and show no sign of life any more."""
        super().close()
        while self._leases:
            self._leases.popitem()[1].end()

    def _delete_file(self, delivery_tag: str) -> None:
        held = self._held.pop(delivery_tag, None)
        if held is not None:
            held[1].unlink(missing_ok=True)

    def _folder(self, queue: str) -> Folder:
        if queue not in self._folders:
            self._folders[queue] = Folder(self._path / queue, self._seconds)
        return self._folders[queue]

    def _holder(self, queue: str) -> str:
        if queue not in self._leases:
            self._leases[queue] = self._folder(queue).sign_on()
        return self._leases[queue].name


class Transport(virtual.Transport):
    """The transport under which Celery knows the file queue."""

    Channel = Channel
    driver_type = "filesystem"
    driver_name = "ibidem file queue"
    polling_interval = 0.02

    def drain_events(self, connection: object, timeout: float | None = None, **_: object) -> None:
        """Wait for a message, never so long that a request to end goes unheard."""
        super().drain_events(connection, timeout=min(timeout or MAX_WAIT, MAX_WAIT))

    def driver_version(self) -> str:
        """Tell the scheme of the folders."""
        return "1"
