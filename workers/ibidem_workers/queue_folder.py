"""The folders of one file queue: `ready`, `taken`, `given-up`, and the workers' signs of life.

A message is written aside and renamed into `ready`, so it is seen whole or not at all; a worker renames it into `taken`
under the name of its lease, so one worker has it; only the acknowledgement deletes it. What lies in `taken` under a
lapsed lease goes back to `ready`, counted as one more try.
"""

import contextlib
import os
import re
import time
from pathlib import Path
from uuid import uuid4

from ibidem_workers import lease

_NAME = re.compile(r"(?:[^/]*~~)?\d{1,20}-[0-9a-f]+\.\d{1,9}", re.ASCII)


class Folder:
    """One queue's folder; in `given-up` lies what no worker can carry out.

    A message's name is `<time in ns>-<random>.<tries>`; while it is taken, `<lease>~~` stands before it.

    Args:
        path: The queue's own folder.
        seconds: After how many seconds without a sign of life a lease lapses.
    """

    def __init__(self, path: Path, seconds: float) -> None:
        self.seconds = seconds
        self._ready, self._taken, self._leases = path / "ready", path / "taken", path / "workers"
        self._aside, self.given_up = path / "aside", path / "given-up"
        for folder in (self._ready, self._taken, self._leases, self._aside, self.given_up):
            folder.mkdir(parents=True, exist_ok=True)

    def put(self, message: bytes) -> None:
        """Lay a message down; it is seen whole or not at all."""
        name = f"{time.time_ns():020d}-{uuid4().hex}.0"
        aside = self._aside / name
        aside.write_bytes(message)
        aside.rename(self._ready / name)

    def names(self) -> list[str]:
        """Return the names of the messages that wait, the oldest first."""
        return sorted(_names(self._ready))

    def take(self, name: str, holder: str) -> Path | None:
        """Take a message; None when another was quicker."""
        taken = self._taken / f"{holder}~~{name}"
        try:
            return (self._ready / name).rename(taken)
        except FileNotFoundError:
            return None

    def put_back(self, taken: Path, *, tried: bool) -> bool:
        """Lay a taken message down again, behind the others; False when another did or it is done."""
        _, _, name = taken.name.partition("~~")
        random, tries = name.partition("-")[2].rsplit(".", 1)
        try:
            taken.rename(self._ready / f"{time.time_ns():020d}-{random}.{int(tries) + tried}")
        except FileNotFoundError:
            return False
        return True

    def give_up(self, taken: Path) -> None:
        """Keep a message that cannot be carried out where nobody takes it."""
        with contextlib.suppress(FileNotFoundError):  # another was quicker
            taken.rename(self.given_up / taken.name.rpartition("~~")[2])

    def recover(self) -> int:
        """Put back what is held under a lapsed lease; returns how many messages."""
        put_back = 0
        for name in _names(self._taken):
            if lease.lapsed(self._leases, name.partition("~~")[0], self.seconds):
                put_back += self.put_back(self._taken / name, tried=True)
        lease.clear(self._leases, self.seconds)
        return put_back

    def sign_on(self) -> lease.Lease:
        """Show a sign of life under which messages can be taken."""
        return lease.Lease(self._leases, self.seconds)

    def waiting(self) -> int:
        """Count the messages that wait."""
        return len(_names(self._ready))

    def held(self) -> int:
        """Count the messages that are taken and not acknowledged."""
        return len(_names(self._taken))

    def workers(self) -> int:
        """Count the processes that take messages."""
        return lease.living(self._leases, self.seconds)

    def purge(self) -> int:
        """Delete the messages that wait."""
        names = self.names()
        for name in names:
            (self._ready / name).unlink(missing_ok=True)
        return len(names)


def tries(name: str) -> int:
    """Return how often a message was taken without an end, from its name.

    >>> tries("00000001763676000000-5f0c.2")
    2
    """
    return int(name.rsplit(".", 1)[1])


def _names(folder: Path) -> list[str]:
    """List the messages in a folder; what somebody else laid there is left alone."""
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries if _NAME.fullmatch(entry.name)]
