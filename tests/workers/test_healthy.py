"""The image's health check says whether the command that a container runs is well."""

import runpy
from pathlib import Path

import pytest

HEALTHY = runpy.run_path(str(Path(__file__).parents[2] / "workers" / "healthy.py"))["main"]
WORKER = b"python\0-c\0import ibidem_workers.worker\0"


def processes(folder: Path, *commands: bytes) -> Path:
    for number, command in enumerate(commands, 1):
        (folder / str(number)).mkdir()
        (folder / str(number) / "cmdline").write_bytes(command)
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
