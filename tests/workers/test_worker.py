"""One worker process: what it says when it cannot work."""

import os
import subprocess
import sys

from ibidem_workers.pool import STOPPED
from ibidem_workers.settings import Settings


def run(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ibidem_workers.worker"]
    return subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_wrong_setting_ends_it_with_a_message(settings: Settings) -> None:
    ended = run(settings.as_environment() | {"IBIDEM_LEASE": "soon"})
    assert ended.returncode == STOPPED
    assert "IBIDEM_LEASE" in ended.stderr
    assert "Traceback" not in ended.stderr
