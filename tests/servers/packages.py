"""Python packages that a test runs apart, since they want other releases of what is installed here."""

import fcntl
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from servers.jars import cache
from servers.missing import Missing

SECONDS = 550


def interpreter(name: str, requirements: Sequence[str]) -> Path:
    """Return the interpreter of an environment with these packages, made once."""
    folder = cache() / name
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / "venv" / "bin" / "python"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            install(python, requirements)
            (folder / "complete").touch()
    return python


def install(python: Path, requirements: Sequence[str]) -> None:
    """Make the environment, and let pip fill it."""
    for command in (
        [sys.executable, "-m", "venv", "--clear", python.parents[1]],
        [python, "-m", "pip", "install", "--quiet", *requirements],
    ):
        try:
            process = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired as error:
            raise Missing(f"pip did not install {', '.join(requirements)} within {SECONDS} s") from error
        if process.returncode:
            raise Missing(f"pip could not install {', '.join(requirements)}: {process.stderr.strip()[-500:]}")
