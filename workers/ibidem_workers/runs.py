"""Runs: their records, progress and summary, read from the ledger alone, so that any process can show them."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Literal

from ibidem_core.errors import retry_unavailable
from ibidem_core.records import parse_record
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import check_entry, count_joined, read_entries, read_ledger
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_workers.batches import NO_RESULT, BatchResult, batch_key, read_account, read_refusals
from ibidem_workers.executors import has_exited, host_name

State = Literal["reading", "submitted", "interrupted"]

RUN_PREFIX = "run/"  # before the keys of the records themselves, so that all runs can be listed without their batches


@dataclass(slots=True)
class RunRecord:
    """The submitter's record of a run; the results of its batches are stored next to it."""

    run: str  # the run's name
    paths: list[str]  # the files and folders that were read
    started: float  # when reading began, in seconds since 1970
    state: State = "reading"  # whether it is being read, was read whole, or was broken off
    documents: int = 0  # documents that were handed to the queue
    batches: int = 0  # batches that were handed to the queue
    refused: int = 0  # documents that could not be read
    repeated: int = 0  # ids that occurred more than once
    repeated_ids: list[str] = field(default_factory=list)  # some of these ids
    meta_fields: list[str] = field(default_factory=list)  # unknown fields, which went into `meta`
    # Files in folders that no reader takes, by suffix: how many.
    passed_over: dict[str, int] = field(default_factory=dict)
    # For each file with bytes outside its encoding, how many were replaced.
    damaged_bytes: dict[str, int] = field(default_factory=dict)
    unread_dates: int = 0  # documents that have no date since theirs cannot be read
    holder: str = ""  # the process that reads; empty if an earlier version noted the run
    # How many documents had joined a group when it began, by level.
    joined: dict[str, int] = field(default_factory=dict)
    # Sum of the accounts of a follower that are no records of their own.
    followed: dict[str, object] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Kind of the run: `ingest` of files, or `backfill` of an index."""
        return "backfill" if len(self.paths) == 1 and self.paths[0].startswith(INDEX_PATH) else "ingest"

    @property
    def key(self) -> str:
        return RUN_PREFIX + self.run

    def as_json(self) -> dict[str, object]:
        """Return the stored record, which `from_json` parses."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, object]) -> "RunRecord":
        """Parse a stored record.

        >>> one = RunRecord("r", ["news.jsonl"], 0.0)
        >>> RunRecord.from_json(one.as_json()) == one
        True
        """
        return parse_record(cls, record)


def refusals_key(run: str, slice_number: int) -> str:
    """Return the key of a slice of the refusals of a run's reader."""
    return f"{run}/refused/{slice_number:06d}"


def new_run() -> str:
    """Return a name for a run: the time, in a form that sorts, with the nanoseconds in eight hex digits."""
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y%m%d-%H%M%S}-{nanoseconds:08x}"


POLL = 0.05
LEVELS = ("identical", "near")
# How to continue a run that was broken off.
REPEAT_REMEDY = "run the same command again; documents already indexed are skipped (`unchanged`)"

LAST_RUNS = 10  # runs of the same files among which one that was broken off counts

WATCH_SHARE = 10  # one part in so many of the time may be spent on looking at the state of a run

INDEX_PATH = "index "  # begin of the path of a run that signs an index

NO_FILES = frozenset(("-", "dead letters"))  # paths of runs that name no files

# Seconds after which a run is looked at again, however long the last look took: it may have waited for an engine.
MAX_PAUSE = 5.0

# Blocks without an account, one after the other, behind which none is looked for: a record may name any number.
EMPTY_LOOKS = 10


@dataclass(frozen=True, slots=True)
class Progress:
    run: str  # its name
    documents: int  # documents handed to the queue so far
    done: int  # how many of them are accounted for
    batches: int  # batches handed to the queue so far
    batches_done: int  # how many of them are accounted for
    submitted: bool  # whether nothing more comes
    idle: float  # seconds since a batch was last accounted for

    @property
    def has_ended(self) -> bool:
        """Whether every document has an outcome, and no more documents will come."""
        return self.submitted and self.batches_done >= self.batches  # a killed submitter may have sent more


