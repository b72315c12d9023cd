"""A server that the tests start is theirs alone, and ends with them."""

import shlex
from pathlib import Path

import pytest

from servers.process import Launch, Process


def prepare(folder: Path) -> Launch:
    """A server that only sleeps, and answers once it has written its process id."""
    pid = folder / "pid"
    write = f"echo $$ > {shlex.quote(str(pid))}; exec sleep 600"
    return Launch("sleeper://", ["sh", "-c", write], lambda: pid.exists() and bool(pid.read_text()))


def running(pid: str) -> bool:
    """Return whether a process still runs."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.slow
def test_a_stopped_server_is_gone_with_its_folder() -> None:
    process = Process("sleeper", prepare)
    assert process.wait() == "sleeper://"
    pid = (process.folder / "pid").read_text().strip()
    assert running(pid)
    process.stop()
    assert not running(pid)
    assert not process.folder.exists()


@pytest.mark.slow
def test_a_killed_server_starts_again_on_what_it_had_written() -> None:
    process = Process("sleeper", prepare)
    process.wait()
    file = process.folder / "written"
    file.touch()
    first = (process.folder / "pid").read_text().strip()
    process.kill()
    assert not running(first)
    assert process.start_again() == "sleeper://"
    assert file.exists()
    process.stop()
    assert not process.folder.exists()
