"""Servers are found by address first, started at most once, and their absence is never passed over in silence."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from servers import session
from servers.missing import Missing
from servers.plugin import SERVERS, address
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


def test_a_server_in_the_environment_is_taken_and_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IBIDEM_TEST_REDIS", "redis://elsewhere")
    servers = Servers(["redis"])
    assert servers.url("redis") == "redis://elsewhere"
    assert not servers.processes


def test_a_server_is_started_once_and_ends_with_the_session() -> None:
    servers = Servers(["redis"])
    assert servers.url("redis") == servers.url("redis") == "started://"
    (process,) = servers.processes
    servers.stop()
    assert process.keeper.returncode is not None


def test_all_that_are_wanted_start_together_and_one_that_cannot_harms_no_other() -> None:
    servers = Servers(["redis", "rabbitmq"])
    with pytest.raises(Missing):
        servers.url("rabbitmq")
    assert servers.url("redis") == "started://"
    assert servers.missing == {"rabbitmq": "no such program"}
    servers.stop()


def test_a_command_is_run_with_the_addresses_and_its_end_is_told() -> None:
    environment = {"IBIDEM_TEST_REDIS": "redis://elsewhere", "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "servers", "redis", "--", "/bin/sh", "-c", "echo $IBIDEM_TEST_REDIS; exit 3"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.returncode) == ("redis://elsewhere\n", 3)


def test_a_server_that_cannot_be_started_for_a_command_is_named_at_its_end() -> None:
    environment = {"PATH": "/nowhere", "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "servers", "redis", "--", "/bin/sh", "-c", "echo begun"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.returncode) == ("begun\n", 0)
    assert ended.stderr.startswith("not run: what needs redis: ")


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_a_test_without_its_server_is_not_run_and_fails_where_ci_promises_it(
    monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setenv("CI", ci)
    request = SimpleNamespace(config=SimpleNamespace(stash={SERVERS: Servers(["rabbitmq"])}))
    with pytest.raises(outcome, match="rabbitmq cannot be started: no such program"):
        address(request, "rabbitmq")  # type: ignore[arg-type]
