"""Virtual time and names for the code under simulation, which asks its modules `time`, `uuid4` and for processes."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch
from uuid import UUID

import ibidem_core.errors as retry
from ibidem_workers import runs, tasks
from ibidem_workers.backfill import replace, run
from ibidem_workers.brokers import files, lease
from ibidem_workers.groups import lease as settling_lease
from ibidem_workers.groups import service
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


class SimulatedHeartbeat:
    """Heartbeat of a lease, in virtual time: it stops with its process."""

    def __init__(self, scheduler: Scheduler, beat: Callable[[], bool], seconds: float) -> None:
        self._scheduler, self._beat, self._pause = scheduler, beat, seconds / lease.BEATS
        self._process, self._is_over = scheduler.current, False
        self._run()

    def _run(self) -> None:
        process = self._process
        if not self._is_over and not (process and process.is_over) and self._beat():
            self._scheduler.later(self._pause, self._run)

    def stop(self) -> None:
        """Stop beating."""
        self._is_over = True


class LeaseFiles:
    """The module `os` for leases of the file queue: their time is the virtual one, and a kill frees the lock."""

    def __init__(self, scheduler: Scheduler, real: object) -> None:
        self._scheduler, self._real = scheduler, real

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)

    def utime(self, path: object) -> None:
        """Touch a file."""
        now = self._scheduler.wall_clock()
        self._real.utime(path, (now, now))  # type: ignore[attr-defined]


def ended(scheduler: Scheduler, name: str) -> bool:
    """Return whether a process has ended, as one of the same machine sees it."""
    machine, _, process_name = name.partition("~")
    here = scheduler.current.machine if scheduler.current else "one"
    found = [each for each in scheduler.processes if each.name == process_name]
    return bool(found) and machine == here and found[-1].is_over


def name_of(process: Process | None) -> str:
    """Name a process as `this_process` does."""
    return f"{process.machine}~{process.name}" if process else "one~outside"


@contextmanager
def virtual_time(scheduler: Scheduler) -> Iterator[None]:
    """Let the code under simulation live in virtual time, and draw its names from the seed."""
    clock = VirtualTime(scheduler)

    def draw() -> UUID:
        return UUID(int=scheduler.rng.getrandbits(128), version=4)

    changes = {
        (files, "time"): clock,
        (files, "uuid4"): draw,
        (lease, "time"): clock,
        (lease, "uuid4"): draw,
        (lease, "os"): LeaseFiles(scheduler, lease.os),
        (lease, "Heartbeat"): lambda beat, seconds: SimulatedHeartbeat(scheduler, beat, seconds),
        (settling_lease, "time"): clock,
        (settling_lease, "uuid4"): draw,
        (settling_lease, "this_process"): lambda: name_of(scheduler.current),
        (settling_lease, "has_exited"): lambda name: ended(scheduler, name),
        (service, "time"): clock,
        (replace, "time"): clock,
        (run, "this_process"): lambda: name_of(scheduler.current),
        (runs, "time"): clock,
        (runs, "has_exited"): lambda name: ended(scheduler, name),
        (tasks, "time"): clock,
        (retry, "_pause"): lambda seconds, has_ended, _: scheduler.pause(seconds),
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
