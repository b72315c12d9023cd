"""Processes that tests leave behind: pytest becomes the parent of orphans, and a run that leaves one has failed."""

import contextlib
import ctypes
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from faults.kill import children, kill, living

PR_SET_CHILD_SUBREAPER = 36
ENDING_S = 10.0  # seconds for what was asked to end and was not waited for

OURS = "multiprocessing.resource_tracker"  # python's own, which ends with the interpreter


@dataclass
class Leftovers:
    """The children of this process, and the tests in which they came."""

    came: dict[int, str] = field(default_factory=dict)  # by process id

    def __post_init__(self) -> None:
        """Adopt the orphans among our descendants, where the system can do that, and know who is there already."""
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.look("pytest itself")

    def look(self, test: str) -> None:
        """Note the children that have come since."""
        self.came |= {pid: test for pid in children(os.getpid()) if pid not in self.came}

    def end(self, seconds: float = ENDING_S) -> list[str]:
        """Kill what is left after so many seconds, and name it with the test in which it came."""
        self.look("the end of the run")
        deadline = time.monotonic() + seconds
        while (left := _left()) and time.monotonic() < deadline:
            time.sleep(0.05)
        lines = [f"{self.came.get(pid, 'some test')} left process {pid}: {command}" for pid, command in left.items()]
        for pid in left:
            kill(pid)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        return lines


def _left() -> dict[int, str]:
    """Return the command lines of our children that have not ended."""
    commands = {pid: _command(pid) for pid in children(os.getpid()) if living(pid)}
    return {pid: command for pid, command in commands.items() if OURS not in command}


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return ""
