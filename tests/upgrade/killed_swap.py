"""Backfill into a new index, killed at each request that changes something, and given again; others write meanwhile."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from servers.command_line import IBIDEM, surroundings
from servers.fake_server import Answer, Between, Request, between
from workers.backfill.conftest import ALIAS, FIELDS, SECOND, Source, Theirs, stories, story

DOCUMENTS = 60
# Answer of the command that is given once more, where the killed one had noted that it was done.
IS_DONE = f"is already an alias of '{SECOND}'"

# Ends of paths of requests that are sent by POST and change nothing.
READS = ("_search", "_mget", "_refresh", "_msearch", "_pit", "_count")


def is_change(request: Request) -> bool:
    """Return whether a request changes something."""
    path = request.path.partition("?")[0]
    return request.method in {"PUT", "POST", "DELETE"} and not path.endswith(READS)


def name_change(request: Request) -> str:
    """Name a change by its path or, in bulk, by what it writes to which indexes; the alias is `NAME` in all of them."""
    path = request.path.partition("?")[0]
    if not path.endswith("/_bulk"):
        return f"{request.method} {path}".replace(ALIAS, "NAME")
    acts = set()
    lines = iter(request.body.splitlines())
    for line in lines:
        ((verb, head),) = json.loads(line).items()
        acts.add(f"{verb} in {head.get('_index') or path.split('/')[1]}")
        if verb != "delete":
            next(lines)
    return f"bulk: {', '.join(sorted(acts))}".replace(ALIAS, "NAME")


class MissedStep(Exception):
    """A kill that tried nothing: its change did not come."""


@dataclass(frozen=True)
class Kill:
    """A change at which the command is killed; those of one kind alone come in the same order each time."""

    step: str  # its name
    time: int  # which change of that name, counted from 1
    carried_out: bool  # whether the engine is given that request all the same

    def __str__(self) -> str:
        """Name it as a page does."""
        return f"`{self.step}`, time {self.time} ({'after' if self.carried_out else 'before'})"


@dataclass
class Killer:
    """A proxy that kills the command at one of its changes."""

    kill: Kill | None = None  # at which; None for never
    steps: list[str] = field(default_factory=list)  # the changes of the command so far
    has_met: bool = False  # whether the command was killed at its change
    process: "subprocess.Popen[str] | None" = None

    def plan(self, request: Request) -> Answer | None:
        """Pass requests on until the one at which the command ends."""
        if not is_change(request):
            return None
        if self.has_met:
            return Answer(0)
        self.steps.append(name_change(request))
        if self.kill is None or (self.steps[-1], self.steps.count(self.kill.step)) != (self.kill.step, self.kill.time):
            return None
        self.has_met = True
        assert self.process
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return Answer(0, passed=self.kill.carried_out)


def backfill(front: Between, kind: str, folder: Path, tables: Path, killer: Killer) -> None:
    """Run the command through the proxy."""
    settings = {"ENGINE": front.address(kind), "INDEX": ALIAS, "FIELDS": FIELDS, "TABLES": tables, "CONCURRENCY": 1}
    environment = surroundings({f"IBIDEM_{name}": value for name, value in settings.items()})
    killer.process = subprocess.Popen(
        [IBIDEM, "backfill", "--into", SECOND],
        cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    printed, _ = killer.process.communicate(timeout=300)
    if killer.process.returncode and not killer.has_met and IS_DONE not in printed:
        raise RuntimeError(printed or f"it ended with {killer.process.returncode}")
    if killer.kill and not killer.has_met:
        raise MissedStep(f"the swap was done after {len(killer.steps)} changes")


def trial(index: Theirs, folder: Path, tables: Path, kill: Kill | None) -> list[str]:
    """Kill the command at one change, write and delete as others do, and give the command again."""
    index.remove()
    index.make()
    index.write(stories(DOCUMENTS))
    expected: dict[str, Source] = stories(DOCUMENTS)
    kind, _, target = index.address.partition("+")
    killer = Killer(kill)
    with between(target, killer.plan) as front:
        backfill(front, kind, folder, tables, killer)
    if kill:
        meanwhile = {f"t{number}": story(number, 1) for number in (3, 4, DOCUMENTS)}
        index.write(meanwhile)
        gone = {"t5", f"t{DOCUMENTS - 1}"}
        for name in gone:
            index.delete(name)
        expected = {name: each for name, each in (expected | meanwhile).items() if name not in gone}
        with between(target) as front:
            backfill(front, kind, folder, tables, Killer())
    place = f"killed at {kill}" if kill else "not killed"
    found = index.all()
    assert {hit["_index"] for hit in found.values()} == {SECOND}, place
    assert index.sources() == expected, place
    # What others wrote to the new index itself, once the alias had moved, is theirs to sign by `ibidem backfill`.
    assert index.signed().keys() >= expected.keys() - {"t3", "t4", f"t{DOCUMENTS}"}, place
    return killer.steps


def kills(steps: list[str]) -> Iterator[Kill]:
    """Yield a kill before and one after each change of a swap that nothing stops."""
    for at, step in enumerate(steps, 1):
        yield from (Kill(step, steps[:at].count(step), carried_out) for carried_out in (False, True))
