"""A disk in trouble refuses, or delays, what a process writes to files, and nothing once it has passed."""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from nodes.disk import SOURCE, Disk
from servers.process import Launch

pytestmark = pytest.mark.slow

SYNCS = 3
SYNC_S = 0.3  # which `disk.c` adds to each

WRITERS = {
    "write": "os.write(file, b'text')",
    "pwrite": "os.pwrite(file, b'text', 0)",
    "writev": "os.writev(file, [b'te', b'xt'])",
}


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    """A disk that is well."""
    return Disk(tmp_path)


def run(disk: Disk, folder: Path, *statements: str) -> "subprocess.CompletedProcess[str]":
    """Run statements over an open file of a process that has the disk."""
    launch = disk.attach(Launch("", command(folder, statements), lambda: True))
    return subprocess.run(
        launch.command, env=dict(launch.environment), capture_output=True, text=True, timeout=60, check=False
    )


def command(folder: Path, statements: Sequence[str]) -> list[str]:
    opened = f"import os; file = os.open({str(folder / 'written')!r}, os.O_CREAT | os.O_WRONLY)"
    return [sys.executable, "-c", "\n".join([opened, *statements])]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_refuses_every_kind_of_write_and_says_why(disk: Disk, tmp_path: Path, writer: str) -> None:
    disk.begin("full")
    process = run(disk, tmp_path, WRITERS[writer])
    assert "[Errno 28] No space left on device" in process.stderr
    assert (tmp_path / "written").read_bytes() == b""
    assert disk.is_felt


def test_a_full_disk_takes_nothing_from_what_is_no_file(disk: Disk, tmp_path: Path) -> None:
    disk.begin("full")
    process = run(disk, tmp_path, "there, back = os.pipe(); os.write(back, b'text'); print(os.read(there, 4))")
    assert (process.stdout, disk.is_felt) == ("b'text'\n", False)


def test_a_slow_disk_delays_each_write_that_must_last_and_loses_none(disk: Disk, tmp_path: Path) -> None:
    disk.begin("slow")
    began = time.monotonic()
    process = run(disk, tmp_path, *(["os.write(file, b'text'); os.fsync(file)"] * SYNCS))
    assert time.monotonic() - began >= SYNCS * SYNC_S  # a busy machine only adds to it
    assert (process.returncode, (tmp_path / "written").read_bytes()) == (0, b"text" * SYNCS)
    assert disk.is_felt


def test_a_disk_that_is_well_again_takes_all(disk: Disk, tmp_path: Path) -> None:
    disk.begin("full")
    run(disk, tmp_path, WRITERS["write"])
    disk.end()
    process = run(disk, tmp_path, WRITERS["write"])
    assert (process.returncode, (tmp_path / "written").read_bytes(), disk.is_felt) == (0, b"text", False)


def test_the_delay_is_the_one_that_is_expected_here() -> None:
    assert f"SYNC_MICROSECONDS = {SYNC_S * 1_000_000:.0f}" in SOURCE.read_text()
