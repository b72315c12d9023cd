"""One worker process: what it says when it cannot work."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from faults.environment import wait_for
from faults.kill import children, kill, living
from ibidem.cli.worker import run as command
from ibidem_core.settings import Settings
from ibidem_ingest.errors import UsageError
from ibidem_workers.executors import FATAL_EXIT
from ibidem_workers.worker import main


def test_without_a_queue_the_command_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IBIDEM_BROKER", raising=False)
    with pytest.raises(UsageError, match="IBIDEM_BROKER is not set"):
        command()


@pytest.mark.slow
def test_a_wrong_setting_ends_it_with_a_message(settings: Settings) -> None:
    command = [sys.executable, "-m", "ibidem_workers.worker", str(os.getpid())]
    environment = os.environ | settings.as_environment() | {"IBIDEM_LEASE": "soon"}
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert process.returncode == FATAL_EXIT
    assert "IBIDEM_LEASE" in process.stderr
    assert "Traceback" not in process.stderr


STARTS = """
import sys
from ibidem_core.settings import load
from ibidem_workers.executors import Supervisor
with Supervisor(load()) as worker:
    print(worker.process.pid, flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.server("redis")
@pytest.mark.parametrize("is_starting", [True, False])
def test_workers_end_when_what_started_them_is_killed_also_while_they_start(
    settings: Settings, redis: str, is_starting: bool
) -> None:
    environment = os.environ | settings.changed(broker=redis).as_environment()
    with subprocess.Popen(
        [sys.executable, "-c", STARTS], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as starter:
        assert starter.stdout is not None
        worker = int(starter.stdout.readline())
        workers = [worker]
        assert is_starting or wait_for(lambda: len(children(worker)) == settings.workers, 60)
        workers += children(worker)
        starter.kill()
    try:
        assert wait_for(lambda: not any(map(living, workers)), 60)
    finally:
        assert not any(map(kill, filter(living, workers)))


@pytest.mark.parametrize("parent", ["", "somebody", f"{os.getppid()}9"], ids=["none", "no process", "ended"])
def test_a_worker_that_nobody_names_itself_to_does_not_start(capsys: pytest.CaptureFixture[str], parent: str) -> None:
    assert main(parent) == FATAL_EXIT
    assert "ibidem worker" in capsys.readouterr().err


HEALTHY = runpy.run_path(str(Path(__file__).parents[2] / "workers" / "healthy.py"))["main"]
WORKER = b"python\0-c\0import ibidem_workers.worker\0"


def processes(folder: Path, *commands: bytes) -> Path:
    for number, each in enumerate(commands, 1):
        (folder / str(number)).mkdir()
        (folder / str(number) / "cmdline").write_bytes(each)
    return folder


@pytest.mark.parametrize(
    ("commands", "code"),
    [
        ((b"python\0/usr/local/bin/ibidem\0worker\0", WORKER), 0),
        ((b"python\0/usr/local/bin/ibidem\0worker\0", b"[celeryd: news-1@host:MainProcess] -active-"), 0),
        ((b"python\0/usr/local/bin/ibidem\0worker\0",), 1),
        ((b"python\0/usr/local/bin/ibidem\0backfill\0--follow\0",), 0),
    ],
)
def test_a_worker_is_well_as_long_as_its_processes_are_there(
    tmp_path: Path, commands: tuple[bytes, ...], code: int
) -> None:
    assert HEALTHY(processes(tmp_path, *commands)) == code
