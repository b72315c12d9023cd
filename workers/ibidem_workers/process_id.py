"""Process id with start time, so that another process can check whether it still runs."""

import os
from pathlib import Path

from ibidem_workers.brokers.lease import HOST

BORN = 22
"""The field of `/proc/PID/stat` that says when a process began, counted from one."""

ZOMBIE = "Z"


def this_process() -> str:
    """Name this process: the machine as processes see it, its number, and when it began."""
    return f"{_machine()}~{os.getpid()}~{_born(os.getpid()) or ''}"


def has_exited(name: str) -> bool:
    """Return whether a process has ended; false of one on another machine or in another container.

    >>> has_exited(this_process())
    False
    """
    machine, _, rest = name.partition("~")
    number, _, began = rest.partition("~")
    if machine != _machine() or not number.isdecimal():
        return False
    born = _born(int(number))
    return born is None or bool(born and began and born != began)


def lives(name: str) -> bool:
    """Return whether a name is that of a process on this very machine which has not ended.

    >>> lives(this_process()), lives("")
    (True, False)
    """
    machine, _, rest = name.partition("~")
    return machine == _machine() and rest.partition("~")[0].isdecimal() and not has_exited(name)


def host_of(name: str) -> str:
    """Name the machine of a process.

    >>> host_of(this_process()) == HOST
    True
    """
    return name.partition("~")[0].rpartition("/")[0]


def _machine() -> str:
    """Name the machine, and which of its containers, since each counts its processes for itself."""
    try:
        within = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        within = ""
    return f"{HOST}/{within}"


def _born(number: int) -> str | None:
    """Tell when a process began: empty where the system does not say, None where there is none."""
    try:
        _, _, fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "" if _there(number) else None
    state, *rest = fields.split()
    return None if state == ZOMBIE else f"{rest[BORN - 4]}/{boot}"


def _there(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True
