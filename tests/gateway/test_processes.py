"""A process that ends by itself is started again, later each time it ends soon."""

import itertools
import os
import signal
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.gateway import processes
from ibidem.gateway.processes import FIRST_PAUSE_S, MAX_PAUSE_S, Supervised


@given(st.integers(1, 20))
def test_each_end_that_comes_soon_makes_the_next_start_later_up_to_a_bound(ends: int) -> None:
    process = Supervised(lambda: None)
    process._began = time.monotonic()
    pauses = []
    for _ in range(ends):
        before = time.monotonic()
        process.note_end()
        pauses.append(process.due - before)
    assert pauses[0] >= FIRST_PAUSE_S
    assert all(later >= earlier - 1 for earlier, later in itertools.pairwise(pauses))
    assert pauses[-1] >= min(FIRST_PAUSE_S * 2 ** (ends - 1), MAX_PAUSE_S)


def test_a_process_that_lived_long_is_started_again_at_once() -> None:
    process = Supervised(lambda: None)
    for _ in range(5):
        process._began = time.monotonic()
        process.note_end()
    process._began = time.monotonic() - 2 * MAX_PAUSE_S
    process.note_end()
    assert process.due - time.monotonic() <= FIRST_PAUSE_S


@pytest.mark.slow
def test_a_process_that_is_slow_to_end_does_not_outlive_a_killed_supervisor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "SECONDS_TO_END", 0.1)

    ignored_reading, ignored_writing = os.pipe()

    def ignore() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.write(ignored_writing, b"1")
        while True:
            time.sleep(60)

    reading, writing = os.pipe()
    process = processes.fork(ignore, reading, writing)
    os.close(ignored_writing)
    assert os.read(ignored_reading, 1)
    os.close(ignored_reading)
    os.close(writing)  # as the system does for a supervisor that is killed
    os.close(reading)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 1
