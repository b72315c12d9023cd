"""Scheduler of simulated processes, which are greenlets: one at a time runs, as a seed chooses, in virtual time."""

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from greenlet import getcurrent, greenlet

EPOCH = 1_700_000_000  # the wall clock at the beginning, in seconds since 1970


IN_HAND = 0.05  # seconds in which a server does what a process had sent before it was killed


class Killed(BaseException):
    """The process was killed."""


class Endless(AssertionError):
    """The processes have not ended after very many steps."""


@dataclass(eq=False, slots=True)
class Process:
    name: str
    machine: str  # the machine that it runs on: those of one machine have one clock, and see each other end
    work: Callable[[], object]  # what it does
    in_flight: Callable[[], object] | None = None  # what a request does that it has sent, and that has not arrived
    is_over: bool = False  # whether it has ended
    error: Exception | None = None  # the error that ended it
    fiber: greenlet | None = None


class Scheduler:
    """Runs processes in an order that a seed chooses."""

    def __init__(self, seed: int, limit: int = 20_000) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - a schedule is to be repeated
        self.now = 0.0
        self.skews: dict[str, float] = {}
        self.processes: list[Process] = []
        self.trace: list[str] = []
        self._most, self._events, self._numbers = limit, [], count()
        self._current: Process | None = None
        self._hub = getcurrent()

    @property
    def current(self) -> Process | None:
        """The process that runs; None outside of all."""
        return self._current

    def spawn(self, name: str, work: Callable[[], object], machine: str = "one", after: float = 0.0) -> Process:
        process = Process(name, machine, work)
        process.fiber = greenlet(lambda: self._work(process), self._hub)
        self.processes.append(process)
        self.later(after, lambda: self._resume(process))
        return process

    def _work(self, process: Process) -> None:
        try:
            process.work()
        except Killed:
            pass
        except Exception as error:  # noqa: BLE001 - whoever checks the run looks at it
            process.error = error
        process.is_over = True

    def later(self, seconds: float, effect: Callable[[], object]) -> None:
        """Let something happen in some seconds."""
        heapq.heappush(self._events, (self.now + seconds, self.rng.random(), next(self._numbers), effect))

    def pause(self, seconds: float) -> None:
        """Let others run for some seconds."""
        process = self._current
        if process is None:
            self.now += seconds
            return
        if process.is_over:
            raise Killed
        self.later(seconds, lambda: self._resume(process))
        self._hub.switch()
        if process.is_over:
            raise Killed

    def note(self, event: str) -> None:
        """Add a line to the trace."""
        self.trace.append(f"{self.now:9.3f} {self._current.name if self._current else '-'}: {event}")

    def _resume(self, process: Process) -> None:
        if not process.is_over and process.fiber is not None:
            self._current = process
            process.fiber.switch()
            self._current = None

    def kill(self, process: Process) -> None:
        """Kill a process: what it has sent may still arrive."""
        if process.is_over or process.fiber is None or process.fiber is getcurrent():
            return
        self.note(f"kill {process.name}")
        process.is_over = True
        if process.in_flight is not None and self.rng.random() < 0.5:
            self.later(self.rng.random() * IN_HAND, process.in_flight)
        process.in_flight = None
        if process.fiber:
            current, self._current = self._current, process
            process.fiber.throw(Killed)
            self._current = current

    def run(self) -> None:
        """Run until nothing is to happen any more."""
        self._hub = getcurrent()
        steps = 0
        while self._events:
            at, _, _, effect = heapq.heappop(self._events)
            self.now = max(self.now, at)
            effect()
            steps += 1
            if steps > self._most:
                raise Endless(f"{steps} steps, and still: {[each.name for each in self.processes if not each.is_over]}")

    def wall_clock(self) -> float:
        """Return what the clock of the running process's machine shows, in seconds since 1970."""
        machine = self._current.machine if self._current else "one"
        return EPOCH + self.now + self.skews.get(machine, 0.0)
