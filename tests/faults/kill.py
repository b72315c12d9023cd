"""Processes as the system shows them: whose children they are, and their end without a warning."""

import contextlib
import os
import signal
from pathlib import Path


def kill(pid: int) -> bool:
    """Kill a process; False when it was gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def children(pid: int) -> list[int]:
    """Return the processes that one started and that live."""
    with contextlib.suppress(OSError):
        return [
            int(one) for task in Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text().split()
        ]
    return []
