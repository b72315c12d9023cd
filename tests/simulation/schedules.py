"""Schedules: the processes and faults that a seed draws, and which promise of the documentation broke in them."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from ibidem_core.settings import Settings
from ibidem_dedupe.overrides import VERDICTS
from ibidem_ingest.document import Document
from ibidem_workers.groups.follower import settle_all
from simulation.faults import Faults
from simulation.memory_cluster import MemoryCluster
from simulation.memory_queue import Messages
from simulation.promises import check
from simulation.scheduler import Endless, Process, Scheduler
from simulation.virtual_time import virtual_time
from simulation.world import Broken, World, tables, texts

T = TypeVar("T")

TAKEDOWN = 1_000  # version of a takedown: every document that is submitted has an older one

TRACE = 60  # lines of the trace that a failure shows


@dataclass(frozen=True, slots=True)
class Focus:
    """What schedules are to hold, where that is not left to the seed."""

    replaces: bool | None = None  # whether a copy takes the index's place
    rewrites: bool | None = None  # whether documents are written again
    deletions: int | None = None  # how many deletions there are, all of one document and at nearly the same time
    kills: int | None = None  # how many processes are killed
    settles: int | None = None  # how often each process settles that does; one does for certain
    # Whether all documents are of one family, the first, which leads it, is what is deleted, and the others are written
    # again.
    heirs: bool = False
    freeze: float | None = None  # of how many requests one process stands still before it sends it
    decisions: int = 0  # how many manual decisions there are, on two pairs of documents
    is_same: bool = False  # whether all texts are the same


# Each focus by its name; in `ANY` all is left to the seed.
FOCUSES: Mapping[str, Focus] = {
    "ANY": Focus(),
    "PLAIN": Focus(replaces=False, rewrites=False, deletions=0),
    "DELETION": Focus(replaces=False, rewrites=True, deletions=1),
    "KILLED_DELETION": Focus(replaces=False, rewrites=True, deletions=1, kills=3),
    "DELETIONS": Focus(rewrites=True, deletions=2),
    "HEIRS": Focus(replaces=False, rewrites=True, deletions=2, settles=20, heirs=True, freeze=0.02),
    "SAME_TEXT": Focus(replaces=False, rewrites=True, deletions=2, heirs=True, freeze=0.2, is_same=True),
    "DECISIONS": Focus(replaces=False, settles=5, freeze=0.02, decisions=6),
    "REPLACEMENT": Focus(replaces=True, rewrites=True),
    "REPLACEMENT_DELETION": Focus(replaces=True, deletions=1),
}


def run(seeds: Iterable[int], focus: str = "ANY") -> list[str]:
    """Run the schedules of some seeds; returns what broke."""
    logging.getLogger("ibidem_core.errors").setLevel(logging.ERROR)  # whoever waits for what is lost says so
    broken = []
    for seed in seeds:
        try:
            simulate(seed, focus)
        except Broken as error:
            broken.append(str(error))
    return broken


def simulate(seed: int, focus: str = "ANY") -> World:
    """Run the schedule of a seed, and see that all promises were kept."""
    scheduler = Scheduler(seed)
    with virtual_time(scheduler):
        try:
            world = _build(scheduler, FOCUSES[focus])
            scheduler.run()
            _quiet(world)
            check(world)
        except Exception as error:  # whatever it is, the seed that repeats it is named
            what = str(error) if isinstance(error, Broken | Endless) else repr(error)
            trace = "\n".join(scheduler.trace[-TRACE:])
            again = f"again: make simulate SEEDS=1 FIRST={seed} FOCUS={focus}"
            raise Broken(f"seed {seed}, focus {focus}: {what}\n{trace}\n{again}") from error
    return world


def _build(scheduler: Scheduler, focus: Focus) -> World:
    """Draw the processes and faults of a seed."""
    rng = scheduler.rng
    replaces = _chosen(focus.replaces, rng.random() < 0.3)
    faults = Faults(
        delay=0.02 if replaces else rng.choice((0.005, 0.02, 0.5)),
        freeze=0.0 if replaces else _chosen(focus.freeze, rng.choice((0.0, 0.0, 0.01, 0.05))),
        lost=rng.choice((0.0, 0.0, 0.02, 0.1)),
        doubled=rng.choice((0.0, 0.1)),
        kills=_chosen(focus.kills, rng.choice((0, 0, 1, 3))),
        jumps=rng.choice((0, 0, 2)),
    )
    settings = Settings(index="news", tables=tables().folder, patience=30, lease=60)
    cluster = MemoryCluster(shards=1 if rng.random() < 0.8 else 2)
    cluster.create("news-1")
    cluster.aliases["news"] = "news-1"
    world = World(scheduler, faults, Messages(scheduler, float(settings.lease)), settings, cluster)
    _submissions(world, focus)
    _decisions(world, focus.decisions)
    mortal = _workers(world)
    if replaces:
        mortal.append(_again(world, "replace", lambda: world.replace("news-2"), after=rng.random() * 0.3))
    elif rng.random() < 0.7 or focus.settles is not None:
        mortal += _settlers(world, focus)
    _disasters(world, mortal)
    return world


def _chosen(wanted: T | None, drawn: T) -> T:
    return drawn if wanted is None else wanted


def _submissions(world: World, focus: Focus) -> None:
    """Send batches, some of documents that come again, and delete some."""
    rng, scheduler = world.scheduler.rng, world.scheduler
    ids = [f"d{number}" for number in range(rng.randrange(2, 6))]
    versions = dict.fromkeys(ids, 0)
    rewrites = _chosen(focus.rewrites, rng.random() < 0.5)
    families = texts()[: 1 if focus.heirs else 2]

    def batch(*, is_first: bool) -> list[Document]:
        chosen = rng.sample(ids, rng.randrange(1, len(ids) + 1)) if rewrites and not is_first else ids
        documents = []
        for id_ in chosen:
            versions[id_] += 1
            text = families[0][0] if focus.is_same else rng.choice(rng.choice(families))
            documents.append(Document(id_, text, version=versions[id_], language="en"))
        return documents

    lots = [batch(is_first=focus.heirs and not at) for at in range(rng.randrange(1, 4) if rewrites else 1)]
    for number, lot in enumerate(lots):
        scheduler.spawn(f"submit-{number}", partial(world.submit, number, lot), after=rng.random() * 3 * number)
    id_, at = ids[0] if focus.heirs else rng.choice(ids), rng.random() * 3
    for number in range(_chosen(focus.deletions, rng.choice((0, 0, 1, 2)))):
        if rng.random() < 0.5 and focus.deletions is None:
            id_, at = ids[0] if focus.heirs else rng.choice(ids), rng.random() * 3
        takes_down = rng.random() < 0.5
        version = TAKEDOWN if takes_down else rng.randrange(1, 4)
        delete = partial(world.delete, id_, version, any_version=takes_down and rng.random() < 0.5)
        scheduler.spawn(f"delete-{number}", delete, after=at)


def _decisions(world: World, count: int) -> None:
    """Decide on pairs of documents, now that they are duplicates and now that they are none."""
    rng = world.scheduler.rng
    pairs = [("d0", "d1"), ("d0", "d2")]
    for number in range(count):
        decide = partial(world.decide, rng.choice(pairs), rng.choice(VERDICTS))
        world.scheduler.spawn(f"decide-{number}", decide, rng.choice(("one", "two")), after=rng.random() * 5)


def _workers(world: World) -> list[Callable[[], Process]]:
    """Start workers; what ends is started again by who watches it."""
    scheduler = world.scheduler
    return [
        _again(world, f"work-{number}", partial(world.work, until=lambda: _submitted(world)))
        for number in range(scheduler.rng.randrange(1, 3))
    ]


def _submitted(world: World) -> bool:
    senders = [each for each in world.scheduler.processes if each.name.startswith(("submit", "delete"))]
    return all(each.is_over for each in senders)


def _again(world: World, name: str, work: Callable[[], object], after: float = 0.0) -> Callable[[], Process]:
    """Start a process; returns what names the one that runs under the name now."""
    rng = world.scheduler.rng
    running = [world.scheduler.spawn(name, work, rng.choice(("one", "two")), after)]

    def current() -> Process:
        if running[-1].is_over:
            running.append(world.scheduler.spawn(f"{name}+{len(running)}", work, rng.choice(("one", "two")), 0.1))
        return running[-1]

    return current


def _settlers(world: World, focus: Focus) -> list[Callable[[], Process]]:
    rng = world.scheduler.rng
    return [
        _again(
            world,
            f"settle-{number}",
            partial(world.settle, rng.choice((0.0, 5.0, 1e9)), _chosen(focus.settles, rng.randrange(1, 4))),
            after=rng.random() * 2,
        )
        for number in range(rng.randrange(1, 3))
    ]


def _disasters(world: World, mortal: Sequence[Callable[[], Process]]) -> None:
    """Kill processes and move clocks, at times that the seed chooses."""
    rng, scheduler = world.scheduler.rng, world.scheduler

    def kill() -> None:
        victim = rng.choice(mortal)
        scheduler.kill(victim())
        victim()

    def jump() -> None:
        machine = rng.choice(("one", "two"))
        scheduler.skews[machine] = rng.choice((-1e5, -40.0, 0.0, 40.0, 1e5))
        scheduler.note(f"the clock of {machine} jumps to {scheduler.skews[machine]}")

    for _ in range(world.faults.kills):
        scheduler.later(rng.random() * rng.choice((0.3, 3.0)), kill)
    for _ in range(world.faults.jumps):
        scheduler.later(rng.random() * 5, jump)


def _quiet(world: World) -> None:
    """Let all faults end, and all that is left be done."""
    for each in world.scheduler.processes:
        if each.error is not None:
            raise Broken(f"{each.name} has ended: {each.error!r}") from each.error
        if not each.is_over:
            raise Broken(f"{each.name} waits for ever")
    world.past, world.faults = world.faults, Faults(delay=0.001)
    world.scheduler.now += 1_000.0  # every lease has lapsed
    if any(each.name.startswith("replace") for each in world.scheduler.processes):
        _finish(world, "replace-last", lambda: world.replace("news-2"))
    _finish(world, "work-last", partial(world.work, until=lambda: True))
    _finish(world, "settle-last", lambda: settle_all(world.engine()))


def _finish(world: World, name: str, work: Callable[[], object]) -> None:
    process = world.scheduler.spawn(name, work)
    world.scheduler.run()
    if process.error is not None:
        raise Broken(f"{name} has ended: {process.error!r}") from process.error
