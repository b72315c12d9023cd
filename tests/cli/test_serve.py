"""`ibidem serve`: the gateway as a process."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import pytest

from support.command_line import Run

PROGRAM = str(Path(sys.executable).with_name("ibidem"))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


@contextmanager
def served(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the command; gives the process and its address once it listens."""
    port = free_port()
    with subprocess.Popen(
        [PROGRAM, "serve", "--port", str(port), *arguments], stderr=subprocess.PIPE, text=True
    ) as one:
        for _ in range(300):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        try:
            yield one, f"http://127.0.0.1:{port}"
        finally:
            one.kill()


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_serve_answers_on_this_machine_and_ends_when_it_is_told_to(run: Run, told: signal.Signals) -> None:
    with served() as (process, url):
        assert httpx2.get(f"{url}/ibidem/search?q=rent").json()["dedupe"]["groups"]["in_window"] == 3
        process.send_signal(told)
        assert process.wait(30) == 0
        assert process.stderr is not None
        assert url in process.stderr.read()


def test_an_address_that_is_taken_is_named(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, err = run("serve", "--port", str(taken.getsockname()[1]))
    assert code == 2
    assert "cannot be listened on" in err
    assert "--port" in err


@pytest.mark.parametrize("host", ["nosuch.invalid", "203.0.113.1"])
def test_an_address_of_another_machine_is_refused(run: Run, host: str) -> None:
    assert run("serve", "--host", host)[0] == 2
