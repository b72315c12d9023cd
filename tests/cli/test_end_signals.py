"""A request to end is noticed in whichever moment it comes."""

import subprocess
import sys

import pytest

HOT = """
import os, signal, threading, time
from ibidem.cli.end_signals import catch_end_signals

def ask_often():
    for _ in range(1_000):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.0003)  # so that each is answered by itself

asked_often = threading.Thread(target=ask_often, daemon=True)
with catch_end_signals() as asked:
    asked_often.start()
    while asked_often.is_alive():
        asked(0)
    print(asked(10))
"""


@pytest.mark.slow
def test_a_signal_that_comes_in_the_very_moment_of_waiting_is_not_lost() -> None:
    process = subprocess.run([sys.executable, "-c", HOT], capture_output=True, text=True, timeout=60, check=True)
    assert process.stdout == "True\n"
