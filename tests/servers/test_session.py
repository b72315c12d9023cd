"""Servers are found by address first, started at most once, and their absence is never passed over in silence."""

import subprocess
import sys
from pathlib import Path

import pytest

from servers import session
from servers.missing import Missing
from servers.process import Launch
from servers.session import Servers


def sleeping(folder: Path) -> Launch:
    return Launch("started://", ["sleep", "600"], folder.exists)


def missing(_: Path) -> Launch:
    raise Missing("no such program")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which nothing is named by the environment, one server starts and one does not."""
    for name in session.PREPARE:
        monkeypatch.delenv(session.variable(name), raising=False)
    monkeypatch.setitem(session.PREPARE, "redis", sleeping)
    monkeypatch.setitem(session.PREPARE, "rabbitmq", missing)


@pytest.mark.slow
def test_a_server_is_started_once_and_ends_with_the_session() -> None:
    servers = Servers(["redis"])
    assert servers.url("redis") == servers.url("redis") == "started://"
    (process,) = servers.processes
    servers.stop()
    assert process.keeper.returncode is not None


WANTING = """
import pytest
from faults.environment import Own
from servers.plugin import redis

@pytest.fixture
def own():
    with Own() as own:
        yield own

@pytest.mark.server("redis")
def test_of_the_session(redis):
    pass

def test_of_its_own(own):
    own.server("redis")

def test_of_none():
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize(("ci", "options"), [("true", ()), ("", ("--numprocesses=1",))], ids=["ci", "elsewhere"])
def test_a_test_without_its_server_is_not_run_and_named_at_the_end_and_fails_where_ci_promises_it(
    tmp_path: Path, ci: str, options: tuple[str, ...]
) -> None:
    (tmp_path / "test_it.py").write_text(WANTING)
    environment = {"PATH": "/nowhere", "CI": ci, "PYTHONPATH": str(Path(__file__).parents[1]), "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-p", "servers.plugin", *options, "test_it.py"]
    process = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert process.returncode == bool(ci), process.stdout + process.stderr
    assert ("1 failed, 1 passed" if ci else "1 passed, 2 skipped") in process.stdout
    assert "redis-server is not on the path" in process.stdout
    assert ci or "not run: 1 test: redis cannot be started: redis-server is not on the path" in process.stdout
