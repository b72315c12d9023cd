"""Ctrl-C and SIGTERM are waited for, so that a command ends once the work in hand is done."""

import os
import signal
import subprocess
import sys

import pytest

from ibidem.cli.backfill import catch_end_signals

SIGNALS = (signal.SIGINT, signal.SIGTERM)

HOT = """
import os, signal, threading, time
from ibidem.cli.backfill import catch_end_signals

def send_often():
    for _ in range(1_000):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.0003)  # so that each is handled by itself

sender = threading.Thread(target=send_often, daemon=True)
with catch_end_signals() as wait:
    sender.start()
    while sender.is_alive():
        wait(0)
    print(wait(10))
"""


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_waiting_and_no_other_work(number: signal.Signals) -> None:
    with catch_end_signals() as wait:
        assert not wait(0.0)
        os.kill(os.getpid(), number)
        assert wait(10.0)


def test_the_handlers_from_before_are_put_back() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with catch_end_signals():
        assert [signal.getsignal(number) for number in SIGNALS] != before
    assert [signal.getsignal(number) for number in SIGNALS] == before


@pytest.mark.slow
def test_a_signal_that_comes_in_the_very_moment_of_waiting_is_not_lost() -> None:
    process = subprocess.run([sys.executable, "-c", HOT], capture_output=True, text=True, timeout=60, check=True)
    assert process.stdout == "True\n"
