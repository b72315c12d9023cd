"""Who holds a message of the file queue: a file that a living worker locks and touches.

A kill of any kind frees the lock, since the kernel holds it; on other machines the time of the last touch decides.
"""

import fcntl
import os
import socket
import time
from pathlib import Path
from uuid import uuid4

from ibidem_workers.heart import Heart

HOST = socket.gethostname().replace("~", "-").replace("/", "-")


class Lease:
    """The sign of life of one process that takes messages.

    Args:
        folder: Where the signs of life of this queue are kept.
        seconds: A sign older than this has lapsed; it is renewed six times in that time.
    """

    def __init__(self, folder: Path, seconds: float) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.name = new_holder()
        self._path = folder / self.name
        self._handle = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o644)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        self._heart = Heart(self._touch, seconds)

    def _touch(self) -> bool:
        try:
            os.utime(self._path)
        except FileNotFoundError:
            return False  # the queue's folder was removed under a running worker
        return True

    def end(self) -> None:
        """Give the lease up; what is still taken under it may be put back at once."""
        self._heart.stop()
        self._path.unlink(missing_ok=True)
        os.close(self._handle)


def new_holder() -> str:
    """Name one who takes messages: the machine, the process, and what keeps two of one process apart."""
    return f"{HOST}~{os.getpid()}~{uuid4().hex[:12]}"


def lapsed(folder: Path, name: str, seconds: float) -> bool:
    """Tell whether the holder of a lease is gone or has shown no life for some seconds."""
    path = folder / name
    try:
        silent = time.time() - path.stat().st_mtime
        return silent > seconds or (name.startswith(f"{HOST}~") and _unlocked(path))
    except FileNotFoundError:
        return True


def clear(folder: Path, seconds: float) -> None:
    """Remove the signs of life that workers left behind."""
    for path in folder.glob("*~*"):
        if lapsed(folder, path.name, seconds):
            path.unlink(missing_ok=True)


def living(folder: Path, seconds: float) -> int:
    """Count the processes that hold a lease."""
    return sum(not lapsed(folder, path.name, seconds) for path in folder.glob("*~*"))


def _unlocked(path: Path) -> bool:
    handle = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True
