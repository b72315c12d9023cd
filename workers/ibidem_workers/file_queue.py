"""The file queue as a transport of Celery's.

Kombu's own `filesystem` transport shows a message before it is written whole, and forgets it when it is taken: tried, a
kill of the worker lost both messages in flight. This one stands on `Folder`.
"""

import logging
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from ibidem_workers import leased_queue
from ibidem_workers.leased_queue import Taken
from ibidem_workers.queue_folder import Folder, read_whole, tries

if TYPE_CHECKING:
    from ibidem_workers.lease import Lease

_log = logging.getLogger(__name__)


class FileQueue:
    """One folder's messages, as one process takes them.

    Args:
        folder: The queue's own folder.
        most: The most bytes of a message.
    """

    def __init__(self, folder: Folder, most: int) -> None:
        self._folder, self._most = folder, most
        self._lease: Lease | None = None
        self._seen: deque[str] = deque()
        self._recovered = 0.0
        self.put, self.waiting, self.purge = folder.put, folder.waiting, folder.purge

    def take(self) -> Taken | None:
        """Take a message under this process's lease."""
        self._lease = self._lease or self._folder.sign_on()
        self._recover_at_times()
        if not self._seen:
            self._seen.extend(self._folder.names())
        while self._seen:
            name = self._seen.popleft()
            path = self._folder.take(name, self._lease.name)
            taken = path and self._read(path, tries(name))
            if taken:
                return taken
        return None

    def _read(self, path: Path, tried: int) -> Taken | None:
        """Read a message that was taken; what is none is put aside."""
        try:
            message = read_whole(path, self._most)
        except FileNotFoundError:  # another took this process for dead
            return None
        if message is None:
            _log.warning("what lies in the queue is no message and is given up: %s", path)
            self._folder.give_up(path)
            return None
        return Taken(str(path), message, tried)

    def _recover_at_times(self) -> None:
        now = time.monotonic()
        if now - self._recovered > min(self._folder.seconds / 3, 5) or not self._recovered:
            self._recovered = now
            self._folder.recover()

    def done(self, taken: Taken) -> None:
        """Delete the message's file."""
        Path(taken.name).unlink(missing_ok=True)

    def give_up(self, taken: Taken) -> None:
        """Put the message's file aside."""
        self._folder.give_up(Path(taken.name))

    def hand_back(self, taken: Taken) -> None:
        """Lay the message down again."""
        self._folder.put_back(Path(taken.name), tried=False)

    def end(self) -> None:
        """End the lease."""
        if self._lease is not None:
            self._lease.end()
            self._lease = None


class Channel(leased_queue.Channel):
    """What Celery asks of a queue, on folders."""

    def __init__(self, connection: object) -> None:
        super().__init__(connection, self._in_its_folder)

    def _in_its_folder(self, name: str) -> FileQueue:
        options = self.connection.client.transport_options
        return FileQueue(Folder(Path(options["folder"]) / name, float(options["lease"])), int(options["most"]))


class Transport(leased_queue.Transport):
    """The transport under which Celery knows the file queue."""

    Channel = Channel
    driver_type = "filesystem"
    driver_name = "ibidem file queue"
