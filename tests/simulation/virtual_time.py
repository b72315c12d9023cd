"""Virtual time and names for the code under simulation, which asks its modules `time`, `uuid4` and for processes."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch
from uuid import UUID

import ibidem_core.errors as retry
from ibidem_engines import stored_groups
from ibidem_workers import ingest, tasks
from ibidem_workers.backfill import replace, run
from ibidem_workers.groups import follower
from simulation.scheduler import Process, Scheduler


class VirtualTime:
    """The module `time` of a simulated process."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self.time, self.sleep = scheduler.wall_clock, scheduler.pause

    def time_ns(self) -> int:
        """Return the wall clock in nanoseconds, never the same twice."""
        self._scheduler.now += 1e-6
        return int(self.time() * 1e9)

    def monotonic(self) -> float:
        """Return seconds that no change of the clock touches."""
        return 1_000 + self._scheduler.now

    perf_counter = monotonic


def ended(scheduler: Scheduler, name: str) -> bool:
    """Return whether a process has ended, as one of the same machine sees it."""
    machine, _, process_name = name.partition("~")
    here = scheduler.current.machine if scheduler.current else "one"
    found = [each for each in scheduler.processes if each.name == process_name]
    return bool(found) and machine == here and found[-1].is_over


def name_of(process: Process | None) -> str:
    return f"{process.machine}~{process.name}" if process else "one~outside"


@contextmanager
def virtual_time(scheduler: Scheduler) -> Iterator[None]:
    """Let the code under simulation live in virtual time, and draw its names from the seed."""
    clock = VirtualTime(scheduler)
    names = random.Random(0)  # noqa: S311 - a schedule is to be repeated

    def draw() -> UUID:
        return UUID(int=scheduler.rng.getrandbits(128), version=4)

    changes = {
        (follower, "RACE_SECONDS"): 0.05,
        (follower, "uuid4"): draw,
        (follower, "this_process"): lambda: name_of(scheduler.current),
        (follower, "has_exited"): lambda name: ended(scheduler, name),
        (follower, "time"): clock,
        (replace, "time"): clock,
        (run, "this_process"): lambda: name_of(scheduler.current),
        (ingest, "time"): clock,
        (ingest, "has_exited"): lambda name: ended(scheduler, name),
        (tasks, "time"): clock,
        (stored_groups, "token_hex"): lambda size: names.randbytes(size).hex(),
        (retry, "_pause"): lambda seconds, has_ended: scheduler.pause(seconds),
    }
    drawn = random.getstate()
    random.seed(scheduler.rng.getrandbits(64))  # tenacity draws its pauses from there
    patches = [patch.object(module, name, value) for (module, name), value in changes.items()]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()
        random.setstate(drawn)
