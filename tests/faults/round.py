"""One round of the kill tests: a file is submitted, something is killed at a random moment, nothing may be missing."""

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass

from faults.environment import Command, Setting, Victim
from faults.kill import descendants, kill
from ibidem_workers import tasks
from servers.command_line import DONE

ATTEMPTS = 5  # how often the same command is given before it must have come to its end

PATIENCE = 200.0
ENDING = 60.0  # seconds in which the processes of a killed command end: with a batch in hand, once that is done

FATES = ("indexed", "unchanged", "stale", "refused")


@dataclass(frozen=True)
class Round:
    """The processes killed in a round, and the times."""

    victim: Victim | None  # what; None for a round in which nothing is
    after: float  # which part of the time that a run takes passes before
    away: float  # seconds for which a server is away
    documents: int  # how many are submitted

    @classmethod
    def drawn(cls, rng: random.Random, victim: Victim, documents: int) -> "Round":
        """Draw the moment by lot."""
        return cls(victim, rng.random(), rng.random(), documents)


@dataclass(frozen=True)
class Played:
    """The result of a round."""

    wrong: list[str]  # what broke a law, in words; empty when all is well
    killed: bool  # whether the victim was there to be killed
    attempts: int  # how often the command was given
    recognised: int  # documents of the last run that were in the index already
    seconds: float  # what the round took


def warm_up(setting: Setting, documents: int) -> Played:
    """Play a round in which nothing is killed, and take the time that a run takes."""
    return play(setting, Round(None, 0.0, 0.0, documents))


def play(setting: Setting, round_: Round) -> Played:
    """Play a round and look at what is left."""
    began = time.monotonic()
    path = setting.folder / "submitted.jsonl"
    lines = setting.shelf.write(path, round_.documents)
    command = setting.ingest(path)
    command.wait_for_run()
    running = time.monotonic()
    time.sleep(round_.after * setting.takes)
    killed = _killed(setting, round_, command)
    attempts = 1
    while command.process.wait(PATIENCE) not in DONE and attempts < ATTEMPTS:
        attempts, command = attempts + 1, setting.ingest(path)
    if round_.victim is None:
        setting.takes = time.monotonic() - running
    account = command.account() if command.process.returncode in DONE else {}
    faults = find_faults(setting, account, lines)
    recognised = account.get("unchanged", 0) + account.get("stale", 0)
    return Played(faults, killed, attempts, recognised, time.monotonic() - began)


def find_faults(setting: Setting, account: dict[str, object], lines: int, patience: float = PATIENCE) -> list[str]:
    """Look whether the laws hold once a command is done; returns in words which do not."""
    return [
        *_account(account, lines),
        *setting.settle(patience),
        *setting.shelf.wrong(setting.engine),
        *_dead(setting),
        *setting.leftovers(ENDING),
    ]


def _killed(setting: Setting, round_: Round, command: Command) -> bool:
    """Kill what the round is to kill, and start a server again."""
    if round_.victim == "submitter":
        return command.process.poll() is None and kill(command.process.pid)
    if round_.victim == "worker":
        parents = [worker.pid for worker in setting.way.workers] or [command.process.pid]
        at_work = [child for parent in parents for child in descendants(parent)]
        return bool(at_work) and kill(at_work[int(round_.away * len(at_work))])
    if round_.victim is not None:
        setting.breakable[round_.victim].kill()
        time.sleep(round_.away)
        setting.breakable[round_.victim].start_again()
    return True


def _account(account: dict[str, object], lines: int) -> Iterator[str]:
    """Look whether the account of the last run adds up."""
    if not account:
        yield "the command never came to its end"
        return
    parts = {status: account[status] for status in FATES}
    if account["read"] != lines or sum(map(int, parts.values())) != lines:  # type: ignore[call-overload] # numbers of a summary
        yield f"of {lines} documents {account['read']} were read, and became {parts}"
    if (account["pending"], account["state"]) != (0, "done"):
        yield f"{account['pending']} are pending and the run is {account['state']}"
    if account["refused"] != 1:
        yield f"{account['refused']} were refused: {account['refusals']}"


def _dead(setting: Setting) -> list[str]:
    return [f"{letter.refusal.id} is a dead letter: {letter.refusal.why}" for letter in tasks.letters(setting.engine)]
