"""A page's commands in one shell, one after the other, each block with what it printed."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from servers.command_line import surroundings
from snippets.page import Block

SECONDS = 280
MARK = "@@@ block @@@"
# What is another each time: the day, durations, and sizes of files.
SLOW = re.compile(
    r"\b20(?:2[5-9]|[3-9]\d)-\d\d-\d\d(?:T[\d:]+Z)?\b|\b\d+(?:\.\d+)? (?:s|ms)\b|\b\d:\d\d:\d\d\b|"
    r"[\d.]+ [kM]?B\b|\d[\d,]* bytes\b"
)


def run(blocks: Sequence[Block], folder: Path, environment: Mapping[str, str]) -> list[str]:
    """Run the `sh` blocks of a page in a folder with its files, up to one that fails; returns what each printed."""
    script = ["set -euo pipefail"]
    for block in blocks:
        if block.language == "file":
            path = folder / block.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.body, encoding="utf-8")
        elif block.language == "sh":
            script += [block.body, f"echo '{MARK}'"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    settings = {"PATH": path, "NO_COLOR": "1", "COLUMNS": "110", "IBIDEM_CONCURRENCY": "1", **environment}
    with subprocess.Popen(
        ["bash", "-c", "\n".join(script)],
        cwd=folder,
        env=surroundings(settings),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as shell:
        try:
            out, _ = shell.communicate("y\n" * 9, timeout=SECONDS)
        finally:
            with suppress(ProcessLookupError):  # what was started in the background
                os.killpg(shell.pid, signal.SIGKILL)
    assert shell.returncode == 0, out
    return out.split(f"{MARK}\n")[:-1]


def steady(text: str) -> list[str]:
    """Write the lines of an output so that two runs are the same."""
    return [SLOW.sub("…", line).rstrip() for line in text.splitlines() if line.strip()]
