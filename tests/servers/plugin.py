"""Pytest plugin for servers: fixtures with their addresses, and tests that cannot run, which fail under `CI=true`."""

import gc
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Generator
from typing import Any

import pytest

from servers.leftovers import Leftovers
from servers.missing import Missing
from servers.session import Servers
from servers.tiers import mark_tiers

SERVERS = pytest.StashKey[Servers]()
LEFTOVERS = pytest.StashKey[Leftovers]()
LEFT = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # all that is collected stays: to look for garbage among it takes an eighth of the time
    config.stash[LEFT] = []
    heed_interrupts()
    if not config.pluginmanager.hasplugin("dsession"):  # where other processes run the tests, each looks after its own
        config.stash[LEFTOVERS] = Leftovers()


def heed_interrupts() -> None:
    """Heed SIGINT as in the foreground: a shell has the commands that it runs in the background ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_teardown(item: pytest.Item) -> None:
    if leftovers := item.config.stash.get(LEFTOVERS, None):
        leftovers.look(item.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the later tiers, and put the slowest files first, so that no process is left with them at the end."""
    mark_tiers(items)
    seconds: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("timeout")
        second_tier = bool(item.get_closest_marker("thorough"))
        seconds[_file(item)] = max(seconds[_file(item)], mark.args[0] if mark else second_tier)
    items.sort(key=lambda item: -seconds[_file(item)])


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def pytest_collection_finish(session: pytest.Session) -> None:
    names = {name for item in session.items for mark in item.iter_markers("server") for name in mark.args}
    session.config.stash[SERVERS] = Servers(names)
    gc.enable()
    gc.freeze()  # thousands of tests and all modules stay to the end: no collection need look at them again


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
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Hand out files, and what shares a cluster as one."""
    if config.getvalue("dist") != "loadfile":
        return None
    from servers.schedule import Schedule  # noqa: PLC0415 - where xdist is not, nobody asks

    return Schedule(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a process that ran tests has found."""
    node.config.stash[LEFT] += getattr(node, "workeroutput", {}).get("left", [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for why, count in Counter(map(_reason, terminalreporter.stats.get("skipped", ()))).most_common():
        terminalreporter.write_line(f"not run: {count} {'test' if count == 1 else 'tests'}: {why}", yellow=True)
    for each in config.stash[LEFT]:
        terminalreporter.write_line(f"FAILED {each}", red=True)


def _reason(report: pytest.TestReport) -> str:
    """Return why a test was not run."""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    return (yield from _without_what_is_missing())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    return (yield from _without_what_is_missing())


def _without_what_is_missing() -> Generator[None, object, object]:
    """Not run a test for which something is missing on this machine, wherever that is noticed; fail it where CI is."""
    try:
        return (yield)
    except Missing as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing), pytrace=False)
        pytest.skip(str(missing))


def server(name: str) -> Callable[[pytest.FixtureRequest], str]:
    """Return a fixture: the address of a server that answers, such as `opensearch+http://…` or `amqp://…`."""

    @pytest.fixture(scope="session", name=name)
    def running(request: pytest.FixtureRequest) -> str:
        return request.config.stash[SERVERS].url(name)

    return running


opensearch, elasticsearch, rabbitmq, redis = map(server, ("opensearch", "elasticsearch", "rabbitmq", "redis"))
