"""The order of tests: what takes longest comes first."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.mark.slow
def test_files_whose_tests_ask_for_more_time_come_first(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def test_a():\n    pass\n")
    for name, seconds in (("b", 600), ("c", 900)):
        source = f"@pytest.mark.timeout({seconds})\ndef test_{name}():\n    pass\n"
        (tmp_path / f"test_{name}.py").write_text(f"import pytest\n\ndef test_short():\n    pass\n\n{source}")
    environment = os.environ | {"PYTHONPATH": str(TESTS), "PYTEST_ADDOPTS": ""}
    command = [sys.executable, "-m", "pytest", "-p", "servers.plugin", "--collect-only", "-q"]
    process = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    names = [line.partition("::")[0] for line in process.stdout.splitlines() if "::" in line]
    assert names == ["test_c.py", "test_c.py", "test_b.py", "test_b.py", "test_a.py"]