BLOCK = 100  # batches of a block: one whose batches all have a result is not read again


@dataclass(slots=True)
class Block:
    """The results of a hundred batches, read by key, which needs no refresh."""

    missing: set[str]  # keys of batches that have no result yet
    sums: BatchResult = NO_RESULT  # sum of the results

    @classmethod
    def of(cls, run: str, number: int) -> "Block":
        """Return a block of a run in which no batch has a result yet."""
        return cls({batch_key(run, batch) for batch in range(number * BLOCK, (number + 1) * BLOCK)})

    def read(self, engine: Engine) -> None:
        """Read the missing results."""
        for key, entry in engine.get_records_by_key("runs", sorted(self.missing)).items():
            self.missing.remove(key)
            self.sums += read_account(entry)

    def complete(self) -> int:
        """Count the batches that have a result."""
        return BLOCK - len(self.missing)


class RunMonitor:
    """Monitor of one run; a block of batches is not read again once it is complete."""

    def __init__(self, engine: Engine, run: str, patience: float = 0.0) -> None:
        self._engine, self._patience = engine, patience
        self.record = retry_unavailable(lambda: record(engine, run), patience)
        self.pause = POLL
        self._closed_sums = BatchResult(at=self.record.started)
        self._blocks: list[Block] = []
        self._first = 0
        self._batches_done = 0
        self._last_change = time.monotonic()

    def look(self) -> Progress:
        """Read new results, and set `pause` to the delay before the next read."""
        began = time.monotonic()
        progress = retry_unavailable(self._look, self._patience)
        self.pause = min(MAX_PAUSE, max(POLL, (WATCH_SHARE - 1) * (time.monotonic() - began)))
        return progress

    def _look(self) -> Progress:
        if self.record.state == "reading":
            self.record = record(self._engine, self.record.run)
        self._read()
        batches_done = self._first * BLOCK + sum(block.complete() for block in self._blocks)
        if batches_done != self._batches_done:
            self._batches_done, self._last_change = batches_done, time.monotonic()
        return Progress(
            run=self.record.run,
            documents=self.record.documents,
            done=self.sums().documents,
            batches=self.record.batches,
            batches_done=batches_done,
            submitted=self.record.state != "reading",
            idle=time.monotonic() - self._last_change,
        )

    def is_done(self, number: int) -> bool:
        """Return whether a batch has a result."""
        at = number // BLOCK - self._first
        return at < 0 or (at < len(self._blocks) and batch_key(self.record.run, number) not in self._blocks[at].missing)

    def wait(self, report: Callable[[Progress], None] = lambda _: None) -> Progress:
        """Wait until every document has an outcome; `report` is called after each read and may raise to stop."""
        while True:
            progress = self.look()
            report(progress)
            if progress.has_ended:
                return progress
            time.sleep(self.pause)

    def sums(self) -> BatchResult:
        """Return the total of all batch results so far."""
        followed = BatchResult.from_json(self.record.followed) if self.record.followed else NO_RESULT
        return sum((block.sums for block in self._blocks), self._closed_sums) + followed

    def _read(self) -> None:
        empty = 0
        for number in count(self._first):
            is_noted = number * BLOCK < self.record.batches
            if not is_noted and self.record.state == "submitted":
                break
            if number - self._first == len(self._blocks):
                self._blocks.append(Block.of(self.record.run, number))
            block = self._blocks[number - self._first]
            block.read(self._engine)
            empty = 0 if block.complete() else empty + 1
            # A killed submitter may have sent more than it recorded; batches are processed roughly in order.
            if empty > (EMPTY_LOOKS if is_noted else 0):
                break
        while self._blocks and self._blocks[0].complete() == BLOCK:
            self._closed_sums += self._blocks.pop(0).sums
            self._first += 1


def record(engine: Engine, run: str) -> RunRecord:
    """Read a run's record; a run whose command was killed counts as interrupted."""
    entry = _read_run(engine, run)
    if entry.state == "reading" and has_exited(entry.holder):
        entry = _read_run(engine, run)  # it may have recorded its end between the read and the check
        entry.state = "interrupted" if entry.state == "reading" else entry.state
    return entry


