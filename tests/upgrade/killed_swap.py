"""Backfill into a new index, killed at each request that changes something, and given again; others write meanwhile."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from servers.command_line import IBIDEM
from servers.fake_server import Answer, Between, Request, between
from workers.backfill.conftest import ALIAS, FIELDS, SECOND, Source, Theirs, stories, story

DOCUMENTS = 60
IS_DONE = f"is already an alias of '{SECOND}'"
"""Answer of the command that is given once more, where the killed one had noted that it was done."""

READS = ("_search", "_mget", "_refresh", "_msearch", "_pit", "_count")
"""Ends of paths of requests that are sent by POST and change nothing."""


def is_change(request: Request) -> bool:
    """Return whether a request changes something."""
    path = request.path.partition("?")[0]
    return request.method in {"PUT", "POST", "DELETE"} and not path.endswith(READS)


@dataclass
class Killer:
    """A proxy that kills the command at one of its changes.

    Args:
        at: At which, counted from 0; None for never.
        carried_out: Whether the engine is given that request all the same.
    """

    at: int | None = None
    carried_out: bool = True
    steps: list[str] = field(default_factory=list)
    process: "subprocess.Popen[str] | None" = None

    def plan(self, request: Request) -> Answer | None:
        """Pass requests on until the one at which the command ends."""
        if not is_change(request):
            return None
        self.steps.append(f"{request.method} {request.path.partition('?')[0].replace(ALIAS, 'NAME')}")
        if self.at is None or len(self.steps) <= self.at:
            return None
        assert self.process
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return Answer(0, passed=self.carried_out and len(self.steps) == self.at + 1)


def backfill(front: Between, kind: str, folder: Path, tables: Path, killer: Killer) -> None:
    """Run the command through the proxy."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("IBIDEM_")}
    settings = {"ENGINE": front.address(kind), "INDEX": ALIAS, "FIELDS": FIELDS, "TABLES": tables, "CONCURRENCY": 1}
    environment = others | {f"IBIDEM_{name}": str(value) for name, value in settings.items()}
    killer.process = subprocess.Popen(
        [IBIDEM, "backfill", "--into", SECOND],
        cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    printed, _ = killer.process.communicate(timeout=300)
    if killer.at is not None:
        assert killer.process.returncode == -signal.SIGKILL, printed
    elif killer.process.returncode and IS_DONE not in printed:
        raise RuntimeError(printed)


def trial(index: Theirs, folder: Path, tables: Path, at: int | None, *, carried_out: bool = True) -> list[str]:
    """Kill the command at one change, write and delete as others do, and give the command again.

    Returns:
        The changes of the command up to its end.

    Raises:
        AssertionError: A document is lost, back, unsigned or not as it was written last, or the alias has not moved.
    """
    index.remove()
    index.make()
    index.write(stories(DOCUMENTS))
    expected: dict[str, Source] = stories(DOCUMENTS)
    kind, _, target = index.address.partition("+")
    killer = Killer(at, carried_out)
    with between(target, killer.plan) as front:
        backfill(front, kind, folder, tables, killer)
    if at is not None:
        meanwhile = {f"t{number}": story(number, 1) for number in (3, 4, DOCUMENTS)}
        index.write(meanwhile)
        gone = {"t5", f"t{DOCUMENTS - 1}"}
        for name in gone:
            index.delete(name)
        expected = {name: each for name, each in (expected | meanwhile).items() if name not in gone}
        with between(target) as front:
            backfill(front, kind, folder, tables, Killer())
    place = f"killed at {at}: {killer.steps[-1] if killer.steps else ''}, carried out: {carried_out}"
    found = index.all()
    assert {hit["_index"] for hit in found.values()} == {SECOND}, place
    assert index.sources() == expected, place
    # What others wrote to the new index itself, once the alias had moved, is theirs to sign by `ibidem backfill`.
    assert index.signed().keys() >= expected.keys() - {"t3", "t4", f"t{DOCUMENTS}"}, place
    return killer.steps


def steps_to_try(steps: list[str]) -> Iterator[tuple[int, bool]]:
    """Name each change, carried out and not."""
    for at in range(len(steps)):
        yield from ((at, False), (at, True))
