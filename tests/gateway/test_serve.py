"""`ibidem serve`: the gateway as a process."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import httpx2
import pytest

from faults.environment import wait_for
from faults.kill import children, living
from ibidem_core.settings import Settings
from ibidem_gateway.app import is_open
from servers.fake_server import Answer, between
from servers.process import free_ports
from support.command_line import Run

PROGRAM = str(Path(sys.executable).with_name("ibidem"))


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@contextmanager
def served(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the command; gives the process and its address once it listens."""
    (port,) = free_ports(1)
    with subprocess.Popen(
        [PROGRAM, "serve", "--port", str(port), *arguments], stderr=subprocess.PIPE, text=True
    ) as listener:
        assert wait_for(lambda: listens(port), 30)
        try:
            yield listener, f"http://127.0.0.1:{port}"
        finally:
            listener.kill()


@pytest.mark.slow
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_serve_answers_on_this_machine_and_ends_when_it_is_told_to(run: Run, signum: signal.Signals) -> None:
    with served() as (process, url):
        assert httpx2.get(f"{url}/ibidem/search?q=rent").json()["dedupe"]["groups"]["in_window"] == 3
        process.send_signal(signum)
        assert process.wait(30) == 0
        assert process.stderr is not None
        assert url in process.stderr.read()


def find_children(process: subprocess.Popen[str]) -> list[int]:
    """Return the ids of the processes that serve."""
    return [each for each in children(process.pid) if "spawn_main" in Path(f"/proc/{each}/cmdline").read_text()]


@pytest.mark.slow
def test_several_processes_answer_at_one_address_count_together_and_end_together(run: Run) -> None:
    with served("--workers", "2") as (process, url):
        assert httpx2.get(f"{url}/healthz", timeout=60).status_code == 200
        serving = find_children(process)
        assert len(serving) == 2
        for _ in range(12):
            assert httpx2.get(f"{url}/ibidem/search?q=rent").status_code == 200
        metrics = httpx2.get(f"{url}/metrics").text
        assert 'ibidem_requests_total{route="/ibidem/search",status="200"} 12.0' in metrics
        os.kill(serving[0], signal.SIGKILL)
        assert httpx2.get(f"{url}/ibidem/search?q=rent", timeout=30).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert not any(map(living, serving))


@pytest.mark.slow
def test_processes_do_not_outlive_a_command_that_is_killed(run: Run) -> None:
    with served("--workers", "2") as (process, url):
        assert httpx2.get(f"{url}/healthz", timeout=60).status_code == 200
        serving = find_children(process)
        process.kill()
        process.wait(30)
        assert wait_for(lambda: not any(map(living, serving)), 30)
    assert len(serving) == 2


@pytest.mark.parametrize("host", ["nosuch.invalid", "203.0.113.1"])
def test_an_address_of_another_machine_is_refused(run: Run, host: str) -> None:
    assert run("serve", "--host", host)[0] == 2


@pytest.mark.slow
@pytest.mark.parametrize(("status", "warns"), [(200, True), (401, False)])
def test_who_listens_beyond_this_machine_for_an_engine_without_users_is_warned(
    run: Run, monkeypatch: pytest.MonkeyPatch, status: int, warns: bool
) -> None:
    with between(plan=lambda _: Answer(status, {})) as engine:
        monkeypatch.setenv("IBIDEM_ENGINE", engine.address("opensearch").replace("://", "://clerk:pw@"))
        with served("--host", "0.0.0.0") as (process, url):  # noqa: S104 - reached by its loopback address
            assert httpx2.get(f"{url}/healthz", timeout=30).status_code == 200
            process.send_signal(signal.SIGTERM)
            process.wait(30)
            assert process.stderr is not None
            assert ("the engine has no users" in process.stderr.read()) is warns
        assert "authorization" not in map(str.lower, engine.asked[0].headers)


def test_a_file_has_no_users_and_an_engine_that_is_away_may_have_some(settings: Settings) -> None:
    assert asyncio.run(is_open(settings))
    assert not asyncio.run(is_open(Settings(engine="opensearch+http://127.0.0.1:9")))


@pytest.mark.skipif(find_spec("mcp") is not None, reason="the package mcp is installed")
def test_without_the_package_the_extra_is_named(run: Run) -> None:
    code, _, error = run("serve", "--mcp")
    assert code == 2
    assert "pip install 'ibidem-search[mcp]'" in error
