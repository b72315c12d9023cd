"""The command `ibidem` as a process that runs until it is stopped."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

from contracts.command import Command
from servers.command_line import IBIDEM, surroundings
from servers.process import free_ports

ENOUGH = 60.0


@contextmanager
def going_on(command: Command, log: Path, *typed: str) -> Iterator[None]:
    """Run a command until the block ends; its standard error goes to a file."""
    with log.open("w", encoding="utf-8") as err:
        process = subprocess.Popen(
            [IBIDEM, *typed], cwd=command.folder, env=surroundings(command.settings), stdout=err, stderr=err
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait(timeout=ENOUGH)


def wait_until(is_there: Callable[[], bool], description: str) -> None:
    """Wait for something that comes soon."""
    last = time.monotonic() + ENOUGH
    while not is_there():
        assert time.monotonic() < last, description
        time.sleep(0.05)


@contextmanager
def gateway(command: Command, log: Path) -> Iterator[str]:
    """Run the gateway on a free port; gives its address."""
    (port,) = free_ports(1)
    with going_on(command, log, "serve", "--port", str(port)):
        wait_until(lambda: f":{port}/" in log.read_text(encoding="utf-8"), f"no gateway: {log}")
        yield f"http://127.0.0.1:{port}"


def get(url: str, body: bytes | None = None, method: str | None = None) -> bytes:
    """Ask for something over HTTP."""
    headers = {"content-type": "application/json"} if body else {}
    request = Request(url, body, headers, method=method)  # noqa: S310 - our own address
    with urlopen(request, timeout=ENOUGH) as answer:  # noqa: S310 - as above
        text: bytes = answer.read()
    return text
