"""What pytest is told about servers: fixtures with their addresses, and the line that says what could not run.

A test that needs servers carries `@pytest.mark.server("opensearch", …)`; the names let all of them start side by side
when the first is asked for. Where one cannot start, its tests are listed as not run with the reason, and under
`CI=true` they fail.
"""

import os
from typing import Any

import pytest

from servers.leftovers import Leftovers
from servers.missing import Missing
from servers.session import Servers

SERVERS = pytest.StashKey[Servers]()
LEFTOVERS = pytest.StashKey[Leftovers]()
LEFT = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LEFT] = []
    if not config.pluginmanager.hasplugin("dsession"):  # where other processes run the tests, each looks after its own
        config.stash[LEFTOVERS] = Leftovers()


def pytest_runtest_teardown(item: pytest.Item) -> None:
    if leftovers := item.config.stash.get(LEFTOVERS, None):
        leftovers.look(item.nodeid)


def pytest_collection_finish(session: pytest.Session) -> None:
    wanted = {name for item in session.items for mark in item.iter_markers("server") for name in mark.args}
    session.config.stash[SERVERS] = Servers(wanted)


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if servers := config.stash.get(SERVERS, None):
        servers.stop()
    if leftovers := config.stash.get(LEFTOVERS, None):
        config.stash[LEFT] += leftovers.end()
    if hasattr(config, "workeroutput"):
        config.workeroutput["left"] = config.stash[LEFT]
    elif config.stash[LEFT]:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a process that ran tests has found."""
    node.config.stash[LEFT] += getattr(node, "workeroutput", {}).get("left", [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    servers = config.stash.get(SERVERS, None)
    for name, why in sorted(servers.missing.items()) if servers else ():
        terminalreporter.write_line(f"not run: the tests that need {name}: {why}", yellow=True)
    for each in config.stash[LEFT]:
        terminalreporter.write_line(f"FAILED {each}", red=True)


def address(request: pytest.FixtureRequest, name: str) -> str:
    """Return a server's address; without one the test is not run, and fails where CI promises the servers."""
    try:
        return request.config.stash[SERVERS].url(name)
    except Missing as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{name} cannot be started: {missing}", pytrace=False)
        pytest.skip(f"{name} cannot be started: {missing}")


@pytest.fixture(scope="session")
def opensearch(request: pytest.FixtureRequest) -> str:
    """`opensearch+http://…` of a server that answers."""
    return address(request, "opensearch")


@pytest.fixture(scope="session")
def elasticsearch(request: pytest.FixtureRequest) -> str:
    """`elasticsearch+http://…` of a server that answers."""
    return address(request, "elasticsearch")


@pytest.fixture(scope="session")
def rabbitmq(request: pytest.FixtureRequest) -> str:
    """`amqp://…` of a broker that answers."""
    return address(request, "rabbitmq")


@pytest.fixture(scope="session")
def redis(request: pytest.FixtureRequest) -> str:
    """`redis://…` of a broker that answers."""
    return address(request, "redis")
