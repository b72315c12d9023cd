"""Lease of a message in the file queue: a file that a living worker locks, and its heartbeat touches.

A kill of any kind frees the lock, since the kernel holds it; on other machines the time of the last touch decides.

A process is named by its id and start time, so that another can check whether it still runs.
"""

import fcntl
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from uuid import uuid4

from ibidem_ingest.private import FILE, make_folder

BEATS = 6  # heartbeats in the time after which a lease without any has lapsed


class Heartbeat:
    """Thread that renews a lease until it is stopped."""

    def __init__(self, beat: Callable[[], bool], seconds: float) -> None:
        self._beat, self._pause = beat, seconds / BEATS
        self._stop_event = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="heart")
        self._thread.start()

    def _run(self) -> None:
        while not self._stop_event.wait(self._pause) and self._beat():
            pass

    def stop(self) -> None:
        """Stop the heartbeat, after a beat in progress."""
        self._stop_event.set()
        self._thread.join()


HOST = socket.gethostname().replace("~", "-").replace("/", "-")


class Lease:
    """Lease of one process that takes messages."""

    def __init__(self, folder: Path, seconds: float) -> None:
        make_folder(folder)
        self.name = new_holder()
        self._path = folder / self.name
        self._handle = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, FILE)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        self._heart = Heartbeat(self._touch, seconds)

    def _touch(self) -> bool:
        try:
            os.utime(self._path)
        except FileNotFoundError:
            return False  # the queue's folder was removed under a running worker
        return True

    def end(self) -> None:
        """End the lease; its unfinished messages may be requeued at once."""
        self._heart.stop()
        self._path.unlink(missing_ok=True)
        os.close(self._handle)


def new_holder() -> str:
    """Return a name for a lease holder: machine, process, and a random part, since a process may hold several."""
    return f"{HOST}~{os.getpid()}~{uuid4().hex[:12]}"


def has_lapsed(folder: Path, name: str, seconds: float) -> bool:
    """Return whether a lease's holder has exited, or was silent too long; False for folders and devices.

    A clock that was set back leaves leases dated in the future: on this machine the lock decides on them, those of
    other machines have lapsed.
    """
    path = folder / name
    try:
        stat = path.lstat()
        silent = time.time() - stat.st_mtime
        if silent > seconds or not S_ISREG(stat.st_mode):
            return True
        return _is_unlocked(path) if name.startswith(f"{HOST}~") else silent < -seconds
    except FileNotFoundError:
        return True
    except PermissionError:  # another user's lease, which is alive as long as it is touched
        return False


def remove_lapsed(folder: Path, seconds: float) -> None:
    """Remove leases that exited workers left behind."""
    for path in folder.glob("*~*"):
        if has_lapsed(folder, path.name, seconds):
            with suppress(IsADirectoryError, PermissionError):  # it is no lease
                path.unlink(missing_ok=True)


def count_living(folder: Path, seconds: float) -> int:
    """Count the processes that hold a lease."""
    return sum(not has_lapsed(folder, path.name, seconds) for path in folder.glob("*~*"))


def _is_unlocked(path: Path) -> bool:
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


START_FIELD = 22  # field of `/proc/PID/stat` with a process's start time, counted from one

ZOMBIE = "Z"


def this_process() -> str:
    """Return the identity of this process: machine, process id and start time."""
    return f"{_machine()}~{os.getpid()}~{_start_time(os.getpid()) or ''}"


def has_exited(name: str) -> bool:
    """Return whether a process has exited; False for a process on another machine or in another container.

    >>> has_exited(this_process())
    False
    """
    machine, _, tail = name.partition("~")
    number, _, began = tail.partition("~")
    if machine != _machine() or not number.isdecimal():
        return False
    start_time = _start_time(int(number))
    return start_time is None or bool(start_time and began and start_time != began)


def is_alive(name: str) -> bool:
    """Return whether a name belongs to a running process on this machine.

    >>> is_alive(this_process()), is_alive("")
    (True, False)
    """
    machine, _, tail = name.partition("~")
    return machine == _machine() and tail.partition("~")[0].isdecimal() and not has_exited(name)


def host_name(name: str) -> str:
    """Return the machine of a process.

    >>> host_name(this_process()) == HOST
    True
    """
    return name.partition("~")[0].rpartition("/")[0]


def _machine() -> str:
    """Return a name of the machine and container, since each container has its own process ids."""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return f"{HOST}/{namespace}"


def _start_time(number: int) -> str | None:
    """Return a process's start time; empty if unknown, None if the process does not exist."""
    try:
        _, _, fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "" if _exists(number) else None
    state, *tail = fields.split()
    return None if state == ZOMBIE else f"{tail[START_FIELD - 4]}/{boot}"


def _exists(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True
