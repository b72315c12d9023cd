"""Python packages that a test runs apart, since they want other releases of what is installed here."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from servers.jars import cache, made
from servers.missing import Missing

SECONDS = 550


def interpreter(name: str, requirements: Sequence[str], base: Path = Path(sys.executable)) -> Path:
    """Return the interpreter of an environment with these packages, made once by a Python."""
    folder = cache() / name
    python = folder / "venv" / "bin" / "python"
    made(folder, lambda: install(python, requirements, base))
    return python


def newest() -> Path:
    """Return the newest Python on the path, or among pyenv's, that starts."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    names = [f"python3.{minor}" for minor in range(14, 11, -1)]
    found = [shutil.which(name) for name in names] + [
        str(each) for name in names for each in pyenv.glob(f"versions/{name.removeprefix('python')}.*/bin/python")
    ]
    for each in filter(None, found):
        if subprocess.run([each, "-c", "import venv"], capture_output=True, check=False).returncode == 0:
            return Path(each)
    raise Missing("there is no Python of 3.12 or later")


def install(python: Path, requirements: Sequence[str], base: Path) -> None:
    """Make the environment, and let pip fill it."""
    for command in (
        [base, "-m", "venv", "--clear", python.parents[1]],
        [python, "-m", "pip", "install", "--quiet", *requirements],
    ):
        try:
            process = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired as error:
            raise Missing(f"pip did not install {', '.join(requirements)} within {SECONDS} s") from error
        if process.returncode:
            raise Missing(f"pip could not install {', '.join(requirements)}: {process.stderr.strip()[-500:]}")
