"""A run of which a process is left has failed, and says which test left it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faults.kill import living

TESTS = Path(__file__).parents[1]
LEAVES = {
    "a child": "subprocess.Popen(['sleep', '600'])",
    "an orphan in a session of its own": "subprocess.run(['sh', '-c', 'setsid sleep 600 &'], env={})",
}
ENDS = "subprocess.Popen(['sleep', '0.1'])"


def run(folder: Path, does: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(
        f"import subprocess\n\ndef test_good():\n    pass\n\ndef test_it():\n    {does}\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "servers.plugin", *options, "test_it.py"]
    environment = os.environ | {"PYTHONPATH": str(TESTS), "PYTEST_ADDOPTS": ""}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("does", LEAVES.values(), ids=LEAVES)
@pytest.mark.parametrize("options", [(), ("--numprocesses=1",)], ids=["alone", "spread"])
def test_a_run_of_which_a_process_is_left_has_failed(tmp_path: Path, does: str, options: tuple[str, ...]) -> None:
    process = run(tmp_path, does, *options)
    assert process.returncode == 1, process.stdout + process.stderr
    (line,) = [each for each in process.stdout.splitlines() if " left process " in each]
    assert line.endswith("sleep 600")
    assert "test_it.py::test_it" in line
    assert not living(int(line.partition(" left process ")[2].partition(":")[0]))


@pytest.mark.slow
def test_a_run_that_leaves_nothing_is_as_its_tests_are(tmp_path: Path) -> None:
    process = run(tmp_path, ENDS, "-W", "ignore")
    assert process.returncode == 0, process.stdout + process.stderr
