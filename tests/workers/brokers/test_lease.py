"""Leases: a sign of life that ends with the process, however that ends.

The name of a run's owner shows which process it is.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ibidem_workers.brokers import lease
from ibidem_workers.brokers.lease import Lease, has_exited, host_name, this_process

HOLD = """
import sys, time
from pathlib import Path
from ibidem_workers.brokers.lease import Lease
print(Lease(Path(sys.argv[1]), 60).name, flush=True)
time.sleep(60)
"""


def test_a_lease_holds_until_it_is_ended(tmp_path: Path) -> None:
    own_lease = Lease(tmp_path, 60)
    assert not lease.has_lapsed(tmp_path, own_lease.name, 60)
    assert lease.count_living(tmp_path, 60) == 1
    own_lease.end()
    assert lease.has_lapsed(tmp_path, own_lease.name, 60)
    assert lease.count_living(tmp_path, 60) == 0


@pytest.mark.slow
def test_a_lease_lapses_at_once_when_its_process_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        assert not lease.has_lapsed(tmp_path, name, 60)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert lease.has_lapsed(tmp_path, name, 60)


def test_a_lease_of_another_machine_lapses_by_the_clock(tmp_path: Path) -> None:
    name = "elsewhere~12~abc"
    (tmp_path / name).touch()
    assert not lease.has_lapsed(tmp_path, name, 60)
    long_ago = time.time() - 61
    os.utime(tmp_path / name, (long_ago, long_ago))
    assert lease.has_lapsed(tmp_path, name, 60)


def test_a_lease_of_another_machine_that_is_dated_in_the_future_has_lapsed(tmp_path: Path) -> None:
    name = "elsewhere~12~abc"
    (tmp_path / name).touch()
    for ahead, has_lapsed in ((50, False), (61, True), (10**9, True)):
        os.utime(tmp_path / name, (time.time() + ahead,) * 2)
        assert lease.has_lapsed(tmp_path, name, 60) is has_lapsed


def test_of_a_lease_of_this_machine_that_is_dated_in_the_future_the_lock_decides(tmp_path: Path) -> None:
    own_lease = Lease(tmp_path, 60)
    left_behind = tmp_path / f"{lease.HOST}~1~abc"
    left_behind.touch()
    for path in (tmp_path / own_lease.name, left_behind):
        os.utime(path, (time.time() + 10**9,) * 2)
    assert not lease.has_lapsed(tmp_path, own_lease.name, 60)
    assert lease.has_lapsed(tmp_path, left_behind.name, 60)
    own_lease.end()


def test_a_holder_that_hangs_loses_its_lease(tmp_path: Path) -> None:
    own_lease = Lease(tmp_path, 60)
    long_ago = time.time() - 61
    os.utime(tmp_path / own_lease.name, (long_ago, long_ago))
    assert lease.has_lapsed(tmp_path, own_lease.name, 60)
    own_lease.end()


def test_a_living_lease_is_renewed(tmp_path: Path) -> None:
    own_lease = Lease(tmp_path, 0.06)
    os.utime(tmp_path / own_lease.name, (0, 0))
    deadline = time.monotonic() + 10
    while lease.has_lapsed(tmp_path, own_lease.name, 60) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not lease.has_lapsed(tmp_path, own_lease.name, 60)
    own_lease.end()


def test_signs_of_life_that_were_left_behind_are_removed(tmp_path: Path) -> None:
    (tmp_path / f"{lease.HOST}~1~abc").touch()
    own_lease = Lease(tmp_path, 60)
    lease.remove_lapsed(tmp_path, 60)
    assert [path.name for path in tmp_path.iterdir()] == [own_lease.name]
    own_lease.end()


TELLS = "from ibidem_workers.brokers.lease import this_process; print(this_process(), flush=True); input()"


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
