"""Faults that a seed brings upon a schedule: requests and processes that are late, lost or doubled."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from typing_extensions import override

from ibidem_core.errors import EngineError, Unavailable
from simulation.memory_cluster import Link

if TYPE_CHECKING:
    from simulation.world import World

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Faults:
    """How often what goes wrong."""

    delay: float = 0.02  # seconds that a request takes at most, each way
    freeze: float = 0.0  # of how many requests one process stands still before it sends it, longer than any lease
    lost: float = 0.0  # of how many requests one is lost, or its answer
    doubled: float = 0.0  # of how many requests one arrives twice
    kills: int = 0  # how many processes are killed
    jumps: int = 0  # how often a clock jumps


# Requests that a client sends again where it has no answer: bulk requests, whatever they are for.
SENT_AGAIN = ("bulk", "assign", "put onto groups", "put onto tombstones")


class FaultyLink(Link):
    """The way of one process to the cluster, on which requests are late, lost, doubled, or arrive after its end."""

    def __init__(self, world: "World") -> None:
        super().__init__(world.cluster)
        self._world = world

    @override
    def call(self, effect: Callable[[], T], what: str = "") -> T:
        return self.each([effect], what)[0]

    @override
    def each(self, effects: Sequence[Callable[[], T]], what: str = "") -> list[T]:
        scheduler, faults = self._world.scheduler, self._world.faults
        rng, process = scheduler.rng, scheduler.current
        if faults.freeze and rng.random() < faults.freeze:
            scheduler.note(f"stand still before {what}")
            scheduler.pause(rng.choice((5.0, 40.0, 100.0)))
        if process is not None:
            process.in_flight = partial(_arrive, effects)
        scheduler.pause(rng.random() * faults.delay)
        if rng.random() < faults.lost / 2:
            scheduler.note(f"lost: {what}")
            raise Unavailable(f"{what} is lost", "try again")
        results = []
        for effect in effects:
            results.append(effect())
            if len(effects) > 1 and rng.random() < 0.2:
                scheduler.pause(rng.random() * faults.delay)
        if process is not None:
            process.in_flight = None
        if what:
            scheduler.note(what)
        if what in SENT_AGAIN and rng.random() < faults.doubled:
            scheduler.note("sent again")
            self.resend_count += 1
            results = [effect() for effect in effects]
        if rng.random() < faults.lost / 2:
            scheduler.note(f"no answer: {what}")
            raise Unavailable(f"no answer to {what}", "try again")
        return results


def _arrive(effects: Sequence[Callable[[], object]]) -> None:
    """Do what a process has sent that is gone: nobody reads the answer."""
    with suppress(EngineError):
        for effect in effects:
            effect()
