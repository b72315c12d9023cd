"""What pytest is told about servers: fixtures with their addresses, and the line that says what could not run.

A test that needs servers carries `@pytest.mark.server("opensearch", …)`; the names let all of them start side by side
when the first is asked for. Where one cannot start, its tests are listed as not run with the reason, and under
`CI=true` they fail.
"""

import os

import pytest

from servers.missing import Missing
from servers.session import Servers

SERVERS = pytest.StashKey[Servers]()


def pytest_collection_finish(session: pytest.Session) -> None:
    wanted = {name for item in session.items for mark in item.iter_markers("server") for name in mark.args}
    session.config.stash[SERVERS] = Servers(wanted)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if servers := session.config.stash.get(SERVERS, None):
        servers.stop()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    servers = config.stash.get(SERVERS, None)
    for name, why in sorted(servers.missing.items()) if servers else ():
        terminalreporter.write_line(f"not run: the tests that need {name}: {why}", yellow=True)


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
