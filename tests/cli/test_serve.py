"""`ibidem serve`: the gateway as a process."""

import os
import secrets
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

from servers.indices import ask, remove_indices
from support.command_line import Run

KINDS = (
    pytest.param("opensearch", marks=pytest.mark.server("opensearch")),
    pytest.param("elasticsearch", marks=pytest.mark.server("elasticsearch")),
)

PROGRAM = str(Path(sys.executable).with_name("ibidem"))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def served(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the command; gives the process and its address once it listens."""
    port = free_port()
    with subprocess.Popen(
        [PROGRAM, "serve", "--port", str(port), *arguments], stderr=subprocess.PIPE, text=True
    ) as listener:
        for _ in range(300):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
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


def find_children(process: subprocess.Popen[str]) -> list[str]:
    """Return the numbers of the processes that a process started."""
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def lives(number: str) -> bool:
    """Return whether a process runs; one that nobody has asked about since it ended does not."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_several_processes_answer_at_one_address_count_together_and_end_together(run: Run) -> None:
    with served("--workers", "2") as (process, url):
        assert httpx2.get(f"{url}/healthz").status_code == 200
        children = find_children(process)
        assert len(children) == 2
        for _ in range(12):
            assert httpx2.get(f"{url}/ibidem/search?q=rent").status_code == 200
        metrics = httpx2.get(f"{url}/metrics").text
        assert 'ibidem_requests_total{route="/ibidem/search",status="200"} 12.0' in metrics
        os.kill(int(children[0]), signal.SIGKILL)
        assert httpx2.get(f"{url}/ibidem/search?q=rent", timeout=30).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert not any(lives(child) for child in children)


@pytest.mark.slow
def test_processes_do_not_outlive_a_command_that_is_killed(run: Run) -> None:
    with served("--workers", "2") as (process, url):
        assert httpx2.get(f"{url}/healthz").status_code == 200
        children = find_children(process)
        process.kill()
        process.wait(30)
        for _ in range(300):
            if not any(lives(child) for child in children):
                break
            time.sleep(0.1)
    assert len(children) == 2
    assert not any(lives(child) for child in children)


def await_children(process: subprocess.Popen[str], count: int) -> list[str]:
    """Wait until a process has started so many others."""
    for _ in range(300):
        if len(children := find_children(process)) == count:
            return children
        time.sleep(0.1)
    raise TimeoutError(f"{count} processes were not started")


@pytest.mark.slow
def test_a_follower_beside_the_gateway_is_started_again_when_it_dies_and_ends_with_it(run: Run) -> None:
    with served("--follow") as (process, url):
        gateway, follower = await_children(process, 2)
        os.kill(int(follower), signal.SIGKILL)
        await_children(process, 1)
        children = await_children(process, 2)
        assert (gateway in children, follower in children) == (True, False)
        assert httpx2.get(f"{url}/ibidem/search?q=rent").json()["dedupe"]["groups"]["in_window"] == 3
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert not any(lives(child) for child in children)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_others_write_is_signed_also_where_the_index_is_made_after_the_gateway_was_started(
    kind: str, request: pytest.FixtureRequest, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, index = request.getfixturevalue(kind), f"served-{secrets.token_hex(4)}"
    for name, value in {"ENGINE": address, "INDEX": index, "GATEWAY_PATHS": "all", "GATEWAY_INDEXES": "*"}.items():
        monkeypatch.setenv(f"IBIDEM_{name}", value)

    def await_signed(path: str) -> None:
        for _ in range(600):
            if "ibidem" in httpx2.get(f"{url}{path}", timeout=60).json().get("_source", {}):
                return
            time.sleep(0.1)
        raise TimeoutError(f"{path} was not signed")

    try:
        with served("--follow") as (process, url):
            for _ in range(2):
                httpx2.put(
                    f"{url}/{index}/_doc/a", json={"text": "The tenant pays the rent."}, timeout=60
                ).raise_for_status()
                await_signed(f"/{index}/_doc/a")
                ask(address, "PUT", f"/{index}/_doc/b", '{"text": "The tenant pays the rent."}')
                await_signed(f"/{index}/_doc/b")
                ask(address, "DELETE", f"/{index}")
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
    finally:
        remove_indices(address, index)


def test_an_address_that_is_taken_is_named(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        code, _, err = run("serve", "--port", str(listener.getsockname()[1]))
    assert code == 2
    assert "cannot listen on" in err
    assert "--port" in err


@pytest.mark.parametrize("host", ["nosuch.invalid", "203.0.113.1"])
def test_an_address_of_another_machine_is_refused(run: Run, host: str) -> None:
    assert run("serve", "--host", host)[0] == 2
