"""How a run stands: from the ledger alone, so that any process on any machine can tell, also after a restart."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

from ibidem_engines.engine import Engine
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_workers.account import Account, refusals_from_json
from ibidem_workers.duplicates import by_level
from ibidem_workers.run_record import HEADS, RunRecord

POLL = 0.05
BLOCK = 100
"""Batches that are read at once: the accounts of a block have one prefix."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Args:
        run: Its name.
        documents: Documents handed to the queue so far.
        done: How many of them are accounted for.
        batches: Batches handed to the queue so far.
        batches_done: How many of them are accounted for.
        submitted: Whether nothing more comes.
        idle: Seconds since a batch was last accounted for.
    """

    run: str
    documents: int
    done: int
    batches: int
    batches_done: int
    submitted: bool
    idle: float

    @property
    def ended(self) -> bool:
        """Whether every document is accounted for and nothing more comes."""
        return self.submitted and self.batches_done == self.batches


class Watch:
    """Follows one run; a block of batches that is accounted for is not read again.

    Args:
        engine: Where the run is noted.
        run: Its name.

    Raises:
        UsageError: There is no such run.
    """

    def __init__(self, engine: Engine, run: str) -> None:
        self._engine = engine
        self.record = record(engine, run)
        self._blocks: list[dict[str, Account]] = []
        self._open = 0
        self._moved = time.monotonic()
        self._done = 0

    def look(self) -> Progress:
        """Read what is new."""
        if self.record.state == "reading":
            self.record = record(self._engine, self.record.run)
        self._read()
        done = sum(_complete(block) for block in self._blocks)
        if done != self._done:
            self._done, self._moved = done, time.monotonic()
        return Progress(
            run=self.record.run,
            documents=self.record.documents,
            done=self.account().documents,
            batches=self.record.batches,
            batches_done=done,
            submitted=self.record.state != "reading",
            idle=time.monotonic() - self._moved,
        )

    def wait(self, seen: Callable[[Progress], None] = lambda _: None) -> Progress:
        """Look until every document is accounted for; `seen` is called with each look and may raise to end it."""
        while True:
            progress = self.look()
            seen(progress)
            if progress.ended:
                return progress
            time.sleep(POLL)

    def account(self) -> Account:
        """Return the sum of all batches' accounts so far."""
        return sum((one for block in self._blocks for one in block.values()), Account(at=self.record.started))

    def _read(self) -> None:
        for number in count(self._open):
            prefix = f"{self.record.run}/{number:06d}"
            block = {key: Account.from_json(noted) for key, noted in self._engine.noted("runs", prefix)}
            # A submitter that was killed may have sent more batches than it noted.
            if not block and number * BLOCK >= self.record.batches:
                break
            self._blocks[number:] = [block, *self._blocks[number + 1 :]]
            if number == self._open and _complete(block) == BLOCK:
                self._open += 1


def _complete(block: dict[str, Account]) -> int:
    """Count the batches of a block that are accounted for, each with all its parts."""
    parts = {key: one.parts for key, one in block.items() if key.count("/") == 1}
    single = sum(key.count("/") == 2 for key in block)
    if not single and not any(parts.values()):
        return len(parts)
    return sum(sum(other.startswith(f"{key}/") for other in block) >= wanted for key, wanted in parts.items())


def record(engine: Engine, run: str) -> RunRecord:
    """Read a run's record.

    Raises:
        UsageError: There is no such run.
    """
    found = dict(engine.noted("runs", HEADS + run)).get(HEADS + run)
    if found is None:
        raise UsageError(f"no run is called {run!r}", "list them with: ibidem status")
    return RunRecord.from_json(found)


def runs(engine: Engine) -> list[RunRecord]:
    """Return the records of all runs, the oldest first."""
    return [RunRecord.from_json(noted) for _, noted in engine.noted("runs", HEADS)]


def summary(engine: Engine, run: str = "") -> dict[str, object]:
    """Return how a run stands, as `ibidem ingest --json` and `ibidem status --json` print it.

    `read` = `indexed` + `unchanged` + `stale` + `refused`, at any time; what is `pending` was handed to the queue and
    is not accounted for yet.

    Args:
        engine: Where it is noted.
        run: Its name; empty: the last one.

    Raises:
        UsageError: There is no such run, or none at all.
    """
    watch = Watch(engine, run or _last(engine))
    progress = watch.look()
    return _summary(watch.record, watch.account(), progress, _unread(engine, watch.record))


def wait(engine: Engine, run: str, seen: Callable[[Progress], None] = lambda _: None) -> Progress:
    """Wait until every document of a run is accounted for.

    Args:
        engine: Where it is noted.
        run: Its name.
        seen: Called with each look; it may raise to end the waiting.
    """
    return Watch(engine, run).wait(seen)


def _last(engine: Engine) -> str:
    known = runs(engine)
    if not known:
        raise UsageError("there is no run yet", "make one with: ibidem ingest PATH")
    return known[-1].run


def _unread(engine: Engine, record: RunRecord) -> list[Refusal]:
    slices = engine.noted("runs", f"{record.run}/refused/") if record.refused else ()
    return [refusal for _, noted in slices for refusal in refusals_from_json(noted["refusals"])]


def _summary(record: RunRecord, account: Account, progress: Progress, unread: list[Refusal]) -> dict[str, object]:
    everything = replace(account, refusals=[*unread, *account.refusals])
    return {
        "run": record.run,
        "read": everything.documents,
        "indexed": everything.indexed,
        "unchanged": everything.unchanged,
        "stale": everything.stale,
        "refused": len(everything.refusals),
        "unsigned": everything.unsigned,
        "duplicates": by_level(everything.duplicates),
        "refusals": [refusal.as_json() for refusal in everything.refusals],
        "took_s": round((account.at if progress.ended else time.time()) - record.started, 3),
        "state": _state(record, progress),
        "pending": max(0, record.documents - progress.done),
        "repeated": record.repeated,
        "repeated_ids": record.repeated_ids,
        "meta_fields": record.meta_fields,
        "passed_over": record.passed_over,
    }


def _state(record: RunRecord, progress: Progress) -> str:
    if record.state == "interrupted" or not progress.ended:
        return {"submitted": "waiting"}.get(record.state, record.state)
    return "done"
