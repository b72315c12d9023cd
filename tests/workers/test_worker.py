"""One worker process: what it says when it cannot work."""

import os
import subprocess
import sys

import pytest

from faults.environment import wait_for
from faults.kill import kill, living
from ibidem_core.settings import Settings
from ibidem_workers.brokers.lease import this_process
from ibidem_workers.pool import STOPPED


def run(environment: dict[str, str], *parent: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ibidem_workers.worker", *parent]
    return subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.slow
def test_a_wrong_setting_ends_it_with_a_message(settings: Settings) -> None:
    process = run(settings.as_environment() | {"IBIDEM_LEASE": "soon"}, this_process())
    assert process.returncode == STOPPED
    assert "IBIDEM_LEASE" in process.stderr
    assert "Traceback" not in process.stderr


STARTS = """
import os, sys
from ibidem_workers.pool import Pool
from ibidem_core.settings import load
with Pool(load()) as pool:
    while sys.argv[1] != "starting" and len(pool.pids) < pool.settings.workers:
        pool.check()
    print(pool._starter.pid, *pool.pids, flush=True)
    while sys.argv[1] == "ready" and not pool.is_ready:
        pool.check()
    print("now", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.parametrize("when", ["starting", "forked", "ready"])
def test_workers_end_when_what_started_them_is_killed_also_while_they_start(settings: Settings, when: str) -> None:
    environment = os.environ | settings.as_environment()
    command = [sys.executable, "-c", STARTS, when]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as starter:
        assert starter.stdout is not None
        workers = [int(each) for each in starter.stdout.readline().split()]
        assert starter.stdout.readline() == "now\n"
        starter.kill()
    assert len(workers) == (1 if when == "starting" else 1 + settings.workers)
    try:
        assert wait_for(lambda: not any(map(living, workers)), 60)
    finally:
        assert not any(map(kill, filter(living, workers)))


@pytest.mark.slow
def test_a_worker_that_nobody_names_itself_to_does_not_start(settings: Settings) -> None:
    for parent in ([], [""], ["elsewhere~1~2"], [f"{this_process()}9"]):
        process = run(settings.as_environment(), *parent)
        assert process.returncode == STOPPED
        assert "ibidem worker" in process.stderr
