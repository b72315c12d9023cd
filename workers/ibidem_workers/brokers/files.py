"""File queue as a Kombu transport, over a spool directory.

Kombu's own `filesystem` transport shows a message before it is written whole, and forgets it when it is taken: in a
test, a kill of the worker lost both messages in flight. This one is built on `SpoolDirectory`.
"""

import contextlib
import errno
import logging
import os
import re
import time
from collections import deque
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING
from uuid import uuid4

from ibidem_ingest.private import make_folder, write_file
from ibidem_workers.brokers import lease, transport
from ibidem_workers.brokers.transport import QueuedMessage

if TYPE_CHECKING:
    from ibidem_workers.brokers.lease import Lease


_NAME = re.compile(r"\d{1,20}-[0-9a-f]{1,64}\.\d{1,9}", re.ASCII)
_TAKEN_NAME = re.compile(rf"[^/]*~~{_NAME.pattern}", re.ASCII)
_MAX_TRIES = 999_999_999

# Errors of opening a link, a socket, a device, or a file that this user may not read.
NO_MESSAGE = frozenset({errno.ELOOP, errno.ENXIO, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENODEV})


class SpoolDirectory:
    """Folder of one queue; its subfolder `given-up` holds messages that no worker can process.

    A message's name is `<time in ns>-<random>.<tries>`; while it is taken, `<lease>~~` precedes it.
    """

    def __init__(self, path: Path, seconds: float) -> None:
        self.seconds = seconds
        self._ready, self._taken_folder, self._leases = path / "ready", path / "taken", path / "workers"
        self._aside, self.given_up = path / "aside", path / "given-up"
        for folder in (self._ready, self._taken_folder, self._leases, self._aside, self.given_up):
            make_folder(folder)

    def put(self, message: bytes) -> None:
        """Add a message atomically."""
        name = f"{time.time_ns():020d}-{uuid4().hex}.0"
        aside = self._aside / name
        write_file(aside, message)
        aside.rename(self._ready / name)

    def names(self) -> list[str]:
        """Return the names of the waiting messages, the oldest first."""
        return sorted(_names(self._ready, _NAME))

    def take(self, name: str, holder: str) -> Path | None:
        """Take a message; None if another process took it first."""
        path = self._taken_folder / f"{holder}~~{name}"
        try:
            return (self._ready / name).rename(path)
        except FileNotFoundError:
            return None

    def put_back(self, path: Path, *, counts_try: bool) -> bool:
        """Requeue a taken message, behind the others; False if another process did, or it is done."""
        name = path.name.rpartition("~~")[2]
        random, tries = name.partition("-")[2].rsplit(".", 1)
        try:
            path.rename(self._ready / f"{time.time_ns():020d}-{random}.{min(int(tries) + counts_try, _MAX_TRIES)}")
        except FileNotFoundError:
            return False
        return True

    def give_up(self, path: Path) -> None:
        """Move a message that cannot be processed to a separate folder."""
        name = path.name.rpartition("~~")[2]
        with contextlib.suppress(FileNotFoundError):  # another process was faster
            path.rename(self.given_up / f"{name}-{uuid4().hex[:8]}")  # an unused name in that folder

    def recover(self) -> int:
        """Requeue messages under expired leases; returns how many."""
        count = 0
        for name in _names(self._taken_folder, _TAKEN_NAME):
            if lease.has_lapsed(self._leases, name.partition("~~")[0], self.seconds):
                count += self.put_back(self._taken_folder / name, counts_try=True)
        lease.remove_lapsed(self._leases, self.seconds)
        return count

    def take_lease(self) -> lease.Lease:
        """Create a lease under which messages can be taken."""
        return lease.Lease(self._leases, self.seconds)

    def count_waiting(self) -> int:
        """Count the waiting messages."""
        return len(_names(self._ready, _NAME))

    def count_taken(self) -> int:
        """Count the messages that are taken but not acknowledged."""
        return len(_names(self._taken_folder, _TAKEN_NAME))

    def workers(self) -> int:
        """Count the processes that take messages."""
        return lease.count_living(self._leases, self.seconds)

    def purge(self) -> int:
        """Delete the waiting messages."""
        names = self.names()
        for name in names:
            try:
                (self._ready / name).unlink(missing_ok=True)
            except (IsADirectoryError, PermissionError):
                self.give_up(self._ready / name)
        return len(names)


