"""A limit in time: what takes longer ends its process."""

import subprocess
import sys
import time

import pytest

from ibidem_workers.tasks import time_limit

TOO_LONG = "import time; from ibidem_workers.tasks import time_limit\nwith time_limit(0.2):\n    time.sleep(60)"


@pytest.mark.slow
def test_what_takes_too_long_ends_its_process_and_says_where_it_was() -> None:
    process = subprocess.run([sys.executable, "-c", TOO_LONG], capture_output=True, text=True, timeout=60, check=False)
    assert process.returncode == 1
    assert "Timeout" in process.stderr
    assert "line 3" in process.stderr


def test_what_is_done_in_time_is_left_alone() -> None:
    with time_limit(0.2):
        pass
    time.sleep(0.3)
