"""Programs of the documentation, run in a folder of their own."""

import subprocess
from pathlib import Path

SECONDS = 200


def run_program(folder: Path, *command: str | Path) -> str:
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert process.returncode == 0, process.stderr[-3_000:]
    return process.stdout
