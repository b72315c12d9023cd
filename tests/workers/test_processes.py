"""The name of a process shows which one it is, and whether it still runs."""

import os
import signal
import subprocess
import sys

import pytest

from ibidem_workers.executors import has_exited, host_name, is_stopped, this_process

TELLS = "from ibidem_workers.executors import this_process; print(this_process(), flush=True); input()"


@pytest.mark.slow
def test_a_process_is_there_until_it_is_killed_also_before_anybody_has_taken_note_of_its_end() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", TELLS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first_lease:
        assert first_lease.stdout is not None
        name = first_lease.stdout.readline().strip()
        assert not has_exited(name)
        first_lease.kill()
        os.waitid(os.P_PID, first_lease.pid, os.WEXITED | os.WNOWAIT)
        assert has_exited(name)
    assert has_exited(name)


def test_another_process_that_was_given_the_same_number_is_another() -> None:
    machine, number, began = this_process().split("~")
    assert not has_exited(f"{machine}~{number}~{began}")
    assert has_exited(f"{machine}~{number}~1{began}")


def test_of_another_machine_nobody_can_tell() -> None:
    elsewhere = "elsewhere/pid:[1]~999999~7/x"
    assert not has_exited(elsewhere)
    assert host_name(elsewhere) == "elsewhere"


def test_a_name_that_is_none_says_nothing() -> None:
    assert not any(map(has_exited, ("", "~", "a~b~c", this_process().partition("~")[0])))
    assert host_name("") == ""


@pytest.mark.slow
def test_a_process_that_the_system_has_stopped_is_told_from_one_that_runs() -> None:
    with subprocess.Popen([sys.executable, "-c", TELLS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert not is_stopped(process.pid)
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        assert is_stopped(process.pid)
        process.kill()
    assert not is_stopped(process.pid)
