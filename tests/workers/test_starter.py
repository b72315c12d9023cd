"""The process that forks workers: what it says of them, and how they end with it."""

import subprocess
import sys
from pathlib import Path

import pytest

from faults.environment import wait_for
from faults.kill import living
from ibidem_workers.brokers.lease import this_process

FORKS = """
import sys, time
from ibidem_workers.starter import fork_workers, report

number = fork_workers(sys.argv[1])
if number is not None:
    report("ready", number)
    print("an error", number, file=sys.stderr, flush=True)
    if number < 9:
        sys.exit(number)
    time.sleep(600)
"""


def start(supervisor: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", FORKS, supervisor]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1
    )


@pytest.mark.slow
def test_each_worker_is_told_of_by_its_number_until_it_has_ended(tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    errors.touch()
    with start(this_process()) as starter:
        assert starter.stdin is not None
        assert starter.stdout is not None
        starter.stdin.write(f"3 \n5 {errors}\n")
        events = [starter.stdout.readline().split() for _ in range(6)]
        starter.stdin.close()
    assert sorted(event[:2] for event in events if event[0] != "ended") == [
        ["pid", "3"],
        ["pid", "5"],
        ["ready", "3"],
        ["ready", "5"],
    ]
    assert sorted(event for event in events if event[0] == "ended") == [["ended", "3", "3"], ["ended", "5", "5"]]
    assert errors.read_text() == "an error 5\n"


@pytest.mark.slow
def test_workers_end_when_the_input_of_their_starter_does() -> None:
    with start(this_process()) as starter:
        assert starter.stdin is not None
        assert starter.stdout is not None
        starter.stdin.write("9 \n")
        (_, _, pid_text), ready = sorted(starter.stdout.readline().split() for _ in range(2))
        pid = int(pid_text)
        assert ready == ["ready", "9"]
        assert living(pid)
        starter.stdin.close()
    assert starter.returncode == 0
    assert not living(pid)


@pytest.mark.slow
def test_a_starter_ends_when_its_supervisor_is_gone_though_its_input_stays_open() -> None:
    with subprocess.Popen(["sleep", "0"]) as gone:
        gone.wait()
    with start(f"{this_process().rpartition('~')[0].rpartition('~')[0]}~{gone.pid}~") as starter:
        assert wait_for(lambda: starter.poll() is not None, 60)
    assert starter.returncode == 0
