"""Names of processes: by machine, id and start time, so that another process can check whether one runs."""

import os
import socket
from contextlib import suppress
from pathlib import Path

HOST = socket.gethostname().replace("~", "-").replace("/", "-")


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


def is_stopped(number: int) -> bool:
    """Return whether the system has stopped a process, by SIGSTOP."""
    with suppress(OSError):
        return _state(number)[0] == "T"
    return False


def _state(number: int) -> list[str]:
    """Read a process's state, and what follows it in `/proc/PID/stat`."""
    return Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


def _start_time(number: int) -> str | None:
    """Return a process's start time; empty if unknown, None if the process does not exist."""
    try:
        state, *tail = _state(number)
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "" if _exists(number) else None
    return None if state == ZOMBIE else f"{tail[START_FIELD - 4]}/{boot}"


def _exists(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True
