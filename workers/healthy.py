#!/usr/local/bin/python
"""Health check of the image: exits with 0 while the command that the container runs is well.

A gateway is asked whether it and its engine are ready. Of a worker the processes are looked for: it waits by itself for
an engine and a broker that do not answer. Every other command ends by itself.
"""

import sys
import urllib.request
from pathlib import Path

READY = "http://127.0.0.1:8042/readyz"
WORKER = b"ibidem_workers.worker"


def main(processes: Path = Path("/proc")) -> int:
    """Return the exit code for the command of the first process.

    Args:
        processes: The folder of the processes, as Linux has it.
    """
    command = (processes / "1" / "cmdline").read_bytes().split(b"\0")
    if b"serve" in command:
        try:
            with urllib.request.urlopen(READY, timeout=8):
                return 0
        except OSError:
            return 1
    if b"worker" in command:
        return int(not any(WORKER in each.read_bytes() for each in processes.glob("[0-9]*/cmdline")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
