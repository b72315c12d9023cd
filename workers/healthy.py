#!/usr/local/bin/python
"""Health check of the image: exits with 0 if the container's command is healthy.

A gateway is asked whether it and its engine are ready. Of a worker the processes are looked for: it waits by itself for
an engine and a broker that do not answer. Every other command ends by itself.
"""

import sys
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path

GATEWAY = ("127.0.0.1", 8042)
WORKERS = (b"ibidem_workers.worker", b"[celeryd: ")  # as it is started, and as Celery names it where it can


def main(processes: Path = Path("/proc")) -> int:
    """Return the exit code for the command of the first process."""
    command = (processes / "1" / "cmdline").read_bytes().split(b"\0")
    if b"serve" in command:
        return int(not is_ready())
    if b"worker" in command:
        commands = [each.read_bytes() for each in processes.glob("[0-9]*/cmdline")]
        return int(not any(name in each for name in WORKERS for each in commands))
    return 0


def is_ready() -> bool:
    """Return whether the gateway and its engine are ready."""
    with closing(HTTPConnection(*GATEWAY, timeout=8)) as connection:
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status < 400
        except (OSError, HTTPException):
            return False


if __name__ == "__main__":
    sys.exit(main())
