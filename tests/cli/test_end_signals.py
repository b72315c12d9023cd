"""Ctrl-C and SIGTERM are waited for, so that a command ends once the work in hand is done."""

import os
import signal

import pytest

from ibidem.cli.end_signals import catch_end_signals

SIGNALS = (signal.SIGINT, signal.SIGTERM)


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
