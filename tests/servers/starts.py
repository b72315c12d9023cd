"""Processes that tests start: a test that starts one is marked `slow` or `server`, so that `make quick` starts none."""

import sys
from collections.abc import Generator
from multiprocessing import util
from threading import current_thread
from typing import Any

import pytest

EVENTS = frozenset({"subprocess.Popen", "os.fork", "os.posix_spawn", "os.system"})
MARKS = ("slow", "server")

process_names: list[str] = []  # what was started since the test began


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event in EVENTS and not current_thread().name.startswith("servers"):
        process_names.append(f"{event} {arguments}")


sys.addaudithook(_note)
_spawn = util.spawnv_passfds  # which raises no audit event


def _spawn_noted(path: Any, arguments: Any, descriptors: Any) -> int:
    process_names.append(f"multiprocessing {arguments}")
    return _spawn(path, arguments, descriptors)


util.spawnv_passfds = _spawn_noted


def pytest_runtest_logstart() -> None:
    process_names.clear()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
    count = len(process_names)
    value = yield
    if fixturedef.scope != "function":
        del process_names[count:]
    return value


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    outcome = yield
    if process_names and not any(pyfuncitem.get_closest_marker(mark) for mark in MARKS):
        pytest.fail(f"a test that starts a process is marked `slow`: {process_names[0][:300]}", pytrace=False)
    return outcome
