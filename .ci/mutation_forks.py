"""Plugin of pytest that tries each change of some modules in a fork of its own, once all tests are collected.

mutmut writes all changes of a function beside it, and calls the one that the environment names. So nothing is imported
or collected twice: a change costs the tests that reach its function, the quickest first, until one fails.
"""

import json
import os
import re
import resource
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from mutmut.state import state

CHANGE = re.compile(r"^\s*(?:async )?def (x\S*?__mutmut_\d+)\(", re.MULTILINE)  # the definition of a changed function

# Variable of the environment that names the change, or asks for the functions that are reached.
NAMED = "MUTANT_UNDER_TEST"

# Seconds of the processor that a test has with a change, beside some times what it takes without.
SECONDS, FACTOR = 5, 10

PATIENCE = 300.0  # seconds after which a change that waits for something is given up


class Forks:
    """Runs the tests for each change."""

    def __init__(self, modules: Sequence[str], results: Path, jobs: int) -> None:
        self._modules, self._results, self._jobs = modules, results, jobs
        self._has_failed = False
        self._running: dict[int, tuple[str, float]] = {}
        self._outcomes: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that a test failed."""
        self._has_failed |= report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try all changes; returns that nothing else is to be run."""
        tests = self._reached(session.items)
        for name in (name for module in self._modules for name in change_names(module)):
            if asked := tests.get(name.partition("__mutmut_")[0]):
                while len(self._running) >= self._jobs:
                    self._collect()
                self._start(name, asked)
            else:
                self._outcomes[name] = "not reached"
        while self._running:
            self._collect()
        self._results.write_text(json.dumps(self._outcomes), encoding="utf-8")
        return True

    def _passes(self, test: pytest.Item) -> bool:
        self._has_failed = False
        test.config.hook.pytest_runtest_protocol(item=test, nextitem=None)
        return not self._has_failed

    def _passes_in_time(self, seconds: float, test: pytest.Item) -> bool:
        """Run a test; a process that takes too long ends."""
        limit = int(time.process_time() + SECONDS + FACTOR * seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        return self._passes(test)

    def _reached(self, tests: Sequence[pytest.Item]) -> Mapping[str, list[tuple[float, pytest.Item]]]:
        """Run the tests unchanged; returns those that reach each function with their times, the quickest first."""
        reached = defaultdict(list)
        os.environ[NAMED] = "stats"
        hits = state()._stats  # noqa: SLF001 - where mutmut notes the functions that are called
        for test in tests:
            hits.clear()
            start = time.process_time()
            if not self._passes(test):
                raise pytest.UsageError(f"{test.nodeid} fails without a change")
            for function in hits:
                reached[function].append((time.process_time() - start, test))
        return {function: sorted(each, key=lambda pair: pair[0]) for function, each in reached.items()}

    def _start(self, name: str, tests: Sequence[tuple[float, pytest.Item]]) -> None:
        number = os.fork()
        if number:
            self._running[number] = name, time.monotonic()
            return
        has_passed = False
        try:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            os.environ[NAMED] = name
            has_passed = all(self._passes_in_time(seconds, test) for seconds, test in tests)
        finally:
            os._exit(0 if has_passed else 1)

    def _collect(self) -> None:
        """Wait until a change is tried."""
        while True:
            for number, (name, start) in list(self._running.items()):
                ended, status = os.waitpid(number, os.WNOHANG)
                if ended:
                    del self._running[number]
                    self._outcomes[name] = outcome(status)
                    return
                if time.monotonic() - start > PATIENCE:
                    os.kill(number, 9)
            time.sleep(0.01)


def outcome(status: int) -> str:
    """Name the outcome of a change by the status of its process."""
    if os.WIFSIGNALED(status):
        return "timeout"
    return "killed" if os.WEXITSTATUS(status) else "survived"


def change_names(module: str) -> list[str]:
    """Name the changes of a module."""
    text = Path("src", module).read_text(encoding="utf-8")
    package = module.removesuffix(".py").replace("/", ".")
    return [f"{package}.{name}" for name in dict.fromkeys(CHANGE.findall(text))]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options for the changed modules, the file of outcomes, and the number of processes."""
    group = parser.getgroup("mutations")
    group.addoption("--changed", action="append", default=[], help="path of a changed module below src")
    group.addoption("--outcomes", type=Path, help="file of the outcomes")
    group.addoption("--at-once", type=int, default=2, help="changes that are tried at the same time")


def pytest_configure(config: pytest.Config) -> None:
    """Run the changes in place of the tests."""
    forks = Forks(config.getoption("changed"), config.getoption("outcomes"), config.getoption("at_once"))
    config.pluginmanager.register(forks, "forks of changes")
