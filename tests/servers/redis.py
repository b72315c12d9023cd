"""Redis, from Debian's `redis-server`: in memory only, or with what it was sent kept on the disk."""

import shutil
from pathlib import Path

from servers.missing import Missing
from servers.process import Launch, free_ports, greets


def prepare(folder: Path) -> Launch:
    """Say how a server is started that writes nothing to disk."""
    return _launch(folder)


def prepare_lasting(folder: Path) -> Launch:
    """Say how a server is started that has after a kill what it had before."""
    return _launch(folder, "--appendonly", "yes")


def _launch(folder: Path, *more: str) -> Launch:
    server = shutil.which("redis-server")
    if server is None:
        raise Missing("redis-server is not on the path: install it (tests/servers/install.sh)")
    (port,) = free_ports(1)
    command = [server, "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", str(folder), *more]
    return Launch(f"redis://127.0.0.1:{port}/0", command, lambda: greets(port, b"PING\r\n", b"+PONG"))