def read_whole(path: Path, limit: int) -> bytes | None:
    """Read a message; None if it is not a regular file, or too large; links are not followed."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in NO_MESSAGE:
            return None
        raise
    try:
        stat = os.fstat(handle)
        if not S_ISREG(stat.st_mode) or stat.st_size > limit:
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(limit)
    finally:
        os.close(handle)


def tries(name: str) -> int:
    """Return from a message's name how often it was taken without being finished.

    >>> tries("00000001763676000000-5f0c.2")
    2
    """
    return int(name.rsplit(".", 1)[1])


def _names(folder: Path, form: re.Pattern[str]) -> list[str]:
    """Return the names of the messages in a folder; other files are ignored."""
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries if form.fullmatch(entry.name)]


_log = logging.getLogger(__name__)


class FileQueue:
    """The messages of one folder, for one process."""

    def __init__(self, folder: SpoolDirectory, limit: int) -> None:
        self._folder, self._most = folder, limit
        self._lease: Lease | None = None
        self._backlog: deque[str] = deque()
        self._last_recovery = 0.0
        self.put, self.size, self.purge = folder.put, folder.count_waiting, folder.purge

    def get(self, *, wait: bool = False) -> QueuedMessage | None:  # noqa: ARG002 - asking a folder again is cheap
        """Take a message under this process's lease."""
        self._lease = self._lease or self._folder.take_lease()
        self._recover_at_times()
        if not self._backlog:
            self._backlog.extend(self._folder.names())
        while self._backlog:
            name = self._backlog.popleft()
            path = self._folder.take(name, self._lease.name)
            entry = path and self._read(path, tries(name))
            if entry:
                return entry
        return None

    def _read(self, path: Path, tries: int) -> QueuedMessage | None:
        """Read a taken message; a file that is not a message is moved away."""
        try:
            message = read_whole(path, self._most)
        except FileNotFoundError:  # another process assumed that this one had died
            return None
        if message is None:
            _log.warning("a file in the queue is not a message and is skipped: %s", path)
            self._folder.give_up(path)
            return None
        return QueuedMessage(str(path), message, tries)

    def _recover_at_times(self) -> None:
        now = time.monotonic()
        if now - self._last_recovery > min(self._folder.seconds / 3, 5) or not self._last_recovery:
            self._last_recovery = now
            self._folder.recover()

    def ack(self, entry: QueuedMessage) -> None:
        """Delete the message's file."""
        Path(entry.name).unlink(missing_ok=True)

    def reject(self, entry: QueuedMessage) -> None:
        """Move the message's file out of the queue."""
        self._folder.give_up(Path(entry.name))

    def requeue(self, entry: QueuedMessage) -> None:
        """Requeue the message."""
        self._folder.put_back(Path(entry.name), counts_try=False)

    def close(self) -> None:
        """End the lease."""
        if self._lease is not None:
            self._lease.end()
            self._lease = None


class Channel(transport.Channel):
    """Kombu's channel on folders."""

    def __init__(self, connection: object) -> None:
        super().__init__(connection, self._open_queue)

    def _open_queue(self, name: str) -> FileQueue:
        options = self.connection.client.transport_options
        return FileQueue(SpoolDirectory(Path(options["folder"]) / name, float(options["lease"])), int(options["most"]))


class Transport(transport.Transport):
    """The transport of the file queue, as registered with Celery."""

    Channel = Channel
    driver_type = "filesystem"
    driver_name = "ibidem file queue"
