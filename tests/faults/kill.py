"""Processes as the system shows them: whose children they are, and their end without a warning."""

import contextlib
import os
import signal
from pathlib import Path


def kill(pid: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def living(pid: int) -> bool:
    """Return whether a process has not ended; one that its parent has not heard of yet has."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def processes_with(name: str, value: str) -> list[int]:
    variable, pids = f"{name}={value}".encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if variable in (folder / "environ").read_bytes().split(b"\0"):
                pids.append(int(folder.name))
    return [pid for pid in pids if living(pid)]


def descendants(pid: int) -> list[int]:
    """Return the processes that one started, and those that these did: workers are forked by a starter of theirs."""
    return [each for child in children(pid) for each in (child, *descendants(child))]


def children(pid: int) -> list[int]:
    """Return the processes that one started and that live."""
    with contextlib.suppress(OSError):
        return [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    return []
