"""Which process holds a run, told by its name alone."""

import os
import subprocess
import sys

from ibidem_workers.process_id import has_exited, host_of, this_process

TELLS = "from ibidem_workers.process_id import this_process; print(this_process(), flush=True); input()"


def test_a_process_is_there_until_it_is_killed_also_before_anybody_has_taken_note_of_its_end() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", TELLS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as one:
        assert one.stdout is not None
        name = one.stdout.readline().strip()
        assert not has_exited(name)
        one.kill()
        os.waitid(os.P_PID, one.pid, os.WEXITED | os.WNOWAIT)
        assert has_exited(name)
    assert has_exited(name)


def test_another_process_that_was_given_the_same_number_is_another() -> None:
    machine, number, began = this_process().split("~")
    assert not has_exited(f"{machine}~{number}~{began}")
    assert has_exited(f"{machine}~{number}~1{began}")


def test_of_another_machine_nobody_can_tell() -> None:
    elsewhere = "elsewhere/pid:[1]~999999~7/x"
    assert not has_exited(elsewhere)
    assert host_of(elsewhere) == "elsewhere"


def test_a_name_that_is_none_says_nothing() -> None:
    assert not any(map(has_exited, ("", "~", "a~b~c", this_process().partition("~")[0])))
    assert host_of("") == ""