def _read_run(engine: Engine, run: str) -> RunRecord:
    entry = engine.get_record("runs", RUN_PREFIX + run)
    if entry is None:
        raise UsageError(f"there is no run {run!r}", "see the last one: ibidem status")
    return check_entry(entry, RunRecord.from_json)


def may_be_harmful(engine: Engine, run: str) -> bool:
    """Return whether a document of a run may end its process, as one of the last runs of the same files was broken off.

    So may a run without files: a program must not end with one of its documents, and dead letters have ended a process.
    """
    paths = _read_run(engine, run).paths
    same = [each for each in runs(engine) if each.paths == paths and each.run != run]
    return not set(paths) - NO_FILES or any(each.state != "submitted" for each in same[-LAST_RUNS:])


def runs(engine: Engine) -> list[RunRecord]:
    """Return the records of all runs, the oldest first."""
    return [run for _, run in read_ledger(engine, "runs", RunRecord.from_json, RUN_PREFIX)]


def summary(engine: Engine, run: str = "") -> dict[str, object]:
    """Return the state of a run, as `ibidem ingest --json` and `ibidem status --json` print it.

    `read` = `indexed` + `unchanged` + `stale` + `refused`, at any time; `pending` documents were handed to the queue
    and are not accounted for yet.
    """
    watch = RunMonitor(engine, run or _last_run(engine))
    progress = watch.look()
    slices = engine.get_records("runs", f"{watch.record.run}/refused/") if watch.record.refused else ()
    unread = [refusal for _, refusals in read_entries(slices, read_refusals) for refusal in refusals]
    figures = _summary(watch.record, watch.sums(), progress, unread)
    figures |= {"duplicates": _count_joined(engine, watch.record)}
    return figures | {"host": host_name(watch.record.holder), "again": _find_repeat(engine, watch.record)}


def _last_run(engine: Engine) -> str:
    all_runs = runs(engine)
    if not all_runs:
        raise UsageError("no run has been started yet", "start one with: ibidem ingest PATH")
    return all_runs[-1].run


def _find_repeat(engine: Engine, record: RunRecord) -> str:
    """Return the next run of the same files after an interrupted run; empty if there is none."""
    if record.state != "interrupted" or not set(record.paths) - NO_FILES:
        return ""
    later = [other.run for other in runs(engine) if other.paths == record.paths and other.started > record.started]
    return later[-1] if later else ""


def _count_joined(engine: Engine, record: RunRecord) -> dict[str, int]:
    """Count the documents that joined a group between the start of a run and the start of the next."""
    later = [other.joined for other in runs(engine) if other.started > record.started]
    end = later[0] if later else count_joined(engine)
    return {level: max(0, end.get(level, 0) - record.joined.get(level, 0)) for level in LEVELS}


def _summary(
    record: RunRecord, sums: BatchResult, progress: Progress, unread_refusals: list[Refusal]
) -> dict[str, object]:
    refusals = [*unread_refusals, *sums.refusals]
    return {
        "run": record.run,
        "kind": record.kind,
        "read": sums.documents + len(unread_refusals),
        "indexed": sums.indexed,
        "replaced": sums.replaced,
        "unchanged": sums.unchanged,
        "stale": sums.stale,
        "refused": len(refusals),
        "unsigned": sums.unsigned,
        "duplicates": dict.fromkeys(LEVELS, 0),
        "refusals": [refusal.as_json() for refusal in refusals],
        "took_s": round((sums.at if progress.has_ended else time.time()) - record.started, 3),
        "state": _state(record, progress),
        "pending": max(0, record.documents - progress.done),
        "repeated": record.repeated,
        "repeated_ids": record.repeated_ids,
        "meta_fields": record.meta_fields,
        "passed_over": record.passed_over,
        "damaged_bytes": record.damaged_bytes,
        "unread_dates": record.unread_dates,
        "languages": dict(Counter(sums.languages).most_common()),
    }


def _state(record: RunRecord, progress: Progress) -> str:
    if record.state == "interrupted" or not progress.has_ended:
        return {"submitted": "waiting"}.get(record.state, record.state)
    return "done"
