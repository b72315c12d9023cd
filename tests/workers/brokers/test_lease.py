"""Leases: a sign of life that ends with the process, however that ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from ibidem_workers.brokers import lease
from ibidem_workers.brokers.lease import Lease

HOLD = """
import sys, time
from pathlib import Path
from ibidem_workers.brokers.lease import Lease
print(Lease(Path(sys.argv[1]), 60).name, flush=True)
time.sleep(60)
"""


def test_a_lease_holds_until_it_is_ended(tmp_path: Path) -> None:
    held = Lease(tmp_path, 60)
    assert not lease.lapsed(tmp_path, held.name, 60)
    assert lease.count_living(tmp_path, 60) == 1
    held.end()
    assert lease.lapsed(tmp_path, held.name, 60)
    assert lease.count_living(tmp_path, 60) == 0


def test_a_lease_lapses_at_once_when_its_process_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        assert not lease.lapsed(tmp_path, name, 60)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert lease.lapsed(tmp_path, name, 60)


def test_a_lease_of_another_machine_lapses_by_the_clock(tmp_path: Path) -> None:
    name = "elsewhere~12~abc"
    (tmp_path / name).touch()
    assert not lease.lapsed(tmp_path, name, 60)
    long_ago = time.time() - 61
    os.utime(tmp_path / name, (long_ago, long_ago))
    assert lease.lapsed(tmp_path, name, 60)


def test_a_holder_that_hangs_loses_its_lease(tmp_path: Path) -> None:
    held = Lease(tmp_path, 60)
    long_ago = time.time() - 61
    os.utime(tmp_path / held.name, (long_ago, long_ago))
    assert lease.lapsed(tmp_path, held.name, 60)
    held.end()


def test_a_living_lease_is_renewed(tmp_path: Path) -> None:
    held = Lease(tmp_path, 0.06)
    os.utime(tmp_path / held.name, (0, 0))
    until = time.monotonic() + 10
    while lease.lapsed(tmp_path, held.name, 60) and time.monotonic() < until:
        time.sleep(0.01)
    assert not lease.lapsed(tmp_path, held.name, 60)
    held.end()


def test_signs_of_life_that_were_left_behind_are_removed(tmp_path: Path) -> None:
    (tmp_path / f"{lease.HOST}~1~abc").touch()
    held = Lease(tmp_path, 60)
    lease.clear(tmp_path, 60)
    assert [path.name for path in tmp_path.iterdir()] == [held.name]
    held.end()
