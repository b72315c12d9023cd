"""One server that was started here: its address, its log, its end."""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from servers.missing import Missing

SUPERVISOR = Path(__file__).with_name("supervisor.py")
PATIENCE_S = 300.0

JVM = ("-Xms512m", "-Xmx512m", "-XX:+UseG1GC", "--enable-native-access=ALL-UNNAMED")
# A small disk is no reason to make the tests' indexes read-only, nor is garbage in a small heap to refuse them.
SETTINGS = (
    *("cluster.name=ibidem-tests", "cluster.routing.allocation.disk.threshold_enabled=false"),
    "indices.breaker.total.use_real_memory=false",
)


def free_ports(count: int) -> list[int]:
    """Return different unused ports, below the range of outgoing connections."""
    with contextlib.ExitStack() as stack:
        ports: list[int] = []
        while len(ports) < count:
            port = secrets.randbelow(12_000) + 20_000
            with contextlib.suppress(OSError):
                stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
                ports.append(port)
        return ports


def greets(port: int, greeting: bytes, reply: bytes) -> bool:
    """Return whether a server on this port begins its answer to a greeting so."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(greeting)
            return connection.recv(len(reply)) == reply
    except OSError:
        return False


def healthy(port: int) -> bool:
    """Return whether a search engine's node on this port has elected itself and answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_cluster/health?local=true", timeout=5) as answer:
            return b'"status":"green"' in answer.read()
    except OSError:
        return False


@dataclass(frozen=True)
class Launch:
    """The command and settings to start a server."""

    url: str  # where it will answer
    command: Sequence[str]  # its command line
    answers: Callable[[], bool]  # whether it answers yet
    environment: Mapping[str, str] = field(default_factory=dict)  # variables added to our own environment


class Process:
    """A server under a keeper, with a folder of its own that goes when it goes."""

    def __init__(self, name: str, prepare: Callable[[Path], Launch]) -> None:
        self.name = name
        self.folder = Path(tempfile.mkdtemp(prefix=f"ibidem-{name}-"))
        try:
            self.launch = prepare(self.folder)
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self.keeper = self._start_keeper()

    def _start_keeper(self) -> "subprocess.Popen[bytes]":
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, SUPERVISOR, self.folder, *self.launch.command],
                stdin=subprocess.PIPE, stdout=log, stderr=log,
                env={**os.environ, **self.launch.environment}, start_new_session=True,
            )  # fmt: skip

    @property
    def log(self) -> Path:
        """Output of the server."""
        return self.folder / "printed.log"

    def wait(self) -> str:
        """Return the address as soon as the server answers there."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if self.keeper.poll() is not None:
                raise Missing(f"{self.name} ended while it started: {self.printed()}")
            if self.launch.answers():
                return self.launch.url
            time.sleep(0.1)
        raise Missing(f"{self.name} did not answer within {PATIENCE_S:.0f} s: {self.printed()}")

    def kill(self) -> None:
        """Kill the server and all that it started; what it wrote stays."""
        self.keeper.terminate()
        self.keeper.wait()
        if self.keeper.stdin:
            self.keeper.stdin.close()

    def start_again(self) -> str:
        """Start a killed server on what it had written, at the same address; returns when it answers."""
        self.keeper = self._start_keeper()
        return self.wait()

    def printed(self) -> str:
        """Return the end of what the server printed."""
        return self.log.read_text(errors="replace").strip()[-800:]

    def stop(self) -> None:
        """End the server and remove its folder."""
        if self.keeper.stdin and not self.keeper.stdin.closed:
            self.keeper.stdin.close()
        self.keeper.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
